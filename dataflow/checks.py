"""The static checks of a graph: types, kinds, scopes and arities (S1.4, S1.7, S5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from dataflow.agreement import NOT_ITERABLE, agrees, element_type, is_any, type_name
from dataflow.checking import check_json, check_value
from dataflow.context_checks import check_contexts
from dataflow.errors import ValueMismatch, choices
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
from dataflow.ports import DONE, ERROR, MISSING, InPort, OutPort, PortKind, Signal, kind_of, plain_type
from dataflow.scoping import resolved, scope_of, wires_of, wires_within

if TYPE_CHECKING:
    from dataflow.policy import ItemErrors

__all__ = ["check"]


def check(graph: Graph, ordered: list[Vertex]) -> None:
    """Check every edge, in an order in which sources come first; problems go into the graph."""
    types = _Types(graph)
    types.infer_all(ordered)
    while types.loosen(ordered):
        types.infer_all(ordered)
    checker = _Checker(graph, types)
    for vertex in ordered:
        checker.check(vertex)
    check_contexts(graph, ordered, types.of)
    for name, wire in graph.outputs.items():
        checker.check_reach(wire, graph.root, f"output {name!r}")
        found = plain_type(types.of(wire.source))
        sure = checker.is_sure_edge(wire.source)
        graph.output_ports[name] = OutPort(name, found, kind_of(found), conditional=not sure)


class _Types:
    """The type that each terminal carries."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.loose: set[Terminal] = set()  # carried ports that any value may come into
        self.known: dict[Terminal, object] = {
            Terminal(graph.root, name): given.type for name, given in graph.wiring.inputs.items()
        }

    def infer_all(self, ordered: list[Vertex]) -> None:
        for vertex in ordered:
            self.infer(vertex)

    def infer(self, vertex: Vertex) -> None:
        match vertex.action:
            case CallAction(type=node_type, policy=policy):
                for port in node_type.outputs.values():
                    passed = vertex.inputs.get(port.same_as) if port.same_as else None
                    found = self.union(passed.wires) if passed else port.type
                    self.known[Terminal(vertex, port.name)] = (
                        found if policy.errors != "collect" else _or_failure(found)
                    )
            case JoinAction(mode=mode):
                joined = self.union(vertex.inputs["sources"].wires)
                self.known[Terminal(vertex, "out")] = _list_of(joined) if mode is Join.GATHER else joined
            case LoopAction(scope=scope):
                for name, given in vertex.inputs.items():
                    carry = Terminal(scope, name)
                    self.known[carry] = Any if carry in self.loose else self.carried(given)
            case MapAction(scope=scope, lists=lists):
                for item, name in lists.items():
                    self.known[Terminal(scope, item)] = self.item(vertex, name)
            case CollectAction():
                pass

    def of(self, terminal: Terminal) -> object:
        """Tell what a terminal carries, following what leaves loops and maps to where it comes from."""
        lists: list[ItemErrors] = []  # what items do that fail, for each list around it, outmost first
        seen = set[Terminal]()
        while True:
            terminal = resolved(terminal)
            if terminal in seen:  # it reads itself, which is told elsewhere
                return Any
            seen.add(terminal)
            owner, port = terminal
            if isinstance(owner, Vertex) and port not in (DONE, ERROR):
                action = owner.action
                if isinstance(action, MapAction) and port in action.collects:
                    lists.append(action.options.on_error)
                    terminal = action.collects[port].source
                    continue
                if isinstance(action, LoopAction) and port in action.results:
                    lists += ["fail"] if port in action.alls else []
                    terminal = action.results[port].source
                    continue
                if isinstance(action, LoopAction) and port in action.finals:
                    terminal = Terminal(action.scope, action.finals[port])
                    continue
            break
        found = self.of_made(terminal)
        for on_error in reversed(lists):
            found = _list_of(_or_failure(found) if on_error == "collect" else found)
        return found

    def of_made(self, terminal: Terminal) -> object:
        owner, port = terminal
        if isinstance(owner, Constant):
            return _type_of_constant(owner.value)
        if port in (DONE, ERROR) and isinstance(owner, Vertex):
            return Signal if port == DONE else Failure
        return self.known.get(terminal, Any)

    def union(self, wires: list[Wire]) -> object:
        found = [self.of(wire.source) for wire in wires]
        return _united(found) if found else Any

    def carried(self, given: Input) -> object:
        if not given.wires:
            return Any
        source = given.wires[0].source
        if isinstance(source.owner, Constant) and source.owner.value is None:  # what follows may be anything
            return Any
        return _widened(self.of(source))

    def loosen(self, ordered: list[Vertex]) -> bool:
        """Make a carried port Any if a next value is; tells whether there was one, to infer once more."""
        found = False
        for vertex in ordered:
            action = vertex.action
            if not isinstance(action, LoopAction):
                continue
            for name, wire in action.nexts.items():
                carry = Terminal(action.scope, name)
                if carry not in self.loose and is_any(self.of(wire.source)) and not is_any(self.of(carry)):
                    self.loose.add(carry)
                    found = True
        return found

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


#: Marks the type of a constant, which is exact where the constant is wired and wide where it is carried on.
_EXACT: Final = "dataflow: of a constant"


def _type_of_constant(value: object) -> object:
    if type(value) in (str, int, bool, bytes):
        return Annotated[Literal[value], _EXACT]
    return type(value)


def _widened(annotation: object) -> object:
    """Let the type of a constant be that of all values like it."""
    if get_origin(annotation) is Annotated and _EXACT in get_args(annotation)[1:]:
        return type(get_args(plain_type(annotation))[0])
    if get_origin(annotation) is Union:
        return Union[tuple(_widened(one) for one in get_args(annotation))]  # noqa: UP007 - known at run time only
    return annotation


def _or_failure(item: object) -> object:
    """Return the type of what may be a failure: a collected item, an output of a flow (S7.2, S7.3)."""
    try:
        return Union[item, Failure]  # noqa: UP007 - known at run time only
    except TypeError:  # an annotation that cannot be a member of a union
        return Any


def _united(members: list[object]) -> object:
    if any(is_any(one) for one in members):
        return Any
    try:
        return Union[tuple(members)]  # noqa: UP007 - of members known at run time only
    except TypeError:  # an annotation that cannot be a member of a union
        return Any


def _list_of(item: object) -> object:
    return list[item]  # type: ignore[valid-type]  # a type known at run time only


class _Checker:
    def __init__(self, graph: Graph, types: _Types) -> None:
        self.graph = graph
        self.types = types
        self.sure: dict[Vertex, bool] = {}
        self.sure_carries: dict[Terminal, bool] = {}  # carried ports that begin with a value in any case
        wires = (wire for vertex in graph.vertices for wire in (*wires_of(vertex), *wires_within(vertex)))
        used = [wire.source for wire in (*wires, *graph.outputs.values())]
        self.routed = {owner for owner, port in used if port == ERROR}  # whose failures become skips (S9.3)

    def problem(self, text: str) -> None:
        self.graph.problems.append(text)

    def check(self, vertex: Vertex) -> None:
        if isinstance(vertex.action, CallAction):
            for given in vertex.inputs.values():
                self.check_input(vertex, given)
            self.check_default(vertex, vertex.action)
        self.sure[vertex] = self.is_sure(vertex)
        match vertex.action:
            case LoopAction(scope=body):
                for name, given in vertex.inputs.items():
                    self.sure_carries[Terminal(body, name)] = self.has_sure_edge(given)
                self.check_loop(vertex, vertex.action)
            case MapAction(named=True, scope=scope, collects=collects):
                for name, wire in collects.items():
                    self.check_reach(wire, scope, f"output '{vertex.id}.{name}'")
            case _:
                pass

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
        if not port.many and len(sure) > 1 and port.kind is not PortKind.CONTEXT:  # told of them with S10.4
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

    def check_default(self, vertex: Vertex, action: CallAction) -> None:
        """Check the value that stands in for the result of a failed node (S9.3)."""
        default, out = action.policy.default, action.type.outputs.get("out")
        if default is MISSING:
            return
        if out is None:
            ports = choices(action.type.outputs)
            self.problem(f"default of node {vertex.id!r} is for its port 'out', which there is not; {ports}")
            return
        try:
            check_value(default, out.type)
        except ValueMismatch as mismatch:
            self.problem(f"default of node {vertex.id!r}: {mismatch}")

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
        item = element_type(port.type)
        if item is not NOT_ITERABLE and agrees(found, _list_of(_or_failure(item))):
            return "; with on_error='collect' a failed item leaves a Failure in the list"
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
                return vertex not in self.routed and all(
                    self.has_sure_edge(given) for given in vertex.inputs.values()
                )
            case CollectAction():
                return False  # never asked: edges lead to the map's output

    def has_sure_edge(self, given: Input) -> bool:
        return any(self.is_sure_edge(wire.source) for wire in given.wires)

    def is_sure_edge(self, terminal: Terminal) -> bool:
        """Tell whether a terminal always brings a value, following what leaves loops."""
        seen: set[Terminal] = set()
        while True:
            owner, port = terminal = resolved(terminal)
            if terminal in seen:
                return False
            seen.add(terminal)
            match owner:
                case Constant():
                    return True
                case Scope():
                    return self.sure_carries.get(terminal, True)
                case Vertex(action=CallAction(type=node_type)):
                    declared = node_type.outputs.get(port)
                    is_conditional = port == ERROR or (declared is not None and declared.conditional)
                    return self.sure.get(owner, False) and not is_conditional
                case Vertex(action=LoopAction(test=test, finals=finals, results=results, alls=alls)):
                    if port in alls:
                        return self.sure.get(owner, False)
                    may_not_run = test is not None and test.kind == "while"
                    if not self.sure.get(owner, False) or (port in results and may_not_run):
                        return False
                    if port not in results:
                        return port in finals
                    terminal = results[port].source
                case _:
                    return self.sure.get(owner, False) and port != ERROR
