"""Explain the state of a port of a run in memory: why it has a value, was skipped or failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from dataflow.base.wording import conceal, moment
from dataflow.compiler.plan import Feed, FlowOf, JoinOf
from dataflow.core.states import RELEASED, UNSETTLED, Errored, NodeState, Skip
from dataflow.scheduler.asks import ANSWERED_WITH
from dataflow.scheduler.frames import firings_in, root_of
from dataflow.scheduler.timers import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from dataflow.compiler.plan import PlanNode
    from dataflow.core.inputs import Ask
    from dataflow.scheduler.frames import Frame

__all__ = [
    "KINDS",
    "NOT_OPENED",
    "Explanation",
    "RawReason",
    "Reason",
    "ReasonKind",
    "ask_text",
    "explain",
    "explain_earlier",
    "explain_firing",
    "explain_token",
    "kind_of_skip",
    "makers_of",
]

K = TypeVar("K", bound="Hashable")
#: A cause: a skip or error, a firing, a slot that something waits for, or the id of an open ask.
Thing: TypeAlias = "Skip | Errored | tuple[Frame, int] | tuple[Frame, int, str] | str"
#: The text about firings whose causes are not kept.
NOT_OPENED: Final = "and was not opened again: its causes are not kept"


class ReasonKind(StrEnum):
    """The kind of a reason."""

    VALUE = "value"  # it has a value, or is done
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
    STALE = "stale"  # in a live session: an upstream node has changed, and the port was not demanded since
    CHANGED = "changed"  # in a live session: an input or function that has changed


#: Kinds whose causes are listed separately if there are several.
HELD_UP: Final = frozenset({ReasonKind.WAITING, ReasonKind.RUNNING, ReasonKind.UNSETTLED})


#: The reasons of skips that are kinds of their own, by prefix.
SKIPS: Final = {
    "not demanded": ReasonKind.NOT_DEMANDED,
    "race lost": ReasonKind.RACE_LOST,
    "disabled": ReasonKind.DISABLED,
}


KINDS: Final = {
    NodeState.WAITING: ReasonKind.WAITING,
    NodeState.READY: ReasonKind.READY,
    NodeState.RUNNING: ReasonKind.RUNNING,
    NodeState.PAUSED: ReasonKind.WAITING,
    NodeState.DONE: ReasonKind.VALUE,
    NodeState.SKIPPED: ReasonKind.SKIP,
    NodeState.FAILED: ReasonKind.FAILURE,
    NodeState.TIMED_OUT: ReasonKind.FAILURE,
    NodeState.CANCELLED: ReasonKind.CANCELLED,
    NodeState.NOT_RUN: ReasonKind.NOT_RUN,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason; `place` is the path of a firing, or the name of a port or output.

    `causes` are the numbers of its causes, in the explanation that it is a part of.
    """

    kind: ReasonKind
    place: str
    text: str
    causes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", conceal(self.place))  # names may be values, as of classes (S12.4)
        object.__setattr__(self, "text", conceal(self.text))


@dataclass(frozen=True, slots=True)
class Explanation:
    """All reasons, the first of which is the answer; as text each cause follows what it explains."""

    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text; causes are indented only if there are several."""
        printed: set[str] = set()
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
            elif reason.text not in printed:
                printed.add(reason.text)
                yield f"  {'  ' * depth}because {reason.text}"
            further = number != 0 and reason.kind in HELD_UP and len(reason.causes) > 1
            todo += [(cause, depth + further) for cause in reversed(reason.causes)]

    def with_cause(self, reason: Reason) -> Explanation:
        """Return the explanation with one more cause of the answer, as the last reason."""
        first, *rest = self.reasons
        causes = (*first.causes, len(self.reasons))
        return Explanation((replace(first, causes=causes), *rest, reason))

    def as_json(self) -> list[dict[str, Any]]:
        """Return the explanation as data for JSON: a list, in which reasons name their causes by number."""
        return [
            {"kind": one.kind.value, "place": one.place, "text": one.text, "causes": list(one.causes)}
            for one in self.reasons
        ]


class RawReason(NamedTuple):
    """The explanation of one thing, and its causes."""

    kind: ReasonKind
    place: str
    text: str
    causes: Sequence[Any] = ()


def explain(start: K, look: Callable[[K], RawReason]) -> Explanation:
    """Build an explanation by calling `look` for a thing and for each of its causes, each once."""
    numbers: dict[K, int] = {start: 0}
    found: list[RawReason] = []
    todo = [start]
    for thing in todo:  # grows while it is walked
        reason = look(thing)
        found.append(reason)
        for cause in reason.causes:
            if cause not in numbers:
                numbers[cause] = len(todo)
                todo.append(cause)
    return Explanation(
        tuple(
            Reason(kind, place, text, tuple(numbers[cause] for cause in causes))
            for kind, place, text, causes in found
        )
    )


def kind_of_skip(reason: str) -> ReasonKind:
    """Return the kind of the reason of a skip."""
    return next((kind for text, kind in SKIPS.items() if reason.startswith(text)), ReasonKind.SKIP)


def ask_text(id: str, prompt: str, since: str = "", until: str = "") -> str:
    """Return the text about an ask that waits for its answer."""
    times = "".join([f" since {since}" if since else "", f", until {until}" if until else ""])
    return f"ask {id!r} waits for an answer{times}" + (f": {prompt}" if prompt else "")


def explain_firing(
    frame: Frame, node: PlanNode, asks: Sequence[Ask], *, is_paused: bool = False
) -> Explanation:
    """Explain the state of a firing, in a run that may have paused."""
    return explain((frame, node.index), _Finder(asks, is_paused=is_paused, root=root_of(frame)).look)


def explain_token(
    name: str,
    token: Any,
    status: str,
    waits: Sequence[tuple[Frame, int]] = (),
    asks: Sequence[Ask] = (),
    root: Frame | None = None,
) -> Explanation:
    """Explain the token of a port or an output, which the text calls by this name.

    `root` is the frame of the run, in which decisions are looked up. `waits` are the firings that it waits
    for, if it has not settled.
    """
    if isinstance(token, Skip | Errored):
        kind = ReasonKind.FAILURE if isinstance(token, Errored) else kind_of_skip(token.reason)
        head = RawReason(kind, name, f"{name} has no value", [token])
    elif token is UNSETTLED:
        text = f"{name} did not settle: the run was {status}"
        head = RawReason(ReasonKind.UNSETTLED, name, text, waits)
    elif token is RELEASED:
        head = RawReason(ReasonKind.VALUE, name, f"{name} had a value, which was let go")
    else:
        head = RawReason(ReasonKind.VALUE, name, f"{name} has a value")
    finder = _Finder(asks, is_paused=status == "paused", root=root)
    return explain("", lambda thing: head if thing == "" else finder.look(thing))


def explain_earlier(path: str, state: NodeState) -> Explanation:
    """Explain a firing that a resumed run has not opened again: its causes are not kept."""
    text = f"{path} is {state.value} since an earlier sitting, {NOT_OPENED}"
    return explain("", lambda _: RawReason(KINDS[state], path, text))


class _Finder:
    """Finds the explanation of one thing."""

    def __init__(self, asks: Sequence[Ask], *, is_paused: bool, root: Frame | None) -> None:
        self._is_paused, self._root = is_paused, root
        self._asks: Mapping[str, Ask] = {ask.id: ask for ask in asks}

    def look(self, thing: Thing) -> RawReason:
        match thing:
            case Skip() | Errored():
                return _of_token(thing, self._answers_behind(thing))
            case str():
                return self._of_ask(thing)
            case (frame, index):
                return self._of_firing(frame, frame.plan.nodes[index])
            case (frame, slot, label):
                return _of_slot(frame, slot, label)

    def _of_ask(self, id: str) -> RawReason:
        ask = self._asks[id]
        until = "" if ask.expires is None else moment(ask.expires)
        return RawReason(ReasonKind.ASK, id, ask_text(id, ask.prompt, until=until))

    def _of_firing(self, frame: Frame, node: PlanNode) -> RawReason:
        path, state = frame.path_of(node), state_of(frame, node, is_paused=self._is_paused)
        memo = f", {frame.memos[node.index]}" if node.index in frame.memos else ""
        kind, head = KINDS[state], f"{path} is {state.value}{memo}"
        reason = frame.reasons.get(node.index)
        if reason is not None and state not in (NodeState.WAITING, NodeState.PAUSED, NodeState.RUNNING):
            is_of_its_own = isinstance(reason, Skip) and kind_of_skip(reason.reason) is not ReasonKind.SKIP
            kind = kind_of_skip(reason.reason) if is_of_its_own else kind
            return RawReason(kind, path, head, [reason])
        match state:
            case NodeState.WAITING if node.index in frame.undemanded:
                return RawReason(ReasonKind.NOT_DEMANDED, path, f"{head}: nothing has asked for it so far")
            case NodeState.WAITING:
                return RawReason(kind, path, head, list(_waits(frame, node)))
            case NodeState.PAUSED | NodeState.RUNNING:
                return RawReason(kind, path, head, [*self._asks_at(path), *_waits(frame, node)])
            case _:
                return RawReason(kind, path, head)

    def _asks_at(self, path: str) -> list[str]:
        """Return the open asks of a firing, or of what is inside it."""
        return [id for id in self._asks if id == path or id.startswith((f"{path}/", f"{path}[", f"{path}~"))]

    def _answers_behind(self, token: Skip | Errored) -> list[tuple[Frame, int]]:
        """Return the answered asks whose values the node read that has decided a skip."""
        if self._root is None or token.cause is not None or isinstance(token, Errored) or not token.place:
            return []
        for path, frame, node in firings_in(self._root):
            if path == token.place:
                return list(_answered(frame, node))
        return []


def _answered(frame: Frame, node: PlanNode) -> Iterator[tuple[Frame, int]]:
    """Yield the answered asks behind the ports of a node, through joins and the scopes around it."""
    todo = [(frame, slot) for feed in node.feeds for slot in feed.slots]
    seen: set[tuple[int, int]] = set()
    for where, slot in todo:  # grows while it is walked
        if (id(where), slot) in seen:
            continue
        seen.add((id(where), slot))
        maker = next((one for one in where.plan.nodes if slot in one.outputs.values()), None)
        if maker is not None:
            if isinstance(maker.action, JoinOf):
                todo += [(where, other) for feed in maker.feeds for other in feed.slots]
            elif str(where.memos.get(maker.index, "")).startswith(ANSWERED_WITH):
                yield where, maker.index
        elif where.parent is not None:
            todo += [(where.parent, outer) for outer, own in where.plan.imports if own == slot]
            action = where.parent.plan.nodes[where.owner].action
            given = action.inputs.get(slot) if isinstance(action, FlowOf) else None
            if isinstance(given, Feed):
                todo += [(where.parent, one) for one in given.slots]


def _of_token(token: Skip | Errored, answers: Sequence[tuple[Frame, int]] = ()) -> RawReason:
    is_whole = isinstance(token, Errored) or not token.place
    text = token.reason if is_whole else f"{token.place}: {token.reason}"
    kind = ReasonKind.FAILURE if isinstance(token, Errored) else kind_of_skip(token.reason)
    besides = token.besides if isinstance(token, Errored) else ()
    cause = token.cause
    while isinstance(cause, Errored) and cause.reason == text and not cause.besides:
        cause = cause.cause  # its text is printed already
    return RawReason(kind, token.place, text, [*besides, *answers, *(() if cause is None else (cause,))])


def makers_of(frame: Frame, slot: int) -> Iterator[tuple[Frame, int]]:
    """Yield the firings of a scope instance that a slot waits for, upstream of joins."""
    todo, seen = [slot], {slot}
    for one in todo:  # grows while it is walked
        maker = next((node for node in frame.plan.nodes if one in node.outputs.values()), None)
        if maker is not None and isinstance(maker.action, JoinOf):
            behind = [other for _, other, _ in _waits(frame, maker) if other not in seen]
            seen.update(behind)
            todo += behind
        elif maker is not None:
            yield frame, maker.index


def _waits(frame: Frame, node: PlanNode) -> Iterator[tuple[Frame, int, str]]:
    """Yield the slots that a node waits for."""
    for feed in node.feeds:
        for slot, label in zip(feed.slots, feed.labels, strict=True):
            if frame.values[slot] is UNSETTLED:
                yield frame, slot, label


def _of_slot(frame: Frame, slot: int, label: str) -> RawReason:
    """Explain a wait for a slot, by the node that has to settle it."""
    text = f"it waits for {label}"
    where: Frame | None = frame
    while where is not None:
        maker = next((node for node in where.plan.nodes if slot in node.outputs.values()), None)
        if maker is not None:
            causes = (
                list(_waits(where, maker)) if isinstance(maker.action, JoinOf) else [(where, maker.index)]
            )
            return RawReason(ReasonKind.WAITING, label, text, causes)
        outer = next((outer for outer, own in where.plan.imports if own == slot), None)
        where, slot = (None, slot) if outer is None else (where.parent, outer)
    return RawReason(ReasonKind.WAITING, label, text)
