"""Conditions of cagent: whether what a step gave counts as true."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from dataflow import ExpressionError
from dataflow.authoring import shortened
from dataflow_formats.cagent.file import Unresolved, find, part_of, read_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["filled", "holds", "placeholders"]

TRUE: Final = frozenset({"true", "1", "yes"})
FALSE: Final = frozenset({"false", "0", "no", ""})
MOST_SHOWN: Final = 60

_PLACEHOLDER: Final = re.compile(r"\{\{\s*\$steps[^{}]*\}\}")


def holds(condition: str, store: Mapping[str, Any]) -> bool:
    """Tell whether a condition holds; raises ExpressionError, which quotes it.

    A text counts by what it says: `true`, `1` and `yes`, or `false`, `0`, `no` and nothing at all. Of an
    output that is a JSON object the keys lead to a part: a boolean or such a text, anything else is false.
    Of any other output the whole text counts.
    """
    try:
        _, entry, keys = find(read_reference(condition), store)
    except Unresolved as error:
        raise ExpressionError(condition, str(error), "condition") from None
    output: str = entry["output"]
    is_object, part = part_of(output, keys) if keys else (False, None)
    if not is_object:
        return _says(output, condition)
    if isinstance(part, str):
        return _says(part, condition)
    return part is True


def _says(text: str, condition: str) -> bool:
    word = text.strip().lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    expected = "expected true, 1, yes, false, 0, no or an empty text"
    raise ExpressionError(condition, f"its value is {shortened(text, MOST_SHOWN)!r}; {expected}", "condition")


def placeholders(text: str) -> list[str]:
    """List the references in a text, each with its braces."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, store: Mapping[str, Any]) -> str:
    """Fill the references in a text, once and literally.

    A step that has given nothing so far, or a part that is missing, is an empty text; parts other than texts
    are written as JSON.
    """
    return _PLACEHOLDER.sub(lambda match: _written(match[0], store), text)


def _written(reference: str, store: Mapping[str, Any]) -> str:
    try:
        _, entry, keys = find(read_reference(reference), store)
    except Unresolved:
        return ""
    part = part_of(entry["output"], keys)[1] if keys else entry["output"]
    if part is None:
        return ""
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
