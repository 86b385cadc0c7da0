"""Validate values where they enter: flow inputs, constants, answers, results of models and tools (S1.7)."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator
from functools import lru_cache
from types import CoroutineType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import BeforeValidator, PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError

from dataflow.base.markers import Marker
from dataflow.base.scalars import plain_number
from dataflow.base.wording import MaskedRepr, shortened
from dataflow.errors import ValueMismatch
from dataflow.types.mismatches import (
    ABSENT,
    PREFIX,
    UNAWAITED,
    adapter_of,
    by_schema,
    find_mismatch,
    find_unawaited,
    requirement,
    step_into,
)
from dataflow.types.schemas import schema_of_type
from dataflow.types.shapes import (
    STANDARD_MODULES,
    alternatives,
    bare,
    flattened,
    shape,
    type_name,
    type_names,
    union_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic.json_schema import JsonSchemaWarningKind
    from pydantic_core import ErrorDetails

    from dataflow.types.mismatches import Mismatch

__all__ = ["check_json", "check_output", "check_value", "described", "json_schema", "object_schema"]

MOST_CHARACTERS = 80
# Error types whose message adds nothing to the name of the type, or mentions pydantic.
NAMED_BY_TYPE = ("_type", "_parsing", "is_instance_of", "needs_python_object", "literal_error")

_shortened = MaskedRepr()
_shortened.maxstring = _shortened.maxother = _shortened.maxlong = MOST_CHARACTERS - 20


class _QuietSchema(GenerateJsonSchema):
    """JSON Schema without warnings: a default or alternative that JSON cannot represent is left out."""

    ignored_warning_kinds: ClassVar[set[JsonSchemaWarningKind]] = {  # type: ignore[misc]  # the base has it untyped
        "non-serializable-default",
        "skipped-choice",
    }


def check_value(value: object, expected: object) -> object:
    """Check a value from Python and return the same object; only numbers are converted.

    A number of another library becomes the number of Python that is expected, an int given for a float a
    float.

    The rules of `agrees` apply: a bool passes where an int is expected, and becomes 0.0 or 1.0 where a float
    is. Ints inside containers of floats remain ints, since containers are not copied. Models, dataclasses and
    named tuples must be instances; the items of iterators are not checked.

    Raises ValueMismatch with the location of the first mismatch inside the value.
    """
    if type(value) is expected:
        return value
    _refuse_no_value(value, expected)
    mismatch = find_mismatch(value, expected)
    if mismatch is not None:
        raise _as_error(mismatch)
    value = _as_number(value, expected)
    if isinstance(value, int) and _takes_float_only(value, expected):
        try:
            return float(value)
        except OverflowError as error:
            raise ValueMismatch(described(value), f"{type_name(expected)} (in its range)") from error
    return value


def check_output(value: object, expected: object) -> None:
    """Check a value that a node returns as `check_value` does, and that it has no unawaited parts.

    Parts whose type is Any may not be coroutines, futures or async generators.

    Raises ValueMismatch with the location of the first mismatch inside the value.
    """
    check_value(value, expected)
    mismatch = find_unawaited(value, expected)
    if mismatch is not None:
        raise _as_error(mismatch)


def _refuse_no_value(value: object, expected: object) -> None:
    """Raise ValueMismatch for what no port takes, even one of type Any: a marker, or a coroutine."""
    if type(value) is Marker:
        raise ValueMismatch(f"{value!r}, which is not a value", type_name(expected))
    if type(value) is CoroutineType:
        raise ValueMismatch(f"{described(value)}, which nobody awaits", type_name(expected))


def _as_error(mismatch: Mismatch) -> ValueMismatch:
    named = type_name(mismatch.expected)
    more = mismatch.requirement or _made_by(mismatch.expected)
    wanted = f"{named} ({more})" if more else named
    found = described(mismatch.value)
    apart = type_names(mismatch.expected, type(mismatch.value))
    if apart[1] != type_name(type(mismatch.value)):  # two classes of one name
        wanted, found = apart[0], f"{found}, of {apart[1]}"
    return ValueMismatch(found, wanted, mismatch.place)


def _made_by(expected: object) -> str:
    """Return the `made_by` hint of a class, as descriptions of tools have it."""
    made_by = getattr(bare(expected), "made_by", "")
    return made_by if isinstance(made_by, str) else ""


def check_json(value: object, expected: object) -> object:
    """Convert a decoded JSON value to a type, with pydantic's strict JSON mode.

    A list becomes a tuple or set, a string a date, an object a model; "1" and True never become an int. For
    Any and object the value is returned unchanged.

    Raises ValueMismatch, also for values that JSON cannot represent.
    """
    _refuse_no_value(value, expected)
    schema = schema_of_type(expected)
    if schema is not None:
        mismatch = by_schema(value, schema)
        if mismatch is not None:
            raise _as_error(mismatch)
        expected = get_args(expected)[0]  # the value fits, and is only converted
    plain = bare(expected)
    if plain is Any or plain is object:
        return value
    adapter = adapter_of(_for_json(expected))
    try:
        text = json.dumps(value)
    except RecursionError:
        adapter = None
    except (TypeError, ValueError) as error:
        raise ValueMismatch(described(value), f"{type_name(expected)} as JSON") from error
    if adapter is None:
        return check_value(value, expected)
    try:
        return adapter.validate_json(text, strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        if faults[0]["type"] == "json_invalid":
            # pydantic reads no lone surrogates and no more than 200 levels; Python's json does.
            return check_value(value, expected)
        raise _refusal(value, expected, faults) from error


def json_schema(expected: object) -> dict[str, object]:
    """Return the JSON Schema of a type, {} if there is none; that of its author if it was made of one."""
    written = schema_of_type(expected)
    if written is not None:
        return written.schema
    adapter = adapter_of(expected)
    if adapter is None:
        return {}
    try:
        return adapter.json_schema(schema_generator=_QuietSchema)
    except PydanticUserError:
        return {}


def object_schema(types: Mapping[str, object], required: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of an object with a field of each type, and no others.

    Classes that its fields refer to are defined in `$defs` at its root, where `$ref` points to.
    """
    described: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (name, "validation", adapter)
        for name, expected in types.items()
        if json_schema(expected) and (adapter := adapter_of(expected)) is not None
    ]
    fields, shared = TypeAdapter.json_schemas(described, schema_generator=_QuietSchema)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: _embedded(name, types[name]) or fields.get((name, "validation"), {}) for name in types
        },
        "required": [*required],
        "additionalProperties": False,
    }
    return {**schema, "$defs": shared["$defs"]} if "$defs" in shared else schema


def _embedded(name: str, expected: object) -> dict[str, Any]:
    """Return a schema that its author wrote, as a part of another: its references begin at its own root."""
    written = schema_of_type(expected)
    if written is None or not written.has_references:
        return {}
    return {"$id": f"urn:port:{name}", **written.schema}


def _as_number(value: object, expected: object) -> object:
    """Return the number of Python that a scalar is, unless its own class or any value is expected."""
    number = plain_number(value)
    if number is None:
        return value
    options = [bare(option) for option in flattened(expected)]
    kinds = [shape(option) for option in options if option is not Any]
    is_own = Any in options or any(one is None or issubclass(type(value), one.origin) for one in kinds)
    return value if is_own else number


def _takes_float_only(value: int, expected: object) -> bool:
    """Return whether an int matches only the float option of the expected type."""
    options = flattened(expected)
    others = [option for option in options if bare(option) is not float]
    return len(others) < len(options) and all(find_mismatch(value, option) for option in others)


def _for_json(expected: object) -> object:
    """Replace iterables by lists, and literals by typed ones.

    Pydantic would return a lazy iterator that does not validate strictly, and takes true for 1.
    """
    if get_origin(expected) is Annotated:
        inner, *metadata = get_args(expected)
        return Annotated[(_for_json(inner), *metadata)]
    if get_origin(expected) is Literal:
        return _typed_literal(expected)
    if options := alternatives(expected):
        return union_of(map(_for_json, options))
    known = shape(bare(expected))
    if known is None or known.origin.__module__ not in STANDARD_MODULES:
        return expected
    args = tuple(map(_for_json, known.args or ()))
    if known.origin is Generator:
        return Iterator  # which pydantic refuses, as JSON cannot represent one
    generic: Any = list if known.origin is Iterable else known.origin
    return generic[args] if args else generic


@lru_cache(maxsize=1_000)
def _typed_literal(expected: Any) -> object:
    """Return a literal type that takes no bool for an equal number, nor a number for a bool."""
    choices = get_args(expected)
    if not any(isinstance(one, int) for one in choices):
        return expected

    def typed(value: object) -> object:
        equal = [one for one in choices if one == value]
        if equal and not any(isinstance(one, bool) is isinstance(value, bool) for one in equal):
            raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": wanted})
        return value

    wanted = " or ".join(map(repr, choices))
    return Annotated[expected, BeforeValidator(typed)]


def _refusal(value: object, expected: object, faults: list[ErrorDetails]) -> ValueMismatch:
    """Report the first of the deepest errors: there the value came closest to the type."""
    place, fault = max(((_place(value, fault), fault) for fault in faults), key=lambda pair: len(pair[0]))
    if fault["type"] == "missing":
        return ValueMismatch("nothing", "a value", place)
    if fault["type"] == "extra_forbidden":
        return ValueMismatch(described(fault["input"]), "no such field", place)
    text = requirement(fault["msg"].removeprefix("Value error, "))
    if place:
        wanted = text if fault["msg"].startswith(PREFIX) else f"a valid value ({text})"
        return ValueMismatch(described(fault["input"]), wanted, place)
    if len(faults) > 1 or fault["type"].endswith(NAMED_BY_TYPE):
        text = next((requirement(one["msg"]) for one in faults if one["type"] == "enum"), "")
    more = f" ({shortened(text, MOST_CHARACTERS)})" if text else ""
    return ValueMismatch(described(value), type_name(expected) + more)


def _place(value: Any, fault: ErrorDetails) -> str:
    """Write the steps of an error's location that lead into the value; others name branches of unions."""
    place = ""
    for step in fault["loc"]:
        if isinstance(value, dict):
            leads_on = step in value
        else:
            leads_on = isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        if leads_on:
            value = value[step]
            place += step_into(step)
    return place + step_into(fault["loc"][-1]) if fault["type"] == "missing" else place


def described(value: object) -> str:
    """Describe a value for a message: its class and a short repr, without addresses."""
    if value is ABSENT or value is None:
        return "None" if value is None else "nothing"
    kind = type(value)
    if isinstance(value, UNAWAITED):
        return f"{kind.__name__} {getattr(value, '__qualname__', '')}".rstrip()
    if kind.__repr__ is object.__repr__:
        return kind.__name__
    try:
        text = _shortened.repr(value)
    except Exception:  # noqa: BLE001 - a foreign repr may raise anything, and a message is still due
        return kind.__name__
    return f"{kind.__name__} {shortened(text, MOST_CHARACTERS)}"
