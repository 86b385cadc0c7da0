"""Forgetting: what of the past of a run does not stand when it is resumed (S11.3, S11.4). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.dependents import dependents
from dataflow.edits import check_edits, compare
from dataflow.scope_tree import address_of
from dataflow.shape import FlowShape
from dataflow.states import NodeState

if TYPE_CHECKING:
    from dataflow.past import Past
    from dataflow.plan import FlowPlan
    from dataflow.policy import Edited

__all__ = ["forgotten_by"]

#: What a firing has come to that stands when the run is resumed.
SETTLED: Final = frozenset({NodeState.DONE, NodeState.FAILED, NodeState.TIMED_OUT})


def forgotten_by(
    plan: FlowPlan, present: str, past: Past, stored: str, edited: Edited
) -> tuple[set[str], list[str]]:
    """Find out what was edited meanwhile: the firings to forget, and warnings of changed code (S11.4).

    `present` and `stored` are the shapes of the flow as it is now, and as it was. Raises FlowEdited.
    """
    forgotten = _after_failures(plan, past)
    if stored == present:
        return forgotten, []
    edits = compare(FlowShape.read(stored), FlowShape.read(present))
    standing = {
        address_of(path)
        for path, firing in past.firings.items()
        if firing.state in SETTLED and path not in past.failures
    }
    if edited == "recompute":
        again = dependents(plan, edits.altered)
        forgotten |= {path for path in past.firings if address_of(path) in again}
        standing -= again
    return forgotten, check_edits(past.run, edits, standing if edited == "refuse" else ())


def _after_failures(plan: FlowPlan, past: Past) -> set[str]:
    """Find what has taken a failure that is forgotten, as a value: it is done again with what comes now."""
    if not past.failures:
        return set()
    forgotten: set[str] = set()
    for failed in past.failures:
        again = dependents(plan, {address_of(failed)}) - {address_of(failed)}
        forgotten |= {
            path
            for path, firing in past.firings.items()
            if firing.state in SETTLED
            and path not in past.failures
            and address_of(path) in again
            and not _apart(path, failed)
        }
    return forgotten


def _apart(path: str, other: str) -> bool:
    """Tell whether two firings are in different items or rounds of one map or loop."""
    place = other.find("[")
    while place >= 0:
        end = other.index("]", place) + 1
        if path.startswith(other[: place + 1]) and not path.startswith(other[:end]):
            return True
        place = other.find("[", end)
    return False
