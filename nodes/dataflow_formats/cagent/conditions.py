"""Evaluate conditions, and fill references in instructions, over the outputs of steps."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from dataflow import ExpressionError
from dataflow.authoring import shortened
from dataflow_formats.cagent.diagnostics import CONDITION_UNDECIDED
from dataflow_formats.cagent.file import Unresolved, find, part_of, read_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["filled", "holds", "placeholders"]

TRUE: Final = frozenset({"true", "1", "yes"})
FALSE: Final = frozenset({"false", "0", "no", ""})
MOST_SHOWN: Final = 60

_PLACEHOLDER: Final = re.compile(r"\{\{\s*\$steps[^{}]*\}\}")


def holds(condition: str, store: Mapping[str, Any]) -> bool:
    """Return whether a condition holds; raise ExpressionError, which quotes it.

    The strings `true`, `1` and `yes` are true; `false`, `0`, `no` and an empty string are false. In an output
    that is a JSON object the keys select a part: a boolean or such a string; any other part is false. Any
    other output counts as a whole.
    """
    try:
        _, entry, keys = find(read_reference(condition), store)
    except Unresolved as error:
        raise ExpressionError(condition, error.diagnostics[0], "condition") from None
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
    found = repr(shortened(text, MOST_SHOWN))
    raise ExpressionError(condition, CONDITION_UNDECIDED(found=found), "condition")


def placeholders(text: str) -> list[str]:
    """Return the references in a text, each with its braces."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, store: Mapping[str, Any]) -> str:
    """Fill the references in a text, once and literally.

    A missing output or part is an empty string; a part that is not a string is written as JSON.
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
