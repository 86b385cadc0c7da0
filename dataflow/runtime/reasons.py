"""Reasons: why something in a run is what it is, with the chain of causes, as data and as text (S3.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

__all__ = ["Explanation", "Finding", "Reason", "ReasonKind", "explain"]

K = TypeVar("K", bound="Hashable")


class ReasonKind(StrEnum):
    """What kind of a reason it is."""

    VALUE = "value"  # it has one, or is done
    SKIP = "skip"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    NOT_RUN = "not_run"
    NOT_DEMANDED = "not_demanded"
    RACE_LOST = "race_lost"
    DISABLED = "disabled"
    WAITING = "waiting"
    ASK = "ask"
    READY = "ready"
    RUNNING = "running"
    UNSETTLED = "unsettled"
    STALE = "stale"  # of a live session: what it needs has changed, and nobody has asked for it since
    CHANGED = "changed"  # likewise: an input or a function that is another than before


#: What several things may hold up, each of which is told on its own.
HELD_UP: Final = frozenset({ReasonKind.WAITING, ReasonKind.RUNNING, ReasonKind.UNSETTLED})


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason. `place` is the path of the firing that it is about, or the name of a port or output.

    `causes` are the numbers of the reasons for it, in the explanation that it is a part of.
    """

    kind: ReasonKind
    place: str
    text: str
    causes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """All reasons, of which the first is the answer; as text each cause is below what it explains."""

    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text: causes stand further in only where there are several."""
        told: set[str] = set()
        seen: set[int] = set()
        todo = [(0, 0)]
        while todo:
            number, depth = todo.pop()
            reason = self.reasons[number]
            if number in seen:
                continue
            seen.add(number)
            if number == 0:
                yield reason.text
            elif reason.text not in told:
                told.add(reason.text)
                yield f"  {'  ' * depth}because {reason.text}"
            further = number != 0 and reason.kind in HELD_UP and len(reason.causes) > 1
            todo += [(cause, depth + further) for cause in reversed(reason.causes)]

    def with_cause(self, reason: Reason) -> Explanation:
        """Return the explanation with one more reason for the answer, below all others."""
        first, *rest = self.reasons
        causes = (*first.causes, len(self.reasons))
        return Explanation((replace(first, causes=causes), *rest, reason))

    def as_json(self) -> list[dict[str, Any]]:
        """Return what JSON carries in its place: a list, in which reasons name their causes by number."""
        return [
            {"kind": one.kind.value, "place": one.place, "text": one.text, "causes": list(one.causes)}
            for one in self.reasons
        ]


class Finding(NamedTuple):
    """What is found out about one thing, and the things that it comes from."""

    kind: ReasonKind
    place: str
    text: str
    causes: Sequence[Any] = ()


def explain(start: K, look: Callable[[K], Finding]) -> Explanation:
    """Explain a thing by what `look` finds out about it, and about each of its causes, each once."""
    numbers: dict[K, int] = {start: 0}
    found: list[Finding] = []
    todo = [start]
    for thing in todo:  # grows while it is walked
        finding = look(thing)
        found.append(finding)
        for cause in finding.causes:
            if cause not in numbers:
                numbers[cause] = len(todo)
                todo.append(cause)
    return Explanation(
        tuple(
            Reason(kind, place, text, tuple(numbers[cause] for cause in causes))
            for kind, place, text, causes in found
        )
    )
