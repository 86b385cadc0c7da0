"""Python functions as tools: their descriptions for models, and the arguments of their calls."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.errors import PydanticSchemaGenerationError

from dataflow import ArgumentInvalid, FlowInvalid, Node, PackError, ValueMismatch, node, threaded
from dataflow.authoring import check_json, import_function, json_schema, name_of_function, type_of_schema
from dataflow_agent.diagnostics.tools import (
    FUNCTION_NOT_FOUND_AGAIN,
    FUNCTION_NOT_IMPORTED,
    NOT_A_FUNCTION,
    PARAMETER_UNFIT,
    PARAMETERS_NOT_JSON,
)
from dataflow_agent.models.request import ToolSpec

__all__ = [
    "ArgumentsInvalid",
    "arguments_in",
    "check_arguments",
    "is_same_tool",
    "read_arguments",
    "reference_of",
    "tool_of",
]

M = TypeVar("M", bound=BaseModel)

TOOL: Final = "tool"
#: How deep arguments may be nested: half of what a store allows, as an ask contains them.
MOST_LEVELS: Final = 100
NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class ArgumentsInvalid(Exception):
    """Raised for invalid arguments; the message is for the model."""


class PythonTool(NamedTuple):
    """A function that models may call: its node, the pydantic model, names and schema of its arguments."""

    node: Node[..., Any]
    arguments: type[BaseModel]
    fields: Mapping[str, str]
    schema: Mapping[str, Any]
    description: str

    def spec(self, name: str) -> ToolSpec:
        """Describe the tool to a model, under a name."""
        return ToolSpec(name, self.description, self.schema)

    def read(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the function takes them; raises ArgumentsInvalid instead of guessing."""
        read = read_arguments(written, self.arguments)
        return {
            name: getattr(read, field)
            for field, name in self.fields.items()
            if field in read.model_fields_set
        }


def read_arguments(written: Mapping[str, Any], model: type[M]) -> M:
    """Validate the arguments that a model has written; raises ArgumentsInvalid."""
    try:
        read: Any = check_json(written, model)
    except ValueMismatch as mismatch:
        raise ArgumentsInvalid(f"the arguments do not fit: {_plain(mismatch)}") from None
    return read  # type: ignore[no-any-return]  # as just checked


def check_arguments(written: Mapping[str, Any], schema: str) -> None:
    """Check the arguments that a model has written against the schema of a tool; raises ArgumentsInvalid.

    Raises ArgumentInvalid for a schema that has parts that cannot be checked.
    """
    kind = _type_of(schema)
    if isinstance(kind, ArgumentInvalid):
        raise kind.with_traceback(None)  # it is kept, and would collect the frames of each call
    try:
        check_json(written, kind)
    except ValueMismatch as mismatch:
        raise ArgumentsInvalid(f"the arguments do not fit: {_plain(mismatch)}") from None


@lru_cache(maxsize=1024)
def _type_of(schema: str) -> object:
    """Return the type of a schema, or the error that says why values cannot be checked by it."""
    try:
        return type_of_schema(json.loads(schema))
    except ArgumentInvalid as error:
        return error


def _plain(mismatch: ValueMismatch) -> str:
    return "; ".join(one.text for one in mismatch.diagnostics)


def arguments_in(written: str) -> dict[str, Any]:
    """Parse the JSON object that a model has written; raises ArgumentsInvalid."""
    try:
        given = json.loads(written or "{}")
    except (ValueError, RecursionError) as error:
        raise ArgumentsInvalid(f"the arguments are not valid JSON: {error}") from None
    if not isinstance(given, dict):
        mismatch = ValueMismatch(type(given).__name__, "an object", "")
        raise ArgumentsInvalid(f"the arguments do not fit: {_plain(mismatch)}")
    if _is_deep(given):
        raise ArgumentsInvalid(f"the arguments are nested too deep; at most {MOST_LEVELS} levels are taken")
    return given


def _is_deep(given: object) -> bool:
    level = [given]
    for _ in range(MOST_LEVELS):
        level = [one for value in level for one in _within(value)]
        if not level:  # for most calls after a level or two
            return False
    return any(isinstance(one, dict | list) for one in level)


def _within(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def reference_of(function: object) -> str:
    """Return the reference of a function as a tool, `module:qualname`, by which it is found again.

    Raises FlowInvalid for a function that cannot be found by name, as lambdas and local functions, and for
    one that no model can call.
    """
    if isinstance(function, list | tuple):
        raise _not_a_function(function, type(function).__name__, "pass them one by one: tools(*functions)")
    if hasattr(function, "as_tool"):
        raise _not_a_function(function, "an agent", "make a tool of it with .as_tool(...)")
    module, qualname = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    place = f"{module}:{qualname}"
    if not callable(function) or module is None or qualname is None:
        raise _not_a_function(function, repr(function))
    # The module of a script is `__main__`, which is not imported again.
    named = name_of_function(function) if "." in module else None
    reference = next((one for one in (named, place) if one is not None and _is(one, function)), None)
    if reference is None:
        raise FlowInvalid(place, [FUNCTION_NOT_FOUND_AGAIN(name=qualname)], TOOL)
    tool_of(reference)
    return reference


def _not_a_function(given: object, found: str, advice: str = "") -> FlowInvalid:
    return FlowInvalid(type(given).__name__, [NOT_A_FUNCTION(found=found, advice=advice)], TOOL)


def is_same_tool(one: str, other: str) -> bool:
    """Return whether two references are of the same tool: a run may have stored a former name."""
    if one == other:
        return True
    try:
        return _found(one) is _found(other)
    except (ImportError, AttributeError, ValueError):  # an agent, a tool of a server, or a removed function
        return False


def _is(reference: str, function: object) -> bool:
    try:
        return _found(reference) is function
    except (ImportError, AttributeError):
        return False


def tool_of(reference: str) -> PythonTool:
    """Find a tool; raises FlowInvalid if it does not exist or no model can call it."""
    try:
        found = _found(reference)
    except (ImportError, AttributeError, ValueError) as error:
        raise FlowInvalid(reference, [FUNCTION_NOT_IMPORTED(error=error)], TOOL) from error
    return _read(reference, found)


def _found(reference: str) -> Any:
    try:
        return import_function(reference)
    except PackError as error:
        if error.__cause__ is None:
            raise
        raise error.__cause__ from None


@cache
def _read(reference: str, function: Callable[..., Any]) -> PythonTool:
    declared = _declared(function)
    inputs = declared.type.inputs  # raises for a function without a signature
    bare = inspect.unwrap(function)
    parameters = inspect.signature(bare).parameters
    problems = [
        PARAMETER_UNFIT(what=repr(str(parameter)), expected=f"a parameter with a name, as in `{name}: str`")
        for name, parameter in parameters.items()
        if parameter.kind not in NAMED
    ]
    problems += [
        PARAMETER_UNFIT(
            what=f"the {port.kind.value} of {port.name!r}", expected="values that JSON can represent"
        )
        for port in inputs.values()
        if port.kind.value != "data"
    ]
    if declared.type.parameters.raw is not None:
        expected = "a function with a parameter for each argument"
        problems = [PARAMETER_UNFIT(what="the inputs of a raw node", expected=expected)]
    if problems:
        raise FlowInvalid(reference, problems, TOOL)
    fields = {f"field_{number}": name for number, name in enumerate(parameters)}
    arguments = _arguments(reference, bare, fields)
    schema = json_schema(arguments)
    if not schema:
        raise FlowInvalid(reference, [PARAMETERS_NOT_JSON(reason="")], TOOL)
    trimmed: dict[str, Any] = {"properties": {}, **{key: schema[key] for key in schema if key != "title"}}
    return PythonTool(declared, arguments, fields, trimmed, inspect.getdoc(bare) or "")


def _declared(function: Callable[..., Any]) -> Node[..., Any]:
    if isinstance(function, Node):
        return function
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return node(function)
    return threaded(function)


def _arguments(reference: str, function: Callable[..., Any], fields: Mapping[str, str]) -> type[BaseModel]:
    """Create a pydantic model of the arguments; its fields are numbered, as pydantic reserves names."""
    parameters = {one.__name__: one for one in getattr(function, "__type_params__", ())}
    hints = get_type_hints(function, localns=parameters or None, include_extras=True)
    defaults = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    made: dict[str, Any] = {
        field: (
            Annotated[hints.get(name, Any), Field(alias=name)],
            ... if defaults[name] is inspect.Parameter.empty else defaults[name],
        )
        for field, name in fields.items()
    }
    try:
        return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **made)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        first = str(error).partition("\n")[0]
        raise FlowInvalid(reference, [PARAMETERS_NOT_JSON(reason=f": {first}")], TOOL) from error
