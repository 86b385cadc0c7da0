"""The static checks of a graph: types, kinds, scopes and arities (S1.4, S1.7, S5.2)."""

from __future__ import annotations

from typing import Any, Literal, Union

from dataflow.agreement import NOT_ITERABLE, agrees, element_type, is_any, type_name
from dataflow.checking import check_json, check_value
from dataflow.errors import ValueMismatch
from dataflow.failure import Failure
from dataflow.graph import (
    CallAction,
    CollectAction,
    Constant,
    Graph,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Terminal,
    Vertex,
    Wire,
)
from dataflow.placeholders import is_no_constant
from dataflow.ports import DONE, ERROR, InPort, PortKind, Signal, kind_of
from dataflow.scoping import resolved, scope_of, wires_of, wires_within

__all__ = ["check"]


def check(graph: Graph, ordered: list[Vertex]) -> None:
    """Check every edge, in an order in which sources come first; problems go into the graph."""
    types = _Types(graph)
    for vertex in ordered:
        types.infer(vertex)
    checker = _Checker(graph, types)
    for vertex in ordered:
        checker.check(vertex)
    for name, wire in graph.outputs.items():
        checker.check_reach(wire, graph.root, f"output {name!r}")


class _Types:
    """The type that each terminal carries."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.known: dict[Terminal, object] = {
            Terminal(graph.root, name): given for name, given in graph.input_types.items()
        }

    def infer(self, vertex: Vertex) -> None:
        match vertex.action:
            case CallAction(type=node_type):
                for port in node_type.outputs.values():
                    passed = vertex.inputs.get(port.same_as) if port.same_as else None
                    self.known[Terminal(vertex, port.name)] = (
                        self.union(passed.wires) if passed else port.type
                    )
            case JoinAction(mode=mode):
                joined = self.union(vertex.inputs["sources"].wires)
                self.known[Terminal(vertex, "out")] = _list_of(joined) if mode is Join.GATHER else joined
            case LoopAction(scope=scope):
                for name, given in vertex.inputs.items():
                    self.known[Terminal(scope, name)] = self.carried(given)
            case MapAction(scope=scope, lists=lists):
                for item, name in lists.items():
                    self.known[Terminal(scope, item)] = self.item(vertex, name)
            case CollectAction():
                pass

    def of(self, terminal: Terminal) -> object:
        owner, port = terminal = resolved(terminal)
        if isinstance(owner, Constant):
            return _type_of_constant(owner.value)
        if port in (DONE, ERROR):
            return Signal if port == DONE else Failure
        if isinstance(owner, Vertex):
            action = owner.action
            if isinstance(action, LoopAction):
                if port in action.finals:
                    return self.known.get(Terminal(action.scope, action.finals[port]), Any)
                return self.of(action.results[port].source) if port in action.results else Any
            if isinstance(action, MapAction):
                return _list_of(self.of(action.collects[port].source)) if port in action.collects else Any
        return self.known.get(terminal, Any)

    def union(self, wires: list[Wire]) -> object:
        found = [self.of(wire.source) for wire in wires]
        if not found or any(is_any(one) for one in found):
            return Any
        try:
            return Union[tuple(found)]  # noqa: UP007 - of members known at run time only
        except TypeError:  # an annotation that cannot be a member of a union
            return Any

    def carried(self, given: Input) -> object:
        if not given.wires:
            return Any
        source = given.wires[0].source
        if isinstance(source.owner, Constant):  # what follows need not be equal, only of one type
            return Any if source.owner.value is None else type(source.owner.value)
        return self.of(source)

    def item(self, vertex: Vertex, port: str) -> object:
        for wire in vertex.inputs[port].wires:
            found = self.of(wire.source)
            if isinstance(wire.source.owner, Constant):
                found = type(wire.source.owner.value)
            item = element_type(found)
            if item is not NOT_ITERABLE:
                return item
            self.graph.problems.append(
                f"map of {vertex.id!r} goes over {wire.label}, which is {type_name(found)}; expected a list"
            )
        return Any


def _type_of_constant(value: object) -> object:
    if type(value) in (str, int, bool, bytes):
        return Literal[value]
    return type(value)


def _list_of(item: object) -> object:
    return list[item]  # type: ignore[valid-type]  # a type known at run time only


class _Checker:
    def __init__(self, graph: Graph, types: _Types) -> None:
        self.graph = graph
        self.types = types
        self.sure: dict[Vertex, bool] = {}
        wires = (wire for vertex in graph.vertices for wire in (*wires_of(vertex), *wires_within(vertex)))
        used = [wire.source for wire in (*wires, *graph.outputs.values())]
        self.routed = {owner for owner, port in used if port == ERROR}  # whose failures become skips (S9.3)

    def problem(self, text: str) -> None:
        self.graph.problems.append(text)

    def check(self, vertex: Vertex) -> None:
        if isinstance(vertex.action, CallAction):
            for given in vertex.inputs.values():
                self.check_input(vertex, given)
        self.sure[vertex] = self.is_sure(vertex)
        match vertex.action:
            case LoopAction():
                self.check_loop(vertex, vertex.action)
            case MapAction(named=True, scope=scope, collects=collects):
                for name, wire in collects.items():
                    self.check_reach(wire, scope, f"output '{vertex.id}.{name}'")

    # edges into ports

    def check_input(self, vertex: Vertex, given: Input) -> None:
        port = given.port
        if port is None:
            return
        where = f"port '{vertex.id}.{given.name}'"
        for wire in given.wires:
            if isinstance(wire.source.owner, Constant):
                self.check_constant(wire.source.owner, port, where)
            else:
                given.checked |= self.check_edge(wire, port, where)
        sure = [wire for wire in given.wires if self.is_sure_edge(wire.source)]
        if not port.many and len(sure) > 1:
            self.problem(
                f"{where} takes one value, but {sure[0].label} and {sure[1].label} both always bring one; "
                "use merge or gather"
            )

    def check_constant(self, constant: Constant, port: InPort, where: str) -> None:
        if is_no_constant(constant.value):  # told when it was wired
            return
        try:
            convert = check_json if constant.is_json else check_value
            constant.value = convert(constant.value, port.type)
        except ValueMismatch as mismatch:
            self.problem(f"{where}: {mismatch}")

    def check_edge(self, wire: Wire, port: InPort, where: str) -> bool:
        """Check one edge; tells whether its values are to be checked when they come."""
        found = self.types.of(wire.source)
        if port.kind is PortKind.SIGNAL:
            return False
        if is_any(found):
            return not is_any(port.type) and port.type is not object
        kind = kind_of(found)
        if kind is not port.kind:
            self.problem(f"{where} is a {port.kind.value} port, but {wire.label} is a {kind.value} port")
        elif not agrees(found, port.type):
            hint = self.hint(wire, found, port)
            self.problem(
                f"{where} expects {type_name(port.type)}, but {wire.label} is {type_name(found)}{hint}"
            )
        return False

    def hint(self, wire: Wire, found: object, port: InPort) -> str:
        """Say what is probably meant where two types do not agree."""
        scope = scope_of(wire.source)
        if scope is not None and scope.kind is ScopeKind.MAP and agrees(_list_of(found), port.type):
            return "; collect it first"
        if agrees(found, _list_of(port.type)):
            return "; wire each(...) to run once per item"
        return ""

    # scopes and loops

    def check_reach(self, wire: Wire, scope: Scope, reader: str) -> None:
        """Check that a terminal is seen from a scope, not inside a map that nothing has closed."""
        home = scope_of(wire.source)
        if home is not None and home not in scope.around():
            self.problem(f"{reader} reads {wire.label}, which is inside a map; collect it first")

    def check_loop(self, vertex: Vertex, action: LoopAction) -> None:
        for wire in wires_within(vertex):
            self.check_reach(wire, action.scope, f"loop {vertex.id!r}")
        for name, wire in action.nexts.items():
            expected, found = self.types.of(Terminal(action.scope, name)), self.types.of(wire.source)
            if not is_any(found) and not agrees(found, expected):
                self.problem(
                    f"next value of '$carry.{name}' in loop {vertex.id!r} is {type_name(found)}, "
                    f"but the port began as {type_name(expected)}"
                )
        test, wire_of_test = action.test, action.test_wire
        if test is None or wire_of_test is None:
            return
        found = self.types.of(wire_of_test.source)
        if test.function is None and not is_any(found) and not agrees(found, bool):
            reads = f"{wire_of_test.label}, which is {type_name(found)}"
            self.problem(f"the test of loop {vertex.id!r} reads {reads}; expected bool")
        if test.kind == "while" and wire_of_test.source.owner is not action.scope:
            self.problem(
                f"the test of loop {vertex.id!r} reads {wire_of_test.label}; `while` tests a carried port "
                "before the round, use `until` for what a round makes"
            )

    # S5.2: what always brings a value

    def is_sure(self, vertex: Vertex) -> bool:
        match vertex.action:
            case CallAction(policy=policy, type=node_type):
                if node_type.is_opaque or not policy.is_sure or vertex in self.routed:
                    return False
                required = [given for given in vertex.inputs.values() if given.required]
                if required:
                    return all(self.has_sure_edge(given) for given in required)
                return not vertex.inputs or any(self.has_sure_edge(given) for given in vertex.inputs.values())
            case JoinAction():
                return self.has_sure_edge(vertex.inputs["sources"])
            case LoopAction() | MapAction():
                return all(self.has_sure_edge(given) for given in vertex.inputs.values())
            case CollectAction():
                return False  # never asked: edges lead to the map's output

    def has_sure_edge(self, given: Input) -> bool:
        return any(self.is_sure_edge(wire.source) for wire in given.wires)

    def is_sure_edge(self, terminal: Terminal) -> bool:
        owner, port = resolved(terminal)
        match owner:
            case Constant():
                return True
            case Scope(owner=opener):
                return (
                    opener is None
                    or not isinstance(opener.action, LoopAction)
                    or any(self.is_sure_edge(wire.source) for wire in opener.inputs[port].wires)
                )
            case Vertex(action=CallAction(type=node_type)):
                declared = node_type.outputs.get(port)
                return (
                    self.sure.get(owner, False) and port != ERROR and not (declared and declared.conditional)
                )
            case Vertex(action=LoopAction(test=test, finals=finals, results=results)):
                if not self.sure.get(owner, False) or (
                    test is not None and test.kind == "while" and port in results
                ):
                    return False
                return port in finals or (port in results and self.is_sure_edge(results[port].source))
            case _:
                return self.sure.get(owner, False) and port != ERROR
