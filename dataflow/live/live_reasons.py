"""Why a port of a live session is what it is: what it was computed for, and whether it is stale (S13.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dataflow.core.states import Errored, Skip
from dataflow.live.freshness import Stage
from dataflow.runtime.reasons import Explanation, Reason, ReasonKind, ask_text, explain_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.compiler.addresses import RootPort
    from dataflow.compiler.plan import PlanNode
    from dataflow.live.known import Known
    from dataflow.live.live_engine import LiveEngine
    from dataflow.live.read_digests import Reads

__all__ = ["explain"]

#: How many causes are told at most.
MOST_CAUSES: Final = 50


def explain(engine: LiveEngine, named: str, found: RootPort) -> Explanation:
    """Tell why a port of this name is what it is; each reason but the first is a cause of one before it."""
    index = engine.ports.maker(found)
    if index is None:
        return _told(_given(engine, found.slot, named))
    node = engine.scheduler.root.plan.nodes[index]
    match Stage(engine.freshness.stages[index]):
        case Stage.FRESH | Stage.LOST:
            token = engine.ports.look(found).token
            if isinstance(token, Skip | Errored):
                return explain_token(named, token, "live")
            head = Reason(ReasonKind.VALUE, named, f"{named} {_computed(engine, node)}")
            return _told(head, _causes(engine, node))
        case Stage.STALE if engine.reusing.memory.of_root(index) is None and index not in engine.replaced_in:
            text = f"{named} has not been computed: nobody has asked for it"
            return _told(Reason(ReasonKind.NOT_DEMANDED, named, text))
        case Stage.STALE:
            text = f"{named} is stale, and nobody has asked for it since"
            return _told(Reason(ReasonKind.STALE, named, text), _changes(engine, node))
        case _:
            return _on_its_way(engine, named)


def _on_its_way(engine: LiveEngine, named: str) -> Explanation:
    """Explain a port that somebody has asked for and that has not settled."""
    asks = [
        Reason(ReasonKind.ASK, id, ask_text(id, one.ask.prompt))
        for id, one in engine.scheduler.asking.open.items()
    ]
    if not asks:
        return _told(Reason(ReasonKind.RUNNING, named, f"{named} is being computed"))
    return _told(Reason(ReasonKind.WAITING, named, f"{named} waits"), asks)


def _told(head: Reason, causes: Iterable[Reason] = ()) -> Explanation:
    different = list(dict.fromkeys(causes))
    return Explanation((replace(head, causes=tuple(range(1, len(different) + 1))), *different))


def _given(engine: LiveEngine, slot: int | None, named: str) -> Reason:
    since = "" if slot is None else f", and has its value since revision {engine.changed_in.get(slot, 1)}"
    return Reason(ReasonKind.VALUE, named, f"{named} is given{since}")


def _computed(engine: LiveEngine, node: PlanNode) -> str:
    known = engine.reusing.memory.of_root(node.index)
    if known is None:
        return "has a value, which joins those of others"
    again = "" if known.revision == engine.reusing.revision else "; what it is given has not changed since"
    memo = engine.scheduler.root.memos.get(node.index)
    return f"was computed in revision {known.revision}{f', {memo}' if memo else ''}{again}"


def _causes(engine: LiveEngine, node: PlanNode) -> Iterator[Reason]:
    """Go back from a node through the ports whose values had changed when it was computed."""
    links, plan = engine.freshness.links, engine.scheduler.root.plan
    memory, digests = engine.reusing.memory, engine.reusing.digests
    todo, seen = [node], {node.index}
    told = 0
    for one in todo:  # grows while it is walked
        known = memory.of_root(one.index)
        reads = digests.reads_of(one)
        because = reads.ports if known is None else _changed(reads, known)
        if known is not None and engine.replaced_in.get(one.index) == known.revision:
            yield _replaced(engine, one)
        for port, slot in zip(reads.ports, (*reads.slots, *reads.signals), strict=True):
            if port not in because or told == MOST_CAUSES:
                continue
            told += 1
            maker = links.makers.get(slot)
            if maker is None:
                yield _new_input(engine, slot)
            elif maker not in seen:
                seen.add(maker)
                todo.append(plan.nodes[maker])
                if known is not None:
                    text = f"{plan.names[slot]} changed, which {one.id} reads as {port!r}"
                    yield Reason(ReasonKind.CHANGED, plan.names[slot], text)


def _changed(reads: Reads, known: Known) -> tuple[str, ...]:
    """Name the ports of a node that were given something else than the time before."""
    if known.before is None or len(known.before) != len(known.given):
        return ()
    pairs = zip(reads.ports, known.before, known.given, strict=True)
    return tuple(port for port, old, new in pairs if old != new)


def _changes(engine: LiveEngine, node: PlanNode) -> Iterator[Reason]:
    """Name the inputs and functions that have changed before a node since it was computed."""
    links, known = engine.freshness.links, engine.reusing.memory.of_root(node.index)
    since = engine.replaced_in.get(node.index, 1) - 1 if known is None else known.revision
    todo, seen = [node.index], {node.index}
    for index in todo:  # grows while it is walked
        if engine.replaced_in.get(index, 0) > since:
            yield _replaced(engine, engine.scheduler.root.plan.nodes[index])
        for slot in links.reads[index]:
            maker = links.makers.get(slot)
            if maker is None and engine.changed_in.get(slot, 0) > since:
                yield _new_input(engine, slot)
            elif maker is not None and maker not in seen and not engine.freshness.is_fresh(maker):
                seen.add(maker)
                todo.append(maker)


def _replaced(engine: LiveEngine, node: PlanNode) -> Reason:
    text = f"{node.id} runs other code since revision {engine.replaced_in[node.index]}"
    return Reason(ReasonKind.CHANGED, node.label, text)


def _new_input(engine: LiveEngine, slot: int) -> Reason:
    names = [name for name, own in engine.scheduler.root.plan.parameters.items() if own == slot]
    place = f"input {names[0]!r}" if names else "a constant"
    text = f"{place} changed in revision {engine.changed_in.get(slot, 1)}"
    return Reason(ReasonKind.CHANGED, place, text)
