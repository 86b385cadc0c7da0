"""From graph to plan: what each node is given, and who waits for what (S2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.attempts import bounds_of
from dataflow.branching import BRANCHES
from dataflow.connecting import connect
from dataflow.failure import takes_failure
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
from dataflow.provisions import has_limits, named_limits, unused
from dataflow.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.plan import Action
    from dataflow.wiring import Nested

__all__ = ["lay_out"]

AFTER = "$after"


def lay_out(graph: Graph, ordered: list[Vertex]) -> FlowPlan:
    """Lay a checked graph out as plans of its scopes."""
    slots = Slots(graph, ordered)
    actions = {vertex: _Laying(slots, vertex).action() for vertex in slots.vertices}
    outputs = {name: slots.read(wire, graph.root) for name, wire in graph.outputs.items()}
    for scope, plan in slots.plans.items():
        plan.nodes = tuple(_node(slots, scope, vertex, *actions[vertex]) for vertex in slots.members[scope])
    connect(slots, outputs.values())
    return FlowPlan(
        name=graph.wiring.name,
        wiring=graph.wiring,
        root=slots.plans[graph.root],
        outputs=outputs,
        unused_policies=tuple(unused(slots.vertices)),
        has_limits=has_limits(slots.vertices),
        named_limits=tuple(named_limits(slots.vertices)),
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
    is_plain = all((len(feed.slots) == 1 or feed.many) and not feed.is_lazy for feed in feeds)
    outputs, label = slots.outputs(vertex), encode(vertex.id)
    taken = slots.failure_is_taken(scope, outputs.values())
    index = slots.index[vertex]
    return PlanNode(index, vertex.id, label, action, feeds, outputs, names_frame, taken, is_plain)


class _Laying:
    """Lays one vertex out: its feeds, then its action."""

    def __init__(self, slots: Slots, vertex: Vertex) -> None:
        self.slots = slots
        self.vertex = vertex
        self.races = isinstance(vertex.action, JoinAction) and vertex.action.mode is Join.RACE
        self.feeds = {name: self.feed(given) for name, given in vertex.inputs.items()}

    def feed(self, given: Input) -> Feed:
        port, scope = given.port, self.vertex.fires_in
        takes = port is not None and takes_failure(port.type)
        read = tuple(self.slots.read(wire, scope) for wire in given.wires)
        for slot in read if takes or self.races else ():
            self.slots.failure_uses[scope, slot] = self.slots.failure_uses.get((scope, slot), 0) + 1
        return Feed(
            given.name,
            read,
            tuple(wire.label for wire in given.wires),
            many=port is None or port.many,  # `$after` and the sources of a join take any number
            required=given.required,
            default=port.default if port is not None else None,
            check=port.type if given.checked and port is not None else None,
            takes_failure=takes,
            is_lazy=port is not None and port.lazy,
            is_constant=isinstance(self.vertex.action, CallAction) and is_constant(given),
            is_signal=given.name == AFTER or (port is not None and port.kind is PortKind.SIGNAL),
        )

    def action(self) -> tuple[Action, tuple[Feed, ...]]:
        feeds = tuple(self.feeds.values())
        match self.vertex.action:
            case CallAction(type=node_type):
                if node_type.flow is not None:
                    return self.flow(self.vertex.action, node_type.flow), feeds
                return self.call(self.vertex.action), feeds
            case JoinAction(mode=mode, how=how):
                return JoinOf(mode, how), feeds
            case LoopAction():
                return self.loop(self.vertex.action), feeds
            case MapAction():
                return self.map(self.vertex.action), feeds
            case CollectAction():
                raise AssertionError("a collect has become an output of its map")

    def call(self, action: CallAction) -> Call:
        node_type = action.type
        parameters = node_type.parameters
        positional = tuple(self.given(action, name) for name in parameters.positional)
        spread = {*parameters.positional, parameters.star}
        keywords = {name: self.given(action, name) for name in parameters.keywords}
        if parameters.open:
            configured = [name for name in node_type.inputs if name not in spread and name not in keywords]
            keywords |= {name: self.given(action, name) for name in configured}
        star = self.feeds.get(parameters.star) if parameters.star is not None else None
        is_plain = not keywords and AFTER not in self.feeds
        direct = _direct(positional, star) if is_plain else None
        return Call(
            node_type, action.policy, positional, keywords, star, direct, node_type.id in BRANCHES,
            bounds_of(action.policy),
        )  # fmt: skip

    def flow(self, action: CallAction, flow: Nested) -> FlowOf:
        plan, own = flow.compile(), self.slots.outputs(self.vertex)
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
        body, own = slots.plans[scope], slots.outputs(self.vertex)
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
        slots, body, own = self.slots, self.slots.plans[action.scope], self.slots.outputs(self.vertex)
        lists = {body.parameters[item]: self.feeds[port] for item, port in action.lists.items()}
        for name, wire in action.collects.items():
            slot = slots.read(wire, action.scope)
            body.collects[slot] = (*body.collects.get(slot, ()), own[name])
        return MapOf(body, action.options, lists)


def _direct(positional: Iterable[Feed | int], star: Feed | None) -> tuple[int, ...] | None:
    """Return the slots of the arguments if they need nothing but to be read."""
    found = []
    for given in positional:
        if isinstance(given, int):
            found.append(given)
        elif len(given.slots) == 1 and not given.many and given.check is None and not given.is_signal:
            found.append(given.slots[0])
        else:
            return None
    if star is None:
        return tuple(found)
    if not star.many or star.check is not None or star.is_signal:
        return None
    return (*found, *star.slots)
