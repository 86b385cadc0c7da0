"""The nodes of a run as its journal tells of them, in a tree; nothing here knows the flow (S12.1).

A path leads through what it stands in: `refine[2]/write` is in round 2 of the loop `refine`. Of many items or
rounds of one thing those that are done are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.cli.texts import MOST_REASON, duration, one_line
from dataflow.states import NodeState
from dataflow.wording import counted, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.past import Past, PastFiring

__all__ = ["INTERRUPTED", "node_objects", "reason_of", "state_of", "tree_lines"]

INTERRUPTED: Final = "interrupted"
MOST_ITEMS: Final = 10  # of one thing that are shown one by one, besides those that are not done
MOST_ODD: Final = 50  # as above, that are not done
_LAST: Final = re.compile(r"(.*?)(\[[^\[\]]*\]|~\d+|/[^/\[\]~]+|[^/\[\]~]+)\Z", re.DOTALL)


def state_of(past: Past, status: str, path: str) -> str:
    """Name the state of a firing as people know it; what a dead process left running was interrupted."""
    firing = past.firings[path]
    if firing.state is not None:
        return firing.state.value
    ask = firing.ask
    if ask is not None and ask.values is None and ask.closed is None:
        return NodeState.PAUSED.value
    if firing.next_at is not None or not firing.attempt:
        return NodeState.WAITING.value
    match status:
        case "running":
            return NodeState.RUNNING.value
        case "interrupted":
            return INTERRUPTED
        case "paused":  # what waits for what is inside it
            return NodeState.PAUSED.value
        case _:
            return NodeState.NOT_RUN.value


def reason_of(firing: PastFiring) -> str:
    """Say why a firing has ended as it did; what was told of an earlier end is none once it goes on."""
    return firing.reason if firing.state is not None else ""


@dataclass(slots=True, eq=False)
class _Branch:
    """A firing, or a round or attempt that has no record of its own, and what is inside."""

    path: str
    inside: dict[str, _Branch] = field(default_factory=dict)


def tree_lines(past: Past, status: str) -> Iterator[str]:
    """Write a line for each firing, indented below what it stands in."""
    root = _grown(past)
    todo: list[tuple[int, _Branch | str]] = [(0, branch) for branch in reversed(root.inside.values())]
    while todo:
        depth, branch = todo.pop()
        if isinstance(branch, str):
            yield "  " * depth + branch
            continue
        yield "  " * depth + _line(past, status, branch)
        todo.extend((depth + 1, inner) for inner in reversed(_chosen(past, status, branch)))


def _grown(past: Past) -> _Branch:
    """Put each firing into what it stands in."""
    root = _Branch("")
    known: dict[str, _Branch] = {"": root}
    for path in past.firings:
        missing, place = [], path
        while place not in known:
            missing.append(place)
            place = _above(place)
        above = known[place]
        for below in reversed(missing):
            known[below] = above.inside[below] = _Branch(below)
            above = known[below]
    return root


def _above(path: str) -> str:
    """Return the path of what a path stands in: of an item its map, of an attempt its flow node."""
    parts = _LAST.match(path)
    return parts[1] if parts is not None else ""


def _line(past: Past, status: str, branch: _Branch) -> str:
    path = branch.path
    name = visible(path[len(_above(path)) :].removeprefix("/"))
    firing = past.firings.get(path)
    if firing is None:
        return name
    state = state_of(past, status, path)
    parts = [name.ljust(24), state.ljust(11), _size(past, path), _time(firing)]
    if firing.attempt > 1:
        parts.append(f"attempt {firing.attempt}")
    reason = reason_of(firing)
    if state != NodeState.DONE.value and reason:
        parts.append(f"({one_line(reason, MOST_REASON)})")
    return "  ".join(filter(None, parts)).rstrip()


def _size(past: Past, path: str) -> str:
    if path in past.maps:
        items = past.maps[path]
        return "" if items is None else counted(items, "item")
    return counted(past.rounds[path], "round") if path in past.rounds else ""


def _time(firing: PastFiring) -> str:
    if firing.started is None or firing.ended is None or firing.state is None:
        return ""
    return duration((firing.ended - firing.started).total_seconds())


def _chosen(past: Past, status: str, branch: _Branch) -> list[_Branch | str]:
    """Choose what is shown of what is inside: of many what is not done, and the first of the others."""
    inside = list(branch.inside.values())
    if len(inside) <= MOST_ITEMS or branch.path not in past.maps | past.rounds:
        return [*inside]
    chosen: list[_Branch | str] = []
    left: Counter[str] = Counter()
    done = odd = 0
    for one in inside:
        is_known = one.path in past.firings
        state = state_of(past, status, one.path) if is_known else NodeState.DONE.value
        is_done = state == NodeState.DONE.value
        done, odd = done + is_done, odd + (not is_done)
        if (done <= MOST_ITEMS) if is_done else (odd <= MOST_ODD):
            chosen.append(one)
        else:
            left[state] += 1
    if left:
        told = ", ".join(f"{count:,} {state}" for state, count in sorted(left.items()))
        chosen.append(f"and {told}")
    return chosen


def node_objects(past: Past, status: str) -> list[Mapping[str, Any]]:
    """Describe each firing for programs, in the order in which they began."""
    return [
        {
            "path": path,
            "type": firing.type,
            "state": state_of(past, status, path),
            "attempt": firing.attempt,
            "started": None if firing.started is None else firing.started.isoformat(),
            "ended": None if firing.ended is None else firing.ended.isoformat(),
            "reason": reason_of(firing),
        }
        for path, firing in past.firings.items()
    ]
