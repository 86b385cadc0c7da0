"""Open asks as text: a line or two for people, and the types of their answers."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import moment, visible
from dataflow.cli.streams import tell
from dataflow.cli.texts import one_line
from dataflow.core.config import field_schemas, type_of_schema
from dataflow.types.shapes import type_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow.inspection.open_asks import OpenAsk

__all__ = [
    "answers_needed",
    "ask_lines",
    "tell_ask",
    "type_text",
]

MOST_SHOWN: Final = 200  # characters of what is shown
MOST_FIELDS: Final = 6
MOST_WORDS: Final = 10


def ask_lines(ask: OpenAsk, *, names_run: bool = False) -> str:
    """Write an ask on a line, with what it shows on further ones."""
    verb = "expired" if ask.has_expired else "expires"
    expires = "" if ask.expires is None else f"  {verb} {moment(ask.expires)}"
    waits = "  (answered; the run has not gone on yet)" if ask.is_answered else ""
    place = f"{ask.run}  {ask.id}" if names_run else ask.id
    head = f"{place}  {type_text(ask.schema)}{expires}  {one_line(ask.prompt)}".rstrip() + waits
    if ask.show is None:
        return head
    text = ask.show if isinstance(ask.show, str) else json.dumps(ask.show, ensure_ascii=False)
    return f"{head}\n    {one_line(text, MOST_SHOWN)}"


def tell_ask(ask: OpenAsk) -> None:
    """Tell that an ask is open, on standard error."""
    tell(f"open  {visible(ask_lines(ask))}")


def type_text(schema: Mapping[str, Any]) -> str:
    """Name the type of an answer as it is written: of a choice its words, of an object its fields."""
    return " | ".join(dict.fromkeys(map(_option_text, _options(schema))))


def _options(schema: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """List the alternatives of a schema that offers words, these first; of any other the schema itself."""
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
        parts = [f"{name}: {_plain_text(part)}" for name, part in list(fields.items())[:MOST_FIELDS]]
    except (TypeError, ValueError):
        return "JSON"
    more = ", ..." if len(fields) > MOST_FIELDS else ""
    return "{" + ", ".join(parts) + more + "}"


def _plain_text(schema: Any) -> str:
    words = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return type_name(type_of_schema(schema))
    more = [f"and {len(words) - MOST_WORDS} more"] if len(words) > MOST_WORDS else []
    return " | ".join([*words[:MOST_WORDS], *more])


def answers_needed(asks: Iterable[OpenAsk]) -> Sequence[str]:
    """Write what a command that answers these asks is given, to be filled in."""
    return [f"{shlex.quote(ask.id)}=..." for ask in asks if not ask.is_answered]
