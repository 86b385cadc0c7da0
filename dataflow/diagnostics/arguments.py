"""Problems of calls of the library: arguments of functions and of runs (DF05)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

ARGUMENT_INVALID: Final = Kind(
    "DF0501",
    "invalid {name}",
    meaning="A function or class of the library was called with an argument that it cannot take.",
    example="Retry(-1)   # retries is an integer of 0 or more",
    cure="Pass a value of the kind that the message expects.",
)
ARGUMENT_NOT_AVAILABLE: Final = Kind(
    "DF0502",
    "{name} cannot be {found}",
    meaning="An argument takes one of a few values, and another one was given.",
    example='node(on_error="stop")(fetch)',
    cure="Pass one of the available values.",
)
FUNCTION_UNSUITABLE: Final = Kind(
    "DF0503",
    "the function cannot be called",
    meaning="A predicate, a key or another function that decides something is called by the engine with "
    "the arguments that the message names. It is a plain function: it cannot be async.",
    example="flow.when(count, lambda: True)   # the predicate gets the value",
    cure="Pass a plain function of these arguments. Do asynchronous work inside a node.",
)
LIMIT_EMPTY: Final = Kind(
    "DF0504",
    "the limit limits nothing",
    expected="slots, per_second or both",
    meaning="A `Limit` was created without a number of slots and without a rate.",
    example="Limit()",
    cure="Write `Limit(4)` for four concurrent calls, or `Limit(per_second=2)` for a rate.",
)
STORE_REQUIRED: Final = Kind(
    "DF0505",
    "the flow has no store to find the run in",
    hint="use flow.using(store=...)",
    meaning="A run was given by its id, or two runs are compared, and the flow has no store with runs.",
    example='await Flow("f").resume("20260101-120000-abcd")',
    cure="Call `flow.using(store=Store.sqlite(path))` and use the flow that it returns.",
)
SETTING_UNKNOWN: Final = Kind(
    "DF0592",
    "{what} has no setting {found}",
    hint="{instead}",
    meaning="A setting is given by a name that does not exist, or that only documents have.",
    example="node(retry=3)(fetch)   # in Python it is retries, in a document retry: {retries: 3}",
    cure="Pass one of the available settings.",
)
REPORTED: Final = Kind(
    "DF0506",
    "{error}",
    meaning="Code of a user, such as a store, raised an exception of the engine with a text and no code.",
    example='raise StoreError("s3", "there is no such bucket")   # in a store of your own',
    cure="Follow the message; the code that reported it defines what is valid.",
)
