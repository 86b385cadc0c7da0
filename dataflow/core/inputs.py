"""Read and check what enters a run: its inputs, and asks (human-in-the-loop requests) with their answers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from dataflow.base.copies import own_copy
from dataflow.core.ports import CONTEXT, MISSING, SKIP
from dataflow.diagnostics.runs import (
    ANSWER_PORT_MISSING,
    ANSWER_PORT_UNKNOWN,
    ASK_INVALID,
    INPUT_MISSING,
    INPUT_UNKNOWN,
)
from dataflow.diagnostics.values import VALUE_MISMATCH
from dataflow.errors import AnswerRefused, ArgumentInvalid, FlowInvalid, NodeFailed, ValueMismatch
from dataflow.types.schemas import JsonSchema
from dataflow.types.validation import check_json, check_value, described, json_schema, object_schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dataflow.core.ports import OutPort
    from dataflow.core.wiring import FlowInput
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "ASK",
    "ASK_ID",
    "BY_DEFAULT",
    "MOST_SECONDS",
    "USER_INPUT_ID",
    "Ask",
    "Decision",
    "Request",
    "check_schema",
    "decision_schema",
    "metadata_without_ask",
    "note_secrets",
    "ports_left",
    "read_answer",
    "read_decision",
    "read_inputs",
    "read_request",
    "read_some",
    "schema_of",
    "secret_classes",
]

#: Who has answered an ask that took its default when it expired.
BY_DEFAULT: Final = "default"
#: The id of the node type that only asks.
ASK_ID: Final = "control.ask"
#: The id of the node type that asks in a conversation.
USER_INPUT_ID: Final = "control.user_input"
#: The key of the ask in the metadata of a raw node that pauses.
ASK: Final = "ask"
#: The longest expiry of an ask in seconds: 100 years, within the range of the calendar.
MOST_SECONDS: Final = 100 * 365 * 86_400
#: The fields of an ask in the metadata.
FIELDS: Final = ("prompt", "schema", "show", "expires", "default")


class Ask(NamedTuple):
    """An open ask of a run, a human-in-the-loop request. Its id is its path.

    `schema` is the JSON Schema of the answer, `show` is displayed to the person who answers. After `expires`
    (UTC) the ask takes its default or fails.
    """

    id: str
    prompt: str
    show: Any
    schema: dict[str, Any]
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """An ask as a node describes it. `expires` is in seconds; `default` is MISSING if there is none."""

    prompt: str = ""
    show: Any = None
    schema: Mapping[str, Any] | None = None
    expires: float | None = None
    default: Any = MISSING


def read_request(node: str, metadata: Mapping[str, Any]) -> Request:
    """Read the description of an ask from a node's metadata; raises NodeFailed if it is invalid."""
    given = metadata.get(ASK, {})
    if not isinstance(given, Mapping):
        problem = ASK_INVALID("ask", expected="a mapping", found=described(given), available=FIELDS)
        raise NodeFailed(node, problem)
    unknown = [name for name in given if name not in FIELDS]
    if unknown:
        raise NodeFailed(node, ASK_INVALID("ask", found=f"the field {unknown[0]!r}", available=FIELDS))
    request = Request(**given)
    for name, kind, expected in (("prompt", str, "str"), ("schema", Mapping | None, "a mapping")):
        value = getattr(request, name)
        if not isinstance(value, kind):
            raise NodeFailed(node, ASK_INVALID(f"ask.{name}", expected=expected, found=described(value)))
    expires: object = request.expires
    is_number = isinstance(expires, int | float) and not isinstance(expires, bool)
    if expires is not None and not (is_number and 0 < request.expires <= MOST_SECONDS):  # type: ignore[operator]  # as just checked
        expected = f"seconds, more than 0 and at most {MOST_SECONDS:,}"
        raise NodeFailed(node, ASK_INVALID("ask.expires", expected=expected, found=described(expires)))
    return request


def check_schema(node: str, request: Request) -> None:
    """Raise NodeFailed if answers cannot be checked by the JSON Schema that a node gives for them."""
    if request.schema is not None:
        try:
            JsonSchema.of(request.schema)
        except ArgumentInvalid as error:
            raise NodeFailed(node, error.problem.within("ask.schema")) from None


def ports_left(outputs: Mapping[str, OutPort], given: Mapping[str, Any]) -> Sequence[OutPort]:
    """List the ports that an answer fills: those without a value, except for the context."""
    return [port for name, port in outputs.items() if name != CONTEXT and given.get(name, SKIP) is SKIP]


def schema_of(left: Sequence[OutPort]) -> dict[str, Any]:
    """Return the JSON Schema of an answer: that of the only port left, or an object by port name."""
    if len(left) == 1:
        return dict(json_schema(left[0].type))
    if not left:
        return {"type": "null"}
    required = [port.name for port in left if not port.conditional]
    return object_schema({port.name: port.type for port in left}, required)


class Decision(Enum):
    """An answer about a call with an effect that was cut off, other than the value that it had given."""

    AGAIN = "run again"
    GIVE_UP = "give up"


def decision_schema(left: Sequence[OutPort]) -> dict[str, Any]:
    """Return the JSON Schema of an answer about a call that was cut off: a decision, or its value."""
    value = schema_of(left)
    shared = {"$defs": value.pop("$defs")} if "$defs" in value else {}
    given = {
        "type": "object",
        "properties": {"value": value},
        "required": ["value"],
        "additionalProperties": False,
    }
    return {"anyOf": [{"enum": [one.value for one in Decision]}, given], **shared}


def read_decision(
    id: str, left: Sequence[OutPort], value: object, *, is_json: bool
) -> Decision | dict[str, Any]:
    """Read an answer about a call that was cut off: a decision, or the values of its ports.

    Raises AnswerRefused.
    """
    if isinstance(value, str) and value in [one.value for one in Decision]:
        return Decision(value)
    if not isinstance(value, Mapping) or list(value) != ["value"]:
        expected = " or ".join([*(repr(one.value) for one in Decision), "{'value': ...}"])
        raise AnswerRefused(id, VALUE_MISMATCH(expected=expected, found=described(value)))
    return read_answer(id, left, value["value"], is_json=is_json)


def read_answer(
    id: str,
    left: Sequence[OutPort],
    value: object,
    schema: Mapping[str, Any] | None = None,
    *,
    is_json: bool = False,
) -> dict[str, Any]:
    """Return the values of the remaining ports from an answer; raises AnswerRefused if it does not match.

    `schema` is the JSON Schema that the node has given for the answer, if it has.

    A value of the port's type is used unchanged; any other, and any with `is_json`, is converted by the
    strict rules of JSON (S1.7).
    """
    if schema is not None and schema != schema_of(left):
        _check_by_schema(id, schema, value)
    if len(left) == 1:
        return {left[0].name: _read(id, left[0], value, "", is_json)}
    if not left:
        if value is not None:
            raise AnswerRefused(id, VALUE_MISMATCH(expected="None", found=described(value)))
        return {}
    names = [port.name for port in left]
    if not isinstance(value, Mapping):
        problem = VALUE_MISMATCH(expected="a mapping by port", found=described(value), available=names)
        raise AnswerRefused(id, problem)
    unknown = [name for name in value if name not in names]
    if unknown:
        name = str(unknown[0])
        raise AnswerRefused(id, ANSWER_PORT_UNKNOWN(f".{name}", port=name, available=names, near=name))
    missing = [port.name for port in left if not port.conditional and port.name not in value]
    if missing:
        raise AnswerRefused(id, ANSWER_PORT_MISSING(f".{missing[0]}", port=missing[0]))
    return {
        port.name: _read(id, port, value[port.name], f".{port.name}", is_json)
        for port in left
        if port.name in value
    }


def _check_by_schema(id: str, schema: Mapping[str, Any], value: object) -> None:
    try:
        kind: Any = Annotated[Any, JsonSchema.of(schema)]
    except ArgumentInvalid:  # of an ask that an earlier version has opened
        return
    try:
        check_value(value, kind)
    except ValueMismatch as mismatch:
        raise AnswerRefused(id, mismatch.problem) from None


def _read(id: str, port: OutPort, value: object, where: str, is_json: bool) -> object:
    if is_json:
        try:
            return check_json(value, port.type)
        except ValueMismatch as mismatch:
            raise AnswerRefused(id, mismatch.diagnostics[0].within(where)) from None
    try:
        return check_value(value, port.type)
    except ValueMismatch as mismatch:
        as_python = mismatch
    try:
        return check_json(value, port.type)
    except ValueMismatch as as_json:  # report the mismatch that is deeper in the value
        deeper = max(as_python, as_json, key=lambda one: len(one.place))
        raise AnswerRefused(id, deeper.diagnostics[0].within(where)) from None


def metadata_without_ask(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a paused node without the description of its ask."""
    return {name: value for name, value in metadata.items() if name != ASK}


def read_inputs(flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the inputs of a run and add defaults; raises FlowInvalid with every problem."""
    missing = [
        INPUT_MISSING(f"input {name!r}", port=name)
        for name, port in declared.items()
        if given.get(name, port.default) is MISSING
    ]
    defaults = {name: port.default for name, port in declared.items() if port.default is not MISSING}
    return _read_input(flow, declared, {**defaults, **given}, missing)


def read_some(flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check new values of some inputs; raises FlowInvalid with every problem."""
    return _read_input(flow, declared, given, [])


def _read_input(
    flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any], missing: list[Diagnostic]
) -> dict[str, Any]:
    problems = [
        INPUT_UNKNOWN(f"input {name!r}", port=name, available=declared, near=name)
        for name in given
        if name not in declared
    ]
    problems += missing
    values = {}
    for name, port in declared.items():
        value = given.get(name, MISSING)
        if value is MISSING:
            continue
        try:
            value = check_value(value, port.type)
            for demand in port.demands:
                value = check_value(value, demand)
            values[name] = own_copy(value)  # the caller keeps its own (S3.4)
        except ValueMismatch as mismatch:
            problems.append(mismatch.diagnostics[0].within(f"input {name!r}"))
    if problems:
        raise FlowInvalid(flow, problems)
    note_secrets(values)
    return values


def note_secrets(values: Mapping[str, Any]) -> None:
    """Have the secrets of pydantic among named values masked from now on; loads nothing if there are none."""
    if "pydantic.types" in sys.modules:
        from dataflow.secrets.foreign import make_known

        make_known(values.items())


def secret_classes() -> frozenset[type]:
    """Return pydantic's classes of secret texts if they are loaded; does not import pydantic."""
    loaded = vars(sys.modules["pydantic.types"]) if "pydantic.types" in sys.modules else {}
    return frozenset(loaded[name] for name in ("SecretStr", "SecretBytes") if name in loaded)
