"""The conditions of an if: which of them holds of a value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from dataflow import Config

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OPERATORS", "Condition", "checks", "text_of"]

Operator: TypeAlias = Literal["equal", "contains"]
OPERATORS: Final[tuple[str, ...]] = get_args(Operator)


class Condition(Config):
    """A condition; one whose value is blank never holds."""

    operator: Operator = "equal"
    value: str = ""

    def holds(self, text: str) -> bool:
        """Compare in lower case, with the value trimmed."""
        wanted, found = self.value.strip().lower(), text.lower()
        if not wanted:
            return False
        return wanted in found if self.operator == "contains" else wanted == found


def checks(conditions: Sequence[Condition], text: str) -> list[bool]:
    """Tell of each condition whether it holds, up to the first that does."""
    found: list[bool] = []
    for condition in conditions:
        found.append(condition.holds(text))
        if found[-1]:
            break
    return found


def text_of(value: Any) -> str:
    """Write a value as a text: a text is itself, nothing is empty, all else is JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
