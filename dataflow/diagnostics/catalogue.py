"""The catalogue of all kinds of problems, by their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.diagnostics import (
    arguments,
    changes,
    commands,
    conversations,
    documents,
    expressions,
    foreign,
    graphs,
    node_types,
    packs,
    runs,
    secrets,
    stores,
    values,
    wiring,
)
from dataflow.diagnostics.diagnostic import Kind, kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["AREAS", "by_code"]

#: The tables of the engine, in the order of their codes.
AREAS: Final = (
    documents,
    wiring,
    graphs,
    node_types,
    arguments,
    values,
    expressions,
    runs,
    conversations,
    secrets,
    stores,
    changes,
    packs,
    commands,
    foreign,
)


def by_code(*tables: Iterable[Kind]) -> dict[str, Kind]:
    """Return the kinds of the engine and of the given tables by their codes; raise ValueError for a twin."""
    found: dict[str, Kind] = {}
    for table in (*map(kinds_of, AREAS), *tables):
        for kind in table:
            if kind.code in found:
                raise ValueError(f"the code {kind.code} is used twice")
            found[kind.code] = kind
    return found
