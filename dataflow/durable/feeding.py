"""Feeding: what leads to each port of a node, as text that is equal if the wiring is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.core.states import UNSETTLED
from dataflow.core.wiring import CARRY, INPUT, ITEM
from dataflow.values.canonical import NO_NAMES, told_value
from dataflow.values.functions import codes_of, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import Feed, PlanNode

__all__ = ["Feeding"]

LONGEST: Final = 64  # of a text that stands for itself


class Feeding:
    """Tells the wiring of nodes; what feeds a slot is told once.

    A source is a node's port, a parameter, a constant, or what a join, a map or a loop makes of others. One
    in a scope around is told by how far out it is, so that the text does not change with the names of what
    is around.
    """

    def __init__(self, names: Mapping[str, str] = NO_NAMES) -> None:
        self._names = names  # in place of some names of types and functions
        self._told: dict[tuple[int, int], str] = {}
        self._codes: dict[tuple[int, int], str] = {}  # of the functions of joins, where they have some

    def wiring(self, scope: PlacedScope, node: PlanNode, codes: list[str]) -> str:
        """Digest what feeds a node, and what leaves it if it is a loop, a map or a flow node.

        Digests of the functions that take part in that are added to `codes`.
        """
        ports = [self._feed(scope, feed, codes) for feed in node.feeds]
        inner = scope.children.get(node.index)
        rest: list[Any] = []
        match node.action:
            case Call() | JoinOf():
                pass
            case LoopOf() as loop:
                assert inner is not None, "a loop has a body"
                rest = self._loop(inner, loop, codes)
            case MapOf(is_every=is_every):
                assert inner is not None, "a map has a body"
                rest = sorted(self._all(inner, inner.plan.collects, codes))
                rest += ["every"] if is_every else []
            case FlowOf() as flow:
                assert inner is not None, "a flow node has a flow"
                rest = self._flow(scope, inner, node, flow, codes)
        return digest_of(json.dumps([sorted(ports), rest]))

    def _feed(self, scope: PlacedScope, feed: Feed, codes: list[str]) -> tuple[str, list[str]]:
        sources = self._all(scope, feed.slots, codes)
        return feed.port, sorted(sources) if feed.is_signal else sources

    def _loop(self, body: PlacedScope, loop: LoopOf, codes: list[str]) -> list[Any]:
        nexts = [(name, self._source(body, slot, codes)) for name, (_, slot) in sorted(loop.carried.items())]
        test = None if loop.test is None else self._source(body, loop.test, codes)
        results = sorted(
            (own in loop.alls, self._source(body, slot, codes)) for own, slot in loop.results.items()
        )
        if loop.feedback:  # what leaves it is said by those that read it
            results = []
        finals = sorted(loop.finals.values())
        functions: list[object] = []
        predicate = told_value(loop.predicate, functions, self._names)
        codes += codes_of(functions)
        kind = "feedback" if loop.feedback else loop.kind
        return [nexts, kind, test, predicate, results, finals]

    def _flow(
        self, scope: PlacedScope, inner: PlacedScope, node: PlanNode, flow: FlowOf, codes: list[str]
    ) -> list[Any]:
        defaults = [
            (inner.parameters[slot], self._source(scope, given, codes))
            for slot, given in flow.inputs.items()
            if isinstance(given, int)
        ]
        results = [
            (port, self._source(inner, flow.results[slot], codes))
            for port, slot in node.outputs.items()
            if slot in flow.results
        ]
        return [sorted(defaults), sorted(results)]

    def _all(self, scope: PlacedScope, slots: Iterable[int], codes: list[str]) -> list[str]:
        return [self._source(scope, slot, codes) for slot in slots]

    def _source(self, scope: PlacedScope, slot: int, codes: list[str]) -> str:
        """Tell what a slot holds; joins stand on joins and scopes in scopes to any depth."""
        todo = [(scope, slot)]
        while todo:
            found, place = todo[-1], (todo[-1][0].number, todo[-1][1])
            if place in self._told:
                todo.pop()
                continue
            head, behind = _made(*found)
            open_ones = [one for one in behind if (one[0].number, one[1]) not in self._told]
            if open_ones:
                todo.extend(open_ones)
                continue
            self._tell(place, head, behind)
            todo.pop()
        if (scope.number, slot) in self._codes:
            codes.append(self._codes[scope.number, slot])
        return self._told[scope.number, slot]

    def _tell(self, place: tuple[int, int], head: list[Any], behind: list[tuple[PlacedScope, int]]) -> None:
        functions: list[object] = []
        texts = [part if isinstance(part, str) else told_value(part, functions, self._names) for part in head]
        places = [(scope.number, slot) for scope, slot in behind]
        self._told[place] = _short([texts, [self._told[one] for one in places]])
        codes = [*codes_of(functions), *(self._codes[one] for one in places if one in self._codes)]
        if codes:
            self._codes[place] = digest_of(" ".join(codes))


def _made(scope: PlacedScope, slot: int) -> tuple[list[Any], list[tuple[PlacedScope, int]]]:
    """Tell what makes the value of a slot, and the slots that it is made of where no node is named."""
    node = scope.makers.get(slot)
    if node is not None:
        return _made_by(scope, node, slot)
    if slot in scope.parameters:
        return [_word(scope), scope.parameters[slot]], []
    if slot in scope.imports:
        assert scope.parent is not None, "the root imports nothing"
        return ["^"], [(scope.parent, scope.imports[slot])]
    constant = scope.plan.initial[slot]
    assert constant is not UNSETTLED, f"{scope.plan.names[slot]} comes from somewhere"
    return ["=", [constant]], []


def _made_by(
    scope: PlacedScope, node: PlanNode, slot: int
) -> tuple[list[Any], list[tuple[PlacedScope, int]]]:
    match node.action:
        case JoinOf(mode=mode, how=how):
            return [mode.value, [how]], [(scope, one) for one in node.feeds[0].slots]
        case MapOf():
            body = scope.children[node.index]
            for inner, owns in body.plan.collects.items():
                if slot in owns:
                    word = "arrivals" if slot in scope.plan.indexed else "collect"
                    return [word, node.label], [(body, inner)]
        case LoopOf(finals=finals) if slot in finals:
            return ["final", node.label, finals[slot]], []
        case LoopOf(results=results, alls=alls) if slot in results:
            which = "all" if slot in alls else "last"
            return [which, node.label], [(scope.children[node.index], results[slot])]
        case _:
            pass
    return [node.label, next(port for port, own in node.outputs.items() if own == slot)], []


def _word(scope: PlacedScope) -> str:
    """Return what stands for a node in a reference to a parameter of the scope."""
    match scope.owner.action if scope.owner is not None else None:
        case LoopOf():
            return CARRY
        case MapOf():
            return ITEM
        case _:
            return INPUT


def _short(told: list[Any]) -> str:
    text = json.dumps(told, separators=(",", ":"))
    return text if len(text) <= LONGEST else digest_of(text)
