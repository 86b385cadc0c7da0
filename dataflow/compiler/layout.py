"""Lay out a graph as a plan: nodes, feeds, memo slots, and summaries of settings."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Graph,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Vertex,
    is_given,
    names_scope,
)
from dataflow.compiler.plan import (
    Call,
    Feed,
    FlowOf,
    FlowPlan,
    JoinOf,
    LoopOf,
    MapOf,
    MemoSlots,
    PlanNode,
    nested_plan,
)
from dataflow.compiler.readers import connect
from dataflow.compiler.slots import Slots
from dataflow.core.attempts import bounds_of
from dataflow.core.config_parts import config_copy
from dataflow.core.policy import CLEANUP, NO_POLICY, Policy
from dataflow.core.ports import MISSING, PortKind
from dataflow.core.wiring import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dataflow.compiler.graph import Action as GraphAction
    from dataflow.compiler.plan import Action, ScopePlan
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import Reach
    from dataflow.core.wiring import Nested

__all__ = ["inputs_of_call", "lay_out", "size_of"]

AFTER: Final = "$after"
#: The keyword arguments of most calls, shared.
NO_KEYWORDS: Final[Mapping[str, Feed | int]] = MappingProxyType({})


def lay_out(graph: Graph, ordered: list[Vertex]) -> FlowPlan:
    """Lay out a checked graph as plans of its scopes."""
    slots = Slots(graph, ordered)
    nodes: dict[Vertex, PlanNode] = {}
    for vertex in slots.vertices:
        nodes[vertex] = _node(slots, vertex)
        vertex.inputs.clear()  # release them, so that only the plan is kept
    outputs = {name: slots.read(wire, graph.root) for name, wire in graph.outputs.items()}
    for scope, plan in slots.plans.items():
        plan.nodes = tuple([nodes[vertex] for vertex in slots.members[scope]])
        for node in plan.nodes if slots.failure_uses else ():
            node.failure_is_taken = slots.failure_is_taken(scope, node.outputs.values())
    connect(slots, outputs.values())
    _note_memo_slots(slots.plans.values())
    configured = []  # most flows have no settings
    if any(map(_has_settings, slots.actions)):
        configured = [vertex for vertex in slots.vertices if _has_settings(vertex.action)]
    return FlowPlan(
        name=graph.wiring.name,
        wiring=graph.wiring,
        root=slots.plans[graph.root],
        outputs=outputs,
        unused_policies=tuple(_unused(configured)),
        memos=_memos(configured),
        size=size_of(slots.vertices),
        has_limits=_has_limits(configured),
        named_limits=tuple(_named_limits(configured)),
    )


def _node(slots: Slots, vertex: Vertex) -> PlanNode:
    """Lay out one vertex: its feeds, then its action."""
    feeds = {name: _feed(slots, vertex, given) for name, given in vertex.inputs.items()}
    given = tuple(feeds.values())
    action = _action(slots, vertex, feeds, given)
    is_plain = True
    for feed in given:
        if feed.is_lazy or not (feed.many or len(feed.slots) == 1):
            is_plain = False
    if isinstance(action, MapOf) and action.is_every:
        is_plain = False
    opener, label = vertex.fires_in.owner, encode(vertex.id)
    names_frame = names_scope(vertex, opener)
    demands = slots.graph.demands_on(vertex) if slots.graph.demands else None
    return PlanNode(
        vertex.index, vertex.id, label, action, given, vertex.slots, names_frame, False, is_plain, demands
    )


def _feed(slots: Slots, vertex: Vertex, given: Input) -> Feed:
    port, scope = given.port, vertex.fires_in
    read, labels = slots.read_all(given.wires, scope)
    if port is None:  # `$after`, the sources of a join, the inputs of a loop or map
        return _open_feed(slots, vertex, given, read, labels)
    if port.takes_failure:
        slots.note_failure_uses(scope, read)
    return Feed(
        given.name,
        tuple(read),
        tuple(labels),
        port.many,
        given.required,
        port.default,
        port.type if given.checked else None,
        port.takes_failure,
        port.kind is PortKind.SIGNAL,
        port.lazy,
        is_given(given, scope, slots.joins),
    )


def _open_feed(slots: Slots, vertex: Vertex, given: Input, read: list[int], labels: list[str]) -> Feed:
    """Lay out a port that accepts any value, from any number of edges."""
    action = vertex.action
    if isinstance(action, JoinAction) and action.mode is Join.RACE:
        slots.note_failure_uses(vertex.fires_in, read)
    return Feed(
        given.name,
        tuple(read),
        tuple(labels),
        many=True,
        required=given.required,
        is_signal=given.name == AFTER,
        is_given=is_given(given, vertex.fires_in, slots.joins),
    )


def _action(slots: Slots, vertex: Vertex, feeds: Mapping[str, Feed], in_order: tuple[Feed, ...]) -> Action:
    match vertex.action:
        case CallAction(type=node_type) as action:
            names, parameters = tuple(feeds), node_type.parameters
            if action.takes_in_order and names == parameters.positional:
                return _call(action, in_order)
            if action.takes_in_order and names == (*parameters.positional, parameters.star):
                return _call(action, in_order[:-1], star=in_order[-1])
            layout = _CallLayout(slots, vertex, action, feeds)
            return layout.call() if node_type.flow is None else layout.flow(node_type.flow)
        case JoinAction(mode=mode, how=how):
            return JoinOf(mode, how)
        case LoopAction() as loop:
            return _loop(slots, vertex, loop)
        case MapAction() as opened:
            return _map(slots, vertex, opened, feeds)
        case CollectAction():
            raise AssertionError("a collect has become an output of its map")


def _call(
    action: CallAction,
    positional: tuple[Feed | int, ...],
    keywords: Mapping[str, Feed | int] = NO_KEYWORDS,
    star: Feed | None = None,
    *,
    has_more: bool = False,
) -> Call:
    direct = None if has_more or keywords else _direct(positional, star)
    if action.gives_secrets is None:
        action.gives_secrets = "pydantic.types" in sys.modules and _gives_secrets(action.type)
    return Call(
        action.type, action.policy, action, positional, keywords, star, direct, action.exits,
        action.bounds, action.is_simple, action.is_single and not action.gives_secrets, action.memo,
        gives_secrets=action.gives_secrets,
    )  # fmt: skip


def _gives_secrets(node_type: NodeType) -> bool:
    from dataflow.values.classes import holds_secrets  # few programs have such secrets

    return holds_secrets(port.type for port in node_type.outputs.values())


class _CallLayout:
    """Lays out a call or a subflow with the feeds of its ports."""

    __slots__ = ("action", "feeds", "slots", "vertex")

    def __init__(self, slots: Slots, vertex: Vertex, action: CallAction, feeds: Mapping[str, Feed]) -> None:
        self.slots = slots
        self.vertex = vertex
        self.action = action
        self.feeds = feeds

    def call(self) -> Call:
        feeds, node_type = self.feeds, self.action.type
        parameters = node_type.parameters
        positional = tuple([feeds.get(name) or self.constant(name) for name in parameters.positional])
        keywords: Mapping[str, Feed | int] = NO_KEYWORDS
        if parameters.keywords or parameters.open:
            spread = {*parameters.positional, parameters.star}
            configured = [name for name in node_type.inputs if name not in spread] if parameters.open else []
            names = dict.fromkeys((*parameters.keywords, *configured))
            keywords = {name: feeds.get(name) or self.constant(name) for name in names}
        star = None if parameters.star is None else feeds.get(parameters.star)
        copied = self.copied(positional, keywords)
        has_more = AFTER in feeds or copied is not None
        made = _call(self.action, positional, keywords, star, has_more=has_more)
        made.copied = copied
        return made

    def copied(self, positional: Sequence[Feed | int], keywords: Mapping[str, Feed | int]) -> int | None:
        """Return the slot of a config that a node of a user could change; our own nodes change none."""
        action, name = self.action, self.action.type.parameters.config_name
        if name is None or config_copy(action.config) is action.config:
            return None
        from dataflow.values.functions import is_own  # few configs have containers

        if is_own(action.type.function):
            return None
        parameters = action.type.parameters.positional
        slot = keywords[name] if name in keywords else positional[parameters.index(name)]
        return slot if isinstance(slot, int) else None

    def flow(self, flow: Nested) -> FlowOf:
        action, plan, own = self.action, nested_plan(flow), self.vertex.slots
        inputs = {
            plan.root.parameters[name]: self.feeds.get(name) or self.constant(name)
            for name in action.type.inputs
        }
        results = {own[name]: slot for name, slot in plan.outputs.items()}
        bounds = bounds_of(action.policy.over(Policy(timeout=flow.settings.timeout or MISSING)))
        return FlowOf(plan, flow.settings, action.policy, bounds, inputs, results)

    def constant(self, name: str) -> int:
        """Return the slot of a parameter without edges: the config, or its default."""
        slots, scope, node_type = self.slots, self.vertex.fires_in, self.action.type
        if name == node_type.parameters.config_name:
            return slots.new(scope, "config", self.action.config)
        return slots.new(scope, "a default", node_type.inputs[name].default)


def _loop(slots: Slots, vertex: Vertex, action: LoopAction) -> LoopOf:
    scope, block, test = action.scope, action.block, action.test
    body, own = slots.plans[scope], vertex.slots
    carried = {name: (body.parameters[name], slots.read(wire, scope)) for name, wire in action.nexts.items()}
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
        shown={own[name]: slots.slot_of(wire, scope) for name, wire in action.shown.items()},
        feedback=frozenset(name for name in scope.labels if name not in vertex.inputs),
    )


def _map(slots: Slots, vertex: Vertex, action: MapAction, feeds: Mapping[str, Feed]) -> MapOf:
    body, own = slots.plans[action.scope], vertex.slots
    lists = {body.parameters[item]: feeds[port] for item, port in action.lists.items()}
    for name, wire in action.collects.items():
        slot = slots.read(wire, action.scope)
        body.collects[slot] = (*body.collects.get(slot, ()), own[name])
    around, left = slots.plans[vertex.fires_in], action.indexed.intersection(action.collects)
    around.indexed |= {own[name] for name in left}
    early = frozenset(own[name] for name in action.early.intersection(action.collects))
    return MapOf(body, action.options, lists, action.is_every, early)


def _direct(positional: Sequence[Feed | int], star: Feed | None) -> tuple[int, ...] | None:
    """Return the slots of the arguments if these are read without conversion, else None."""
    found: list[int] = []
    for given in positional:
        if isinstance(given, int):
            found.append(given)
        elif len(given.slots) != 1 or given.many or given.check is not None or given.is_signal:
            return None
        elif len(positional) == 1 and star is None:
            return given.slots
        else:
            found.append(given.slots[0])
    if star is None:
        return tuple(found)
    return (*found, *star.slots) if star.many and star.check is None and not star.is_signal else None


def _has_settings(action: GraphAction) -> bool:
    """Return whether an action has settings, or is a subflow, which may have some."""
    return isinstance(action, CallAction) and (action.policy is not NO_POLICY or action.type.flow is not None)


def _has_limits(vertices: Iterable[Vertex]) -> bool:
    """Return whether a node, or one of a subflow, has a limit."""
    return any(
        action.policy.limit not in (MISSING, None) or (flow is not None and nested_plan(flow).has_limits)
        for _, action, flow in _calls(vertices)
    )


def _named_limits(vertices: Iterable[Vertex]) -> Iterator[tuple[str, str]]:
    """Pair each node with the name of its limit, if the flow itself or its run must define it (S15.1)."""
    for node, action, flow in _calls(vertices):
        if isinstance(action.policy.limit, str):
            yield node, action.policy.limit
        if flow is not None:
            known = flow.settings.limits or {}
            inner = nested_plan(flow).named_limits
            yield from ((f"{node}/{path}", limit) for path, limit in inner if limit not in known)


def _memos(vertices: Iterable[Vertex]) -> frozenset[Reach]:
    """Return the cache scopes of the nodes, including those of subflows (S13.1)."""
    found: set[Reach] = set()
    for _, action, flow in _calls(vertices):
        if flow is not None:
            found |= nested_plan(flow).memos
        elif action.memo is not None:
            found.add(action.memo.reach)
    return frozenset(found)


def _unused(vertices: Iterable[Vertex]) -> Iterator[str]:
    """Name the settings of subflows that have no effect because they apply to whole runs."""
    for node, _, flow in _calls(vertices):
        if flow is not None:
            yield from nested_plan(flow).unused_policies
            if flow.settings.max_concurrency is not None:
                yield f"max_concurrency of the flow of node {node!r}"
            if flow.settings.check_values:
                yield f"check_values of the flow of node {node!r}"
            if not flow.settings.keep:
                yield f"keep of the flow of node {node!r}"
            if flow.settings.cleanup != CLEANUP:
                yield f"cleanup of the flow of node {node!r}"
            if flow.settings.memo is not None:
                yield f"memo of the flow of node {node!r}"
            if flow.settings.telemetry is not None:
                yield f"telemetry of the flow of node {node!r}"
            if flow.settings.progress:
                yield f"progress of the flow of node {node!r}"


def _calls(vertices: Iterable[Vertex]) -> Iterator[tuple[str, CallAction, Nested | None]]:
    for vertex in vertices:
        if isinstance(vertex.action, CallAction):
            yield vertex.id, vertex.action, vertex.action.type.flow


def size_of(vertices: Sequence[Vertex]) -> int:
    """Count the nodes, those of a subflow for each use of it; what was not inspected counts as one."""
    flows = [flow for _, _, flow in _calls(vertices) if flow is not None and not flow.opaque]
    return len(vertices) + sum(nested_plan(flow).size for flow in flows)


def _note_memo_slots(plans: Iterable[ScopePlan]) -> None:
    """Record the inputs of nodes with a memo in the connected scopes of a flow, if there are any."""
    scopes = list(plans)
    if any(_is_remembered(node) for plan in scopes for node in plan.nodes):
        for plan in scopes:
            outer = {own: slot for slot, own in plan.imports}
            reads = {node.index: found for node in plan.nodes if (found := _reads(node)) is not None}
            plan.memo = MemoSlots(outer, _unread(plan), reads)


def _is_remembered(node: PlanNode) -> bool:
    return isinstance(node.action, Call) and node.action.memo is not None


def _is_stored(node: PlanNode) -> bool:
    return (
        isinstance(node.action, Call) and node.action.memo is not None and node.action.memo.reach == "store"
    )


def inputs_of_call(call: Call) -> Iterator[tuple[str, Feed | int]]:
    """Yield the input ports of a call without its config, in any order."""
    parameters = call.type.parameters
    named = (*zip(parameters.positional, call.positional, strict=False), *call.keywords.items())
    yield from (pair for pair in named if pair[0] != parameters.config_name)
    if call.star is not None:
        yield parameters.star or "", call.star


def _reads(node: PlanNode) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
    """Return the ports and slots of the inputs of a node with a memo, if each is the value of one slot."""
    if not isinstance(node.action, Call) or node.action.memo is None:
        return None
    reads: dict[str, int] = {}
    for port, given in inputs_of_call(node.action):
        if isinstance(given, int):
            reads[port] = given
        elif given.many or len(given.slots) != 1 or given.check is not None or given.is_signal:
            return None
        else:
            reads[port] = given.slots[0]
    ports = tuple(sorted(reads))
    return ports, tuple([reads[port] for port in ports])


def _unread(plan: ScopePlan) -> frozenset[int]:
    """Find the slots whose values may stay in the store, since only calls that may be there too read them.

    All other dependents of a slot are in one of the tables of the plan. A value that is checked on entry to
    a port has to be loaded; lazy ports request values in another way.
    """
    checked = {slot for node in plan.nodes for feed in node.feeds if feed.check for slot in feed.slots}
    elsewhere = {*checked, *plan.collects, *plan.at_end, *plan.settled}
    return frozenset(
        slot
        for node in plan.nodes
        if _is_stored(node)
        for slot in node.outputs.values()
        if not plan.has_other_readers[slot]
        and slot not in elsewhere
        and plan.readers[slot]
        and all(_is_stored(plan.nodes[reader]) for reader in plan.readers[slot])
    )
