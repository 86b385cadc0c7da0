"""Indexing: what a map over edges reads of another map are its values with their indexes (S7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.tokens import Skip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.plan import ScopePlan

__all__ = ["arrivals_of", "indexed", "natural_order"]


def indexed(body: ScopePlan, own: int, names: Iterable[str | int], tokens: Iterable[Any]) -> list[list[Any]]:
    """Make the list that a map gives to a map over edges: pairs of index and value, without skips.

    `own` is the output of the map that it stands on. They are lists, which are stored as they are.
    """
    is_inmost = own not in _passed_through(body)
    return [
        arrival
        for name, token in zip(names, tokens, strict=True)
        if type(token) is not Skip
        for arrival in arrivals_of(name, token, is_inmost=is_inmost)
    ]


def arrivals_of(name: str | int, token: Any, *, is_inmost: bool) -> list[list[Any]]:
    """Tell what an item of a map brings: a value, or the arrivals of a map inside it, indexed further.

    Where a failure stands for a failed item (S7.2), it does for all of them.
    """
    if is_inmost or type(token) is not list:
        return [[str(name), token]]
    return [[f"{name}.{index}", value] for index, value in token]


def _passed_through(body: ScopePlan) -> set[int]:
    """List the outputs of a map that are of a map inside it."""
    return {own for slot in body.indexed.intersection(body.collects) for own in body.collects[slot]}


def natural_order(index: str) -> list[tuple[int, int, str]]:
    """Sort indexes by their numbers, part for part, and keys as text."""
    parts = index.split(".")
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
