"""Check that a flow can be stored, and list the types that its stored values may have."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from dataflow.compiler.addresses import classes_in, scopes_of, types_given
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.core.ports import MISSING
from dataflow.core.wiring import INPUT
from dataflow.durable.graph_signature import shape_of
from dataflow.errors import FlowInvalid, SecretMissing, ValueRefused
from dataflow.secrets.secret import Secret
from dataflow.values.classes import unstorable
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import Feed, FlowPlan, PlanNode
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.values.classes import Classes

__all__ = [
    "CONSTANT",
    "FlowReads",
    "Source",
    "Storable",
    "make_known",
    "ports_in",
    "storable_of",
    "throwaway_writer",
]

#: The version of the text that `FlowReads` is written as.
VERSION: Final = 1
#: The head of the source of a constant; its encoded value follows, where it is stored.
CONSTANT: Final = "value"
#: The source of a value: a port, as `address.port` or `$in.name`, or a join, as its mode and its sources.
Source: TypeAlias = "str | list[Any]"


@dataclass(frozen=True, slots=True)
class Storable:
    """What all stored runs of a plan share."""

    classes: Classes
    shape: str  # as `FlowShape.write` writes it
    reads: str  # as `FlowReads.write` writes it
    secrets: tuple[Secret, ...]  # constants and config fields of the flow


_KNOWN: Final[WeakKeyDictionary[FlowPlan, Storable]] = WeakKeyDictionary()


def storable_of(plan: FlowPlan) -> Storable:
    """Return what stored runs of a plan share; raises FlowInvalid if a port or a default cannot be stored."""
    known = _KNOWN.get(plan)
    if known is None:
        types = list(types_given(plan))
        problems = [
            replace(problem.within(where), port=where.rpartition(".")[2])
            for where, kind in types
            if (problem := unstorable(kind)) is not None
        ]
        classes = classes_in(plan)
        problems += _defaults_refused(plan, classes)
        if problems:
            raise FlowInvalid(plan.name, problems)
        known = _KNOWN[plan] = Storable(
            classes, shape_of(plan).write(), _reads_of(plan, classes).write(), tuple(_secrets_in(plan))
        )
    return known


def throwaway_writer(classes: Classes) -> Writer:
    """Return a writer that only checks whether a value can be written: its blobs are discarded."""
    return Writer(classes, lambda _name, _data: None)


def make_known(values: Iterable[object]) -> None:
    """Reveal the secrets among these values, so that none of them is written unmasked before (S12.4)."""
    for value in values:
        if type(value) is Secret:
            with suppress(SecretMissing):  # reported where the secret is used
                value.reveal()


def _secrets_in(plan: FlowPlan) -> Iterator[Secret]:
    """Find the secrets among the constants and in the configs of a flow."""
    for scope in scopes_of(plan):
        for constant in scope.plan.initial:
            parts = vars(constant).values() if isinstance(constant, BaseModel) else (constant,)
            yield from (part for part in parts if type(part) is Secret)


def _defaults_refused(plan: FlowPlan, classes: Classes) -> Iterator[Diagnostic]:
    """Yield a problem for each default of a failing node that cannot be stored (S9.3)."""
    writer = throwaway_writer(classes)
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if node.policy is not None and node.policy.default is not MISSING:
                try:
                    writer.write(node.policy.default, f"{scope.address_of(node)}.policy.default")
                except ValueRefused as refused:
                    yield from refused.diagnostics


@dataclass(frozen=True, slots=True)
class FlowReads:
    """The ports that each node reads, by address, and the sources of the outputs of the flow.

    A port is named by the address of its node: the path without iterations, items and attempts. Joins are
    replaced by their sources; a loop, map or subflow also reads what its outputs are made of, and what
    decides whether it opens.
    """

    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: Mapping[str, Source] = field(default_factory=dict)

    def write(self) -> str:
        """Write it as JSON."""
        ports: dict[str, int] = {}
        nodes = {
            address: [ports.setdefault(port, len(ports)) for port in read]
            for address, read in self.nodes.items()
        }
        document = {"reads": VERSION, "ports": list(ports), "nodes": nodes, "outputs": self.outputs}
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> FlowReads:
        """Read the text of `write`; a text that is malformed, or of another release, gives no reads."""
        try:
            document: Any = json.loads(text)
            if document["reads"] != VERSION:
                return cls()
            ports = document["ports"]
            nodes = {
                address: tuple(ports[number] for number in read)
                for address, read in document["nodes"].items()
            }
            return cls(nodes, dict(document["outputs"]))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return cls()


def ports_in(source: Source) -> Iterator[str]:
    """Yield the ports that a source is made of."""
    todo: list[Any] = [source]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            yield one
        elif one[0] != CONSTANT:
            todo += reversed(one[1:])


def _reads_of(plan: FlowPlan, classes: Classes) -> FlowReads:
    """Find the ports that each node of a compiled flow reads."""
    sources = _Sources(classes)
    nodes: dict[str, dict[str, None]] = {}
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if node.is_visible:
                read = nodes.setdefault(scope.address_of(node), {})
                read.update(dict.fromkeys(sources.read_by(scope, node)))
    root = scopes_of(plan)[0]
    outputs = {name: sources.of(root, slot) for name, slot in plan.outputs.items()}
    return FlowReads({address: tuple(read) for address, read in nodes.items()}, outputs)


class _Sources:
    """Follows slots to the ports behind them, through joins, parameters and enclosing scopes."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes

    def read_by(self, scope: PlacedScope, node: PlanNode) -> Iterator[str]:
        for feed in node.feeds:
            yield from self._all(scope, feed.slots)
        inner = scope.children.get(node.index)
        if inner is not None:
            yield from self._all(inner, _leaving(node, inner))

    def _all(self, scope: PlacedScope, slots: Iterable[int]) -> Iterator[str]:
        todo = [(scope, slot) for slot in reversed(list(slots))]
        seen: set[tuple[int, int]] = set()
        while todo:
            place, slot = todo.pop()
            if (place.number, slot) in seen:
                continue
            seen.add((place.number, slot))
            found = _behind(place, slot)
            if isinstance(found, str):
                yield found
            else:
                todo += reversed(found)

    def of(self, scope: PlacedScope, slot: int) -> Source:
        """Return the source of an output; the recursion is as deep as joins of joins are written."""
        node = scope.makers.get(slot)
        if node is not None and isinstance(node.action, JoinOf):
            return [node.action.mode.value, *(self.of(scope, one) for one in node.feeds[0].slots)]
        found = _behind(scope, slot)
        if isinstance(found, str):
            return found
        return self.of(*found[0]) if found else [CONSTANT, *self._constant(scope.plan.initial[slot])]

    def _constant(self, value: object) -> list[Any]:
        """Encode a constant; return nothing for one that cannot be part of the text."""
        blobs: dict[str, bytes] = {}
        try:
            written = Writer(self._classes, blobs.__setitem__).write(value, "a constant")
        except ValueRefused:
            return []
        if isinstance(value, str):  # long ones are stored apart, but this text is itself
            return [value]
        return [] if blobs else [written]


def _behind(scope: PlacedScope, slot: int) -> str | list[tuple[PlacedScope, int]]:
    """Return the port whose value a slot holds, or the slots that it is made of."""
    node = scope.makers.get(slot)
    if node is not None:
        if isinstance(node.action, JoinOf):
            return [(scope, one) for one in node.feeds[0].slots]
        if isinstance(node.action, LoopOf) and slot in node.action.results and node.action.feedback:
            return [(scope.children[node.index], node.action.results[slot])]
        port = next(name for name, own in node.outputs.items() if own == slot)
        return f"{scope.address_of(node)}.{port}"
    if slot in scope.imports and scope.parent is not None:
        return [(scope.parent, scope.imports[slot])]
    if slot in scope.parameters:
        if scope.parent is None or scope.owner is None:
            return f"{INPUT}.{scope.parameters[slot]}"
        return list(_given(scope, scope.parent, scope.owner, slot))
    return []  # a constant


def _given(
    scope: PlacedScope, parent: PlacedScope, owner: PlanNode, slot: int
) -> Iterator[tuple[PlacedScope, int]]:
    """Yield the sources of a parameter of a scope; a loop variable also has the iteration before."""
    feeds: Iterable[Feed | int] = ()
    match owner.action:
        case LoopOf(carried=carried):
            feeds = [feed for feed in owner.feeds if feed.port == scope.parameters[slot]]
            yield from ((scope, following) for first, following in carried.values() if first == slot)
        case MapOf(lists=lists):
            feeds = [lists[slot]]
        case FlowOf(inputs=inputs):
            feeds = [inputs[slot]]
        case Call() | JoinOf():
            raise AssertionError("neither opens a scope")
    for feed in feeds:
        if not isinstance(feed, int):
            yield from ((parent, one) for one in feed.slots)


def _leaving(node: PlanNode, inner: PlacedScope) -> list[int]:
    """List the slots inside that a loop, map or subflow takes its outputs from, and the test of a loop."""
    match node.action:
        case LoopOf() as loop:
            finals = [loop.carried[name][1] for name in loop.finals.values()]
            return [*loop.results.values(), *finals, *(() if loop.test is None else (loop.test,))]
        case MapOf():
            return list(inner.plan.collects)
        case FlowOf(results=results):
            return list(results.values())
        case Call() | JoinOf():
            return []
