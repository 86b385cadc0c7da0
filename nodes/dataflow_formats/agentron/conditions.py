"""Conditions of edges: what of an output decides whether an edge is followed."""

from __future__ import annotations

import json
from typing import Any, Final

from dataflow import Config

__all__ = ["KINDS", "Condition", "first_that_holds", "holds"]

#: The types of conditions that are known; any other holds always.
KINDS: Final = ("message_type", "content_contains")


class Condition(Config):
    """The condition of an edge."""

    type: str
    value: str = ""


def holds(condition: Condition | None, output: str) -> bool:
    """Tell whether an edge may be followed after an output; one without a condition always may.

    `message_type` is the whole output, or the `type` of an output that is an object in JSON;
    `content_contains` is a part of it in any case of letters.
    """
    match condition:
        case Condition(type="message_type", value=value):
            return output == value or _type_in(output) == value
        case Condition(type="content_contains", value=value):
            return value.casefold() in output.casefold()
        case _:
            return True


def first_that_holds(conditions: list[Condition | None], output: str) -> int | None:
    """Return the number of the first condition that holds, None where none does."""
    return next((number for number, one in enumerate(conditions) if holds(one, output)), None)


def _type_in(output: str) -> Any:
    try:
        read = json.loads(output)
    except (ValueError, RecursionError):  # a text that is no JSON
        return None
    return read.get("type") if isinstance(read, dict) else None
