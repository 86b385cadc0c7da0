"""Check a resolved graph: port types and kinds, scopes, addresses and contexts."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_origin

from dataflow.builder.sources import cannot_be_constant
from dataflow.compiler.graph import (
    CallAction,
    Constant,
    Graph,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Spot,
    Terminal,
    Vertex,
    names_scope,
)
from dataflow.compiler.inference import Certainty, Exclusion, Types, list_of, or_failure, passed_on
from dataflow.compiler.scopes import resolved, scope_of, wires_within
from dataflow.core.inputs import ASK_ID, USER_INPUT_ID, note_secrets
from dataflow.core.ports import MISSING, InPort, OutPort, PortKind, kind_of, port_type
from dataflow.diagnostics.graphs import (
    DEFAULT_WITHOUT_OUT,
    INSIDE_A_MAP,
    NOT_CACHEABLE,
    PATH_TAKEN,
    PORT_KIND_MISMATCH,
    SEVERAL_VALUES,
    TWO_CONVERSATIONS,
    TYPE_MISMATCH,
    WHILE_READS_ITERATION,
)
from dataflow.diagnostics.wiring import VALUES_IN_LIST
from dataflow.errors import ValueMismatch
from dataflow.types.agreement import NOT_ITERABLE, agrees, element_type, holds_any, is_any, is_open, type_name
from dataflow.types.shapes import alternatives, bare, type_names, union_of
from dataflow.types.validation import check_json, check_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["check"]


def check(graph: Graph, ordered: list[Vertex]) -> None:
    """Check every edge; `ordered` has sources before their readers; problems go into the graph."""
    types, sureness = Types(graph), Certainty(graph)
    types.infer_whole(ordered)
    checker = _Checker(graph, types, sureness)
    for vertex in ordered:
        checker.check(vertex)
    _check_contexts(graph, ordered, types.of, sureness.routed)
    _check_addresses(graph)
    for name, given in graph.wiring.inputs.items():
        demands = tuple(graph.demands.get(Terminal(graph.root, name), ()))
        if demands != given.demands:
            graph.wiring.inputs[name] = replace(given, demands=demands)
    for name, wire in graph.outputs.items():
        checker.check_reach(wire, graph.root, Spot(f"outputs.{name}", graph.root, ("outputs", name), name))
        found = port_type(types.of(wire))
        sure = sureness.is_sure_edge(wire)
        passed = passed_on(wire, graph.root) if is_open(found) else None
        graph.output_ports[name] = OutPort(name, found, kind_of(found), conditional=not sure, same_as=passed)


class _Fitting(NamedTuple):
    """A type that fits another. References to both keep their ids unique."""

    type: object
    expected: object
    is_checked: bool  # values are checked on entry


class _Checker:
    def __init__(self, graph: Graph, types: Types, sureness: Certainty) -> None:
        self.graph = graph
        self.types = types
        self.sureness = sureness
        self.may_have_secrets = "pydantic.types" in sys.modules
        self.fitting: dict[tuple[int, int, int], _Fitting] = {}  # by the ids of both types and of the kind

    def check(self, vertex: Vertex) -> None:
        if isinstance(vertex.action, CallAction):
            for given in vertex.inputs.values():
                if given.port is not None:
                    self.check_input(vertex, given, given.port)
            if self.may_have_secrets and vertex.action.config is not None:
                note_secrets({"config": vertex.action.config})
            if vertex.action.policy.default is not MISSING:
                self.check_default(vertex, vertex.action)
            if vertex.action.memo is not None:
                self.check_memo(vertex, vertex.action)
        self.sureness.note(vertex)
        match vertex.action:
            case LoopAction():
                self.check_loop(vertex, vertex.action)
            case MapAction(named=True, scope=scope, collects=collects):
                for name, wire in collects.items():
                    spot = Spot(f"{vertex.id}.{name}", scope, ("outputs", name), name)
                    self.check_reach(wire, scope, spot)
            case _:
                pass

    def check_input(self, vertex: Vertex, given: Input, port: InPort) -> None:
        for wire in given.wires:
            if isinstance(wire.owner, Constant):
                self.check_constant(wire.owner, port, vertex.spot_of(given.name, given.steps))
            elif self.check_edge(wire, port, vertex, given):
                given.checked = True
        if (
            port.many or len(given.wires) < 2 or port.kind is PortKind.CONTEXT
        ):  # contexts are checked separately (S10.4)
            return
        sure = [wire for wire in given.wires if self.sureness.is_sure_edge(wire)]
        if len(sure) > 1:
            problem = SEVERAL_VALUES(first=sure[0].label, second=sure[1].label)
            self.graph.problem(problem, vertex.spot_of(given.name, given.steps))

    def check_constant(self, constant: Constant, port: InPort, where: Spot) -> None:
        if cannot_be_constant(constant.value):  # reported when it was wired
            return
        try:
            convert = check_json if constant.is_json else check_value
            constant.value = convert(constant.value, port.type)
        except ValueMismatch as mismatch:
            problem = mismatch.problem
            if port.many and isinstance(constant.value, list | tuple):
                problem = VALUES_IN_LIST(expected=problem.expected, found=problem.found)
            self.graph.problem(problem, where)
            return
        if self.may_have_secrets and type(constant.value) is not str:
            note_secrets({port.name: constant.value})

    def check_default(self, vertex: Vertex, action: CallAction) -> None:
        """Check the value that replaces the result of a failed node (S9.3)."""
        default, out = action.policy.default, action.type.outputs.get("out")
        spot = vertex.spot.part("policy.default", "policy", "default")
        if action.type.is_opaque:  # its ports are unknown
            return
        if out is None:
            self.graph.problem(DEFAULT_WITHOUT_OUT(available=action.type.outputs), spot)
            return
        try:
            check_value(default, port_type(self.types.of(Terminal(vertex, "out"))))
        except ValueMismatch as mismatch:
            self.graph.problem(mismatch.problem, spot)

    def check_memo(self, vertex: Vertex, action: CallAction) -> None:
        """Check that the outcomes of a node can be cached (S13.1)."""
        if action.type.flow is not None:
            problem = NOT_CACHEABLE(what="a subflow", advice="set `memo` for nodes of the subflow")
        elif action.type.id in (ASK_ID, USER_INPUT_ID):
            problem = NOT_CACHEABLE(what="a node that asks for a new value each time", advice="remove `memo`")
        elif action.policy.has_effect:
            problem = NOT_CACHEABLE(what="a node with an effect", advice="use memo='off', or remove `effect`")
        else:
            return
        self.graph.problem(problem, vertex.spot.part("policy.memo", "policy", "memo"))

    def check_edge(self, wire: Terminal, port: InPort, vertex: Vertex, given: Input) -> bool:
        """Check one edge; return whether its values are to be checked on entry."""
        if get_origin(port.type) is Annotated:
            self.graph.demands.setdefault(resolved(wire), []).append(port.type)
        found = self.types.of(wire)
        both = id(found), id(port.type), id(port.kind)
        known = self.fitting.get(both)
        if known is not None:
            return known.is_checked
        before = len(self.graph.problems)
        is_checked = self.compare(wire, found, port, vertex.spot_of(given.name, given.steps))
        if len(self.graph.problems) == before:
            self.fitting[both] = _Fitting(found, port.type, is_checked)
        return is_checked

    def compare(self, wire: Terminal, found: object, port: InPort, where: Spot) -> bool:
        """Compare the type of an edge with a port; return whether its values are to be checked on entry."""
        if port.kind is PortKind.SIGNAL:
            return False
        if is_any(found):
            return not is_any(port.type) and port.type is not object
        kind = kind_of(found)
        if kind is not port.kind:
            expected, given = f"a {port.kind.value} port", f"a {kind.value} port"
            problem = PORT_KIND_MISMATCH(expected=expected, found=given, source=wire.label)
            self.graph.problem(problem, where)
        elif not agrees(found, port.type):
            self.mismatch(wire, found, port.type, where, self.hint(wire, found, port))
        return holds_any(found) and not holds_any(port.type)

    def mismatch(
        self, wire: Terminal, found: object, expected: object, where: Spot, advice: str = ""
    ) -> None:
        """Report a source of another type than what reads it expects."""
        wanted, given = type_names(expected, found)
        problem = TYPE_MISMATCH(expected=wanted, found=given, source=wire.label, advice=advice)
        self.graph.problem(problem, where)

    def hint(self, wire: Terminal, found: object, port: InPort) -> str:
        """Suggest a fix for two types that do not agree."""
        scope = scope_of(wire)
        if scope is not None and scope.kind is ScopeKind.MAP and agrees(list_of(found), port.type):
            return "collect it first"
        if agrees(found, list_of(port.type)):
            if port.many:
                return "pass its values one by one, or use each(...) to run once per item"
            return "use each(...) to run once per item"
        item = element_type(port.type)
        if item is not NOT_ITERABLE and agrees(found, list_of(or_failure(item))):
            return "with on_error='collect' the list has a Failure for each failed item"
        rest = [one for one in alternatives(bare(found)) if one is not NoneType]
        if rest and len(rest) < len(alternatives(bare(found))) and agrees(union_of(rest), port.type):
            return "take None there, or return SKIP instead (Maybe) and use fallback(source, default)"
        return ""

    def check_reach(self, wire: Terminal, scope: Scope, reader: Spot) -> None:
        """Check that a terminal can be read from a scope, and is not inside a map that is not closed."""
        home = scope_of(wire)
        owner = wire.owner.owner if isinstance(wire.owner, Scope) else wire.owner
        if owner in self.graph.circling:  # its scope is not known, which is reported
            return
        if home is not None and home not in scope.around():
            self.graph.problem(INSIDE_A_MAP(source=wire.label), reader)

    def check_loop(self, vertex: Vertex, action: LoopAction) -> None:
        for wire in wires_within(vertex):
            self.check_reach(wire, action.scope, vertex.spot)
        if action.scope.is_lifted:  # its loop variables are compared with the ports that read them
            return
        for name, wire in action.nexts.items():
            expected, found = self.types.of(Terminal(action.scope, name)), self.types.of(wire)
            if not is_any(found) and not agrees(found, expected):
                spot = vertex.spot.part(f"carry.{name}.next", "loop", "carry", name, "next")
                self.mismatch(wire, found, expected, spot)
        test, wire_of_test = action.test, action.test_wire
        if test is None or wire_of_test is None:
            return
        spot = vertex.spot.part(test.kind, "loop", test.kind)
        found = self.types.of(wire_of_test)
        if test.function is None and not is_any(found) and not agrees(found, bool):
            self.mismatch(wire_of_test, found, bool, spot)
        if test.kind == "while" and wire_of_test.owner is not action.scope:
            self.graph.problem(WHILE_READS_ITERATION(source=wire_of_test.label), spot)


def _check_addresses(graph: Graph) -> None:
    """Refuse a node with the path of one inside the subflow that its map or loop is named after.

    Ids differ along nested blocks; only a subflow has separate ids.
    """
    naming = [(vertex, scopes) for vertex in graph.vertices if (scopes := list(_named_after(vertex)))]
    if not naming:
        return
    members: dict[Scope, list[Vertex]] = defaultdict(list)
    for vertex in graph.vertices:
        if vertex.scope is not None and not isinstance(vertex.action, JoinAction):
            members[vertex.scope].append(vertex)
    for named, scopes in naming:
        assert isinstance(named.action, CallAction), "a flow node"
        assert named.action.type.flow is not None, "as above"
        taken = named.action.type.flow.wiring.block.nodes.keys() - {named.id}
        for scope, vertex in ((at, one) for at in scopes for one in members[at] if one.id in taken):
            graph.problem(PATH_TAKEN(scope=scope.kind.value, owner=named.id), vertex.spot)


def _named_after(vertex: Vertex) -> Iterator[Scope]:
    """Yield the maps and loops that are named after a subflow, innermost first."""
    if isinstance(vertex.action, CallAction) and vertex.action.type.flow is not None:
        scope = vertex.scope
        while scope is not None and names_scope(vertex, scope.owner):
            yield scope
            scope = scope.owner.scope if scope.owner is not None else None


def _check_contexts(
    graph: Graph, ordered: Sequence[Vertex], type_of: Callable[[Terminal], object], routed: Iterable[object]
) -> None:
    """Check merged contexts, and refuse ports that could receive two conversations.

    `routed` are the vertices whose failures are wired.
    """
    together: Exclusion | None = None
    for vertex in ordered:
        if isinstance(vertex.action, JoinAction) and vertex.action.how is not None:
            for problem in _no_contexts(vertex, type_of):
                graph.problem(problem, vertex.spot)
        if isinstance(vertex.action, CallAction) and not vertex.action.has_context:
            continue
        for reader, wires in _meetings(vertex, type_of):
            together = together or Exclusion(ordered, routed)
            if (pair := together.first_pair(wires)) is not None:
                graph.problem(TWO_CONVERSATIONS(first=pair[0].label, second=pair[1].label), reader)


def _no_contexts(join: Vertex, type_of: Callable[[Terminal], object]) -> Iterator[Diagnostic]:
    for wire in join.inputs["sources"].wires:
        found = type_of(wire)
        if not is_any(found) and kind_of(found) is not PortKind.CONTEXT:
            yield TYPE_MISMATCH(
                expected="ExecutionContext", found=type_name(found), source=wire.label, advice=""
            )


def _meetings(vertex: Vertex, type_of: Callable[[Terminal], object]) -> Iterator[tuple[Spot, list[Terminal]]]:
    """Yield the ports that several conversations lead to."""
    match vertex.action:
        case CallAction():
            for given in vertex.inputs.values():
                if len(given.wires) > 1 and given.port is not None and given.port.kind is PortKind.CONTEXT:
                    yield vertex.spot_of(given.name, given.steps), given.wires
        case JoinAction(mode=Join.GATHER):
            wires = vertex.inputs["sources"].wires
            contexts = [wire for wire in wires if kind_of(type_of(wire)) is PortKind.CONTEXT]
            if len(contexts) > 1:
                yield vertex.spot, contexts
        case _:
            return
