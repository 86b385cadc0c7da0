"""From graph to plan: what each node is given, and who waits for what (S2.4)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from dataflow.attempts import bounds_of
from dataflow.branching import BRANCHES
from dataflow.connecting import connect
from dataflow.graph import (
    CallAction,
    CollectAction,
    Graph,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    Vertex,
    is_constant,
)
from dataflow.names import encode
from dataflow.plan import Call, Feed, FlowOf, FlowPlan, JoinOf, LoopOf, MapOf, PlanNode
from dataflow.policy import Policy
from dataflow.ports import MISSING, PortKind
from dataflow.provisions import asking_of, has_limits, named_limits, unused
from dataflow.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.plan import Action
    from dataflow.wiring import Nested

__all__ = ["lay_out"]

AFTER: Final = "$after"
#: What most calls give by keyword: one for all of them.
NO_KEYWORDS: Final[Mapping[str, Feed | int]] = MappingProxyType({})


def lay_out(graph: Graph, ordered: list[Vertex]) -> FlowPlan:
    """Lay a checked graph out as plans of its scopes."""
    slots = Slots(graph, ordered)
    laid_out = {vertex: _laid_out(slots, vertex) for vertex in slots.vertices}
    outputs = {name: slots.read(wire, graph.root) for name, wire in graph.outputs.items()}
    for scope, plan in slots.plans.items():
        plan.nodes = tuple(
            [_node(slots, scope, vertex, *laid_out[vertex]) for vertex in slots.members[scope]]
        )
    connect(slots, outputs.values())
    asking = list(asking_of(slots.vertices))
    return FlowPlan(
        name=graph.wiring.name,
        wiring=graph.wiring,
        root=slots.plans[graph.root],
        outputs=outputs,
        unused_policies=tuple(unused(asking)),
        has_limits=has_limits(asking),
        named_limits=tuple(named_limits(asking)),
    )


def _node(slots: Slots, scope: Scope, vertex: Vertex, action: Action, feeds: tuple[Feed, ...]) -> PlanNode:
    opener = scope.owner
    names_frame = (
        opener is not None
        and isinstance(opener.action, MapAction)
        and not opener.action.named
        and opener.id == vertex.id
        and not isinstance(action, JoinOf)
    )
    is_plain = True
    for feed in feeds:
        if feed.is_lazy or not (feed.many or len(feed.slots) == 1):
            is_plain = False
    outputs, id = slots.outputs[vertex], vertex.id
    taken = slots.failure_is_taken(scope, outputs.values())
    return PlanNode(slots.index[vertex], id, encode(id), action, feeds, outputs, names_frame, taken, is_plain)


def _laid_out(slots: Slots, vertex: Vertex) -> tuple[Action, tuple[Feed, ...]]:
    laying = _Laying(slots, vertex)
    return laying.action(), tuple(laying.feeds.values())


class _Laying:
    """Lays one vertex out: its feeds, then its action."""

    __slots__ = ("feeds", "slots", "vertex")

    def __init__(self, slots: Slots, vertex: Vertex) -> None:
        self.slots = slots
        self.vertex = vertex
        self.feeds = {name: self.feed(given) for name, given in vertex.inputs.items()}

    def feed(self, given: Input) -> Feed:
        slots, scope, port, action = self.slots, self.vertex.fires_in, given.port, self.vertex.action
        read = [slots.read(wire, scope) for wire in given.wires]
        labels = [slots.label(wire, scope, slot) for wire, slot in zip(given.wires, read, strict=True)]
        takes = port is not None and slots.takes_failure(port)
        if takes or (isinstance(action, JoinAction) and action.mode is Join.RACE):
            slots.note_failure_uses(scope, read)
        return Feed(
            given.name,
            tuple(read),
            tuple(labels),
            port is None or port.many,  # `$after` and the sources of a join take any number
            given.required,
            None if port is None else port.default,
            port.type if given.checked and port is not None else None,
            takes,
            given.name == AFTER or (port is not None and port.kind is PortKind.SIGNAL),
            port is not None and port.lazy,
            isinstance(action, CallAction) and is_constant(given),
        )

    def action(self) -> Action:
        match self.vertex.action:
            case CallAction(type=node_type) as action:
                return self.call(action) if node_type.flow is None else self.flow(action, node_type.flow)
            case JoinAction(mode=mode, how=how):
                return JoinOf(mode, how)
            case LoopAction() as loop:
                return self.loop(loop)
            case MapAction() as opened:
                return self.map(opened)
            case CollectAction():
                raise AssertionError("a collect has become an output of its map")

    def call(self, action: CallAction) -> Call:
        node_type, feeds = action.type, self.feeds
        parameters = node_type.parameters
        positional = tuple([self.given(action, name) for name in parameters.positional])
        keywords: Mapping[str, Feed | int] = NO_KEYWORDS
        if parameters.keywords or parameters.open:
            spread = {*parameters.positional, parameters.star}
            configured = [name for name in node_type.inputs if name not in spread] if parameters.open else []
            names = dict.fromkeys((*parameters.keywords, *configured))
            keywords = {name: self.given(action, name) for name in names}
        star = None if parameters.star is None else feeds.get(parameters.star)
        direct = _direct(positional) if star is None and not keywords and AFTER not in feeds else None
        return Call(
            node_type, action.policy, positional, keywords, star, direct, node_type.id in BRANCHES,
            action.bounds,
        )  # fmt: skip

    def flow(self, action: CallAction, flow: Nested) -> FlowOf:
        plan, own = flow.compile(), self.slots.outputs[self.vertex]
        inputs = {plan.root.parameters[name]: self.given(action, name) for name in action.type.inputs}
        results = {own[name]: slot for name, slot in plan.outputs.items()}
        bounds = bounds_of(action.policy.over(Policy(timeout=flow.settings.timeout or MISSING)))
        return FlowOf(plan, flow.settings, action.policy, bounds, inputs, results)

    def given(self, action: CallAction, name: str) -> Feed | int:
        """Return what a parameter is given: its feed, the config, or its default as a constant."""
        if name in self.feeds:
            return self.feeds[name]
        if name == action.type.parameters.config_name:
            return self.slots.new(self.vertex.fires_in, "config", action.config)
        return self.slots.new(self.vertex.fires_in, "a default", action.type.inputs[name].default)

    def loop(self, action: LoopAction) -> LoopOf:
        slots, scope, block, test = self.slots, action.scope, action.block, action.test
        body, own = slots.plans[scope], slots.outputs[self.vertex]
        carried = {
            name: (body.parameters[name], slots.read(wire, scope)) for name, wire in action.nexts.items()
        }
        return LoopOf(
            body=body,
            kind=test.kind if test is not None else None,
            test=slots.read(action.test_wire, scope) if action.test_wire is not None else None,
            predicate=test.function if test is not None else None,
            limit=block.limit,
            on_limit=block.on_limit,
            carried=carried,
            finals={own[name]: carry for name, carry in action.finals.items()},
            results={own[name]: slots.read(wire, scope) for name, wire in action.results.items()},
            alls=frozenset(own[name] for name in action.alls),
            gate=slots.new(scope, "the test") if test is not None and test.kind == "until" else None,
        )

    def map(self, action: MapAction) -> MapOf:
        slots, body, own = self.slots, self.slots.plans[action.scope], self.slots.outputs[self.vertex]
        lists = {body.parameters[item]: self.feeds[port] for item, port in action.lists.items()}
        for name, wire in action.collects.items():
            slot = slots.read(wire, action.scope)
            body.collects[slot] = (*body.collects.get(slot, ()), own[name])
        return MapOf(body, action.options, lists)


def _direct(positional: Iterable[Feed | int]) -> tuple[int, ...] | None:
    """Return the slots of the arguments if they need nothing but to be read."""
    found = []
    for given in positional:
        if isinstance(given, int):
            found.append(given)
        elif len(given.slots) == 1 and not given.many and given.check is None and not given.is_signal:
            found.append(given.slots[0])
        else:
            return None
    return tuple(found)
