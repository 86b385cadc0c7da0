"""Print asks, and parse and validate answers on the command line."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import moment, visible
from dataflow.cli.arguments import STDIN, Given, is_secret, json_of, reason_of, split_entry
from dataflow.cli.output import ExitCode, Refused, one_line, tell
from dataflow.cli.paths import path_text
from dataflow.core.config import field_schemas, type_of_schema
from dataflow.diagnostics.commands import (
    ALREADY_ANSWERED,
    ASK_EXPIRED,
    ENTRY_INVALID,
    GIVEN_TWICE,
    OPTION_UNKNOWN,
    SECRET_NOT_SET,
    STDIN_TWICE,
)
from dataflow.diagnostics.stores import ANSWER_TOO_LATE
from dataflow.errors import ValueMismatch
from dataflow.types.shapes import type_name
from dataflow.types.validation import check_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.inspection.open_asks import OpenAsk

__all__ = ["answers_needed", "ask_lines", "check_answer", "read_answers", "tell_ask", "type_text"]

MOST_SHOWN: Final = 200  # characters of the value that an ask shows
MOST_FIELDS: Final = 6
MOST_WORDS: Final = 10


def ask_lines(ask: OpenAsk, *, names_run: bool = False) -> str:
    """Format an ask: a line, and a second one with the value that it shows."""
    verb = "expired" if ask.has_expired else "expires"
    expires = "" if ask.expires is None else f"  {verb} {moment(ask.expires)}"
    waits = "  (answered; the run has not gone on yet)" if ask.is_answered else ""
    place = f"{ask.run}  {path_text(ask.id)}" if names_run else path_text(ask.id)
    head = f"{place}  {type_text(ask.schema)}{expires}  {one_line(ask.prompt)}".rstrip() + waits
    if ask.show is None:
        return head
    text = ask.show if isinstance(ask.show, str) else json.dumps(ask.show, ensure_ascii=False)
    return f"{head}\n    {one_line(text, MOST_SHOWN)}"


def tell_ask(ask: OpenAsk) -> None:
    """Print an open ask to standard error."""
    tell(f"open  {visible(ask_lines(ask))}")


def type_text(schema: Mapping[str, Any]) -> str:
    """Return the type of an answer as text: the words of a choice, the fields of an object."""
    return " | ".join(dict.fromkeys(map(_option_text, _options(schema))))


def _options(schema: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """List the alternatives of a schema that has words among them, words first; else the schema itself."""
    found, shared = schema.get("anyOf"), schema.get("$defs", {})
    if not isinstance(found, list) or not isinstance(shared, dict):
        return [schema]
    options = []
    for one in found:
        name = str(one.get("$ref", "")).removeprefix("#/$defs/") if isinstance(one, dict) else ""
        named = shared.get(name, one)
        if not isinstance(named, dict):
            return [schema]
        options.append({"$defs": shared, **named})
    if not any("enum" in option for option in options):
        return [schema]
    return sorted(options, key=lambda one: ("enum" not in one, "properties" in one))


def _option_text(schema: Mapping[str, Any]) -> str:
    fields = field_schemas(schema)
    try:
        if not fields:
            return _plain_text(schema)
        shown = list(fields.items())[:MOST_FIELDS]
        parts = [f"{name}{_optional(schema, name)}: {_plain_text(part)}" for name, part in shown]
    except (TypeError, ValueError):
        return "JSON"
    more = ", ..." if len(fields) > MOST_FIELDS else ""
    return "{" + ", ".join(parts) + more + "}"


def _optional(schema: Mapping[str, Any], name: str) -> str:
    """Return the mark of a field that an answer may leave out."""
    required = schema.get("required")
    return "" if isinstance(required, list) and name in required else "?"


def _plain_text(schema: Any) -> str:
    words = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return type_name(type_of_schema(schema))
    more = [f"and {len(words) - MOST_WORDS} more"] if len(words) > MOST_WORDS else []
    return " | ".join([*words[:MOST_WORDS], *more])


def answers_needed(asks: Iterable[OpenAsk]) -> Sequence[str]:
    """Return the arguments of a command that answers these asks, with values left open."""
    return [f"{shlex.quote(path_text(ask.id))}=..." for ask in asks if not ask.is_answered]


def read_answers(
    run: str, asks: Sequence[OpenAsk], given: Sequence[str], ended: Callable[[], Mapping[str, str]] = dict
) -> dict[str, Any]:
    """Parse answers to the open asks of a run; raises Refused, as a usage error, with all problems.

    `ended` returns the asks that no longer accept an answer, with the kind of the record that says so.
    """
    open_asks = {ask.id: ask for ask in asks if not ask.is_answered}
    answered = {ask.id for ask in asks if ask.is_answered}
    ids = {path_text(id): id for id in (*open_asks, *answered)}
    problems: list[Diagnostic] = []
    taken: dict[str, Given] = {}
    for entry in given:
        id, equals, text = split_entry(entry, [*ids, *ids.values()])
        id = _only_inside(ids.get(id, id), [*ids.values()])
        if not equals or not id:
            problems.append(
                ENTRY_INVALID(expected="ASK=VALUE", found=one_line(entry, 60), available=open_asks)
            )
        elif id in answered:
            problems.append(ALREADY_ANSWERED(f"ask {id!r} of run {run}", available=open_asks))
        elif id in open_asks and open_asks[id].has_expired:
            problems.append(ASK_EXPIRED(f"ask {id!r} of run {run}"))
        elif id not in open_asks and (kind := ended().get(id)) is not None:
            problem = ALREADY_ANSWERED if kind == "ask_answered" else ANSWER_TOO_LATE
            problems.append(problem(f"ask {id!r} of run {run}", available=open_asks))
        elif id not in open_asks:
            problems.append(OPTION_UNKNOWN(f"run {run}", what="open ask", found=id, available=open_asks))
        elif id in taken:
            problems.append(GIVEN_TWICE(f"ask {id!r}"))
        else:
            taken[id] = Given(text)
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append(STDIN_TWICE(what="answer"))
    values: dict[str, Any] = {}
    if not problems:
        values = {id: _value(open_asks[id], one, problems) for id, one in taken.items()}
    if problems:
        raise Refused(problems, ExitCode.USAGE)
    return values


def _only_inside(id: str, ids: Sequence[str]) -> str:
    """Return the only ask inside the node of this name, as of an approval, if it is not itself an ask."""
    inside = [] if id in ids else [one for one in ids if one.startswith(f"{id}/")]
    return inside[0] if id and len(inside) == 1 else id


def _value(ask: OpenAsk, given: Given, problems: list[Diagnostic]) -> Any:
    try:
        value = json_of(given.read(), _type_of(ask.schema))
        check_answer(value, ask.schema)
    except (ValueError, OSError, ValueMismatch) as error:
        reason = SECRET_NOT_SET() if is_secret(_type_of(ask.schema)) else reason_of(error)
        problems.append(reason.within(f"ask {ask.id!r} ({type_text(ask.schema)})"))
        return None
    return value


def _type_of(schema: Mapping[str, Any]) -> object:
    try:
        return type_of_schema(schema)
    except (TypeError, ValueError):  # a schema that no type can express: the run will validate
        return Any


def check_answer(value: object, schema: Mapping[str, Any]) -> None:
    """Validate an answer by its JSON Schema; raises ValueMismatch."""
    check_json(value, _type_of(schema))
