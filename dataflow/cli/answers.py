"""Answers on the command line, `ASK=VALUE`, checked with what the journal tells of the asks (S11.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.base.wording import choices
from dataflow.cli.ask_texts import type_text
from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.given import STDIN, Given, is_secret, json_of, reason_of
from dataflow.cli.texts import one_line
from dataflow.core.config import field_schemas, type_of_schema
from dataflow.errors import ValueMismatch
from dataflow.types.validation import check_json, described

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.inspection.open_asks import OpenAsk

__all__ = ["check_answer", "read_answers"]


def read_answers(run: str, asks: Sequence[OpenAsk], given: Sequence[str]) -> dict[str, Any]:
    """Read answers to the open asks of a run as JSON values; raises Refused with everything that is wrong."""
    open_asks = {ask.id: ask for ask in asks if not ask.is_answered}
    answered = {ask.id for ask in asks if ask.is_answered}
    problems: list[str] = []
    taken: dict[str, Given] = {}
    for entry in given:
        id, equals, text = _parted(entry, [*open_asks, *answered])
        id = _only_inside(id, [*open_asks, *answered])
        if not equals or not id:
            problems.append(f"{one_line(entry, 60)}: write ASK=VALUE; open asks: {_named(open_asks)}")
        elif id in answered:
            problems.append(f"ask {id!r} of run {run} has been answered; still open: {_named(open_asks)}")
        elif id in open_asks and open_asks[id].has_expired:
            problems.append(
                f"ask {id!r} of run {run} has expired: it takes its default or fails when the run goes on"
            )
        elif id not in open_asks:
            problems.append(f"run {run} has no open ask {id!r}; {choices(open_asks)}")
        elif id in taken:
            problems.append(f"ask {id!r}: given twice")
        else:
            taken[id] = Given(text)
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append("standard input can be read for one answer only")
    values: dict[str, Any] = {}
    if not problems:
        values = {id: _value(open_asks[id], one, problems) for id, one in taken.items()}
    if problems:
        raise Refused([Problem(problem) for problem in problems], ExitCode.USAGE)
    return values


def _parted(entry: str, ids: Sequence[str]) -> tuple[str, str, str]:
    """Part an entry at its first `=`, unless an ask has one in its id."""
    for id in ids:
        if "=" in id and entry.startswith(f"{id}="):
            return id, "=", entry[len(id) + 1 :]
    return entry.partition("=")


def _only_inside(id: str, ids: Sequence[str]) -> str:
    """Return the only ask inside the node of this name, if it is none itself: that of an approval."""
    inside = [] if id in ids else [one for one in ids if one.startswith(f"{id}/")]
    return inside[0] if id and len(inside) == 1 else id


def _named(asks: Mapping[str, object]) -> str:
    return ", ".join(asks) or "none"


def _value(ask: OpenAsk, given: Given, problems: list[str]) -> Any:
    try:
        value = json_of(given.read(), _type_of(ask.schema))
        check_answer(value, ask.schema)
    except (ValueError, OSError, ValueMismatch) as error:
        told = reason_of(error)
        if is_secret(_type_of(ask.schema)):
            told = "expected the name of a secret; what was given is not shown, as it could be the value"
        problems.append(f"ask {ask.id!r} ({type_text(ask.schema)}): {told}")
        return None
    return value


def _type_of(schema: Mapping[str, Any]) -> object:
    try:
        return type_of_schema(schema)
    except (TypeError, ValueError):  # somebody's own schema, beyond what a type can say: its run will check
        return Any


def check_answer(value: object, schema: Mapping[str, Any]) -> None:
    """Check an answer as far as its JSON Schema tells; raises ValueMismatch.

    Of objects the fields are looked into, which their type does not tell.
    """
    check_json(value, _type_of(schema))
    fields = field_schemas(schema)
    if fields is None or not isinstance(value, dict):
        return
    for name in schema.get("required", ()):
        if name not in value:
            raise ValueMismatch(described(value), f"an object with {name!r}")
    for name, part in value.items():
        if name in fields:
            try:
                check_json(part, _type_of(fields[name]))
            except ValueMismatch as error:
                raise ValueMismatch(error.found, error.expected, f"{name!r}") from error
        elif schema.get("additionalProperties") is False:
            raise ValueMismatch(repr(name), f"no field but these ({choices(fields)})")
