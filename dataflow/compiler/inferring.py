"""Inferring: the type of the values that each terminal of a graph carries (S1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from dataflow.base.failure import Failure
from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Constant,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Terminal,
    Vertex,
)
from dataflow.compiler.scoping import resolved
from dataflow.core.ports import DONE, ERROR, MISSING, Signal, plain_type
from dataflow.types.agreement import NOT_ITERABLE, element_type, is_any, type_name

if TYPE_CHECKING:
    from dataflow.compiler.graph import Graph, Input, Scope
    from dataflow.core.policy import ItemErrors
    from dataflow.core.ports import OutPort

__all__ = ["Types", "list_of", "or_failure", "passed_on"]


class Types:
    """The type that each terminal carries."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.loose: set[Terminal] = set()  # carried ports that any value may come into
        self.known: dict[Terminal, object] = {
            Terminal(graph.root, name): given.type for name, given in graph.wiring.inputs.items()
        }

    def infer_whole(self, ordered: list[Vertex]) -> None:
        """Infer every type, in an order in which sources come first; problems go into the graph."""
        inferred = [
            vertex for vertex in ordered
            if not isinstance(vertex.action, CallAction) or vertex.action.is_inferred
        ]  # fmt: skip
        self._infer_all(inferred)
        while self._loosen(inferred):
            self._infer_all(inferred)

    def _infer_all(self, vertices: list[Vertex]) -> None:
        for vertex in vertices:
            self._infer(vertex)

    def _infer(self, vertex: Vertex) -> None:
        match vertex.action:
            case CallAction(type=node_type, policy=policy):
                for port in node_type.outputs.values():
                    passed = vertex.inputs.get(port.same_as) if port.same_as else None
                    found = self._union(passed.wires) if passed else port.type
                    self.known[Terminal(vertex, port.name)] = (
                        found if policy.errors != "collect" else or_failure(found)
                    )
            case JoinAction(mode=mode):
                joined = self._union(vertex.inputs["sources"].wires)
                self.known[Terminal(vertex, "out")] = list_of(joined) if mode is Join.GATHER else joined
            case LoopAction(scope=scope):
                for name, given in vertex.inputs.items():
                    carry = Terminal(scope, name)
                    self.known[carry] = Any if carry in self.loose else self._carried(given)
                for carry in self.loose & {Terminal(scope, name) for name in scope.labels}:
                    self.known[carry] = Any
            case MapAction(scope=scope, lists=lists, is_every=True):
                for item, name in lists.items():
                    self.known[Terminal(scope, item)] = self._union(vertex.inputs[name].wires)
            case MapAction(scope=scope, lists=lists):
                for item, name in lists.items():
                    self.known[Terminal(scope, item)] = self._item(vertex, name)
            case CollectAction():
                pass

    def of(self, terminal: Terminal) -> object:
        """Tell what a terminal carries, following what leaves loops and maps to where it comes from."""
        declared = _declared(terminal)
        return self._of_leaving(terminal) if declared is None else declared.type

    def _of_leaving(self, terminal: Terminal) -> object:
        left: list[tuple[ItemErrors, bool]] = []  # what items do that fail, and whether it is a list of them
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
                    left.append((action.options.on_error, port not in action.indexed))
                    terminal = action.collects[port]
                    continue
                if isinstance(action, LoopAction) and port in action.results:
                    left += [("fail", True)] if port in action.alls else []
                    terminal = action.results[port]
                    continue
                if isinstance(action, LoopAction) and port in action.finals:
                    terminal = Terminal(action.scope, action.finals[port])
                    continue
            break
        found = self._of_made(terminal)
        for on_error, is_list in reversed(left):  # the outmost last
            found = or_failure(found) if on_error == "collect" else found
            found = list_of(found) if is_list else found
        return found

    def _of_made(self, terminal: Terminal) -> object:
        owner, port = terminal
        if isinstance(owner, Constant):
            return _type_of_constant(owner.value)
        if port in (DONE, ERROR) and isinstance(owner, Vertex):
            return Signal if port == DONE else Failure
        declared = _declared(terminal)
        return self.known.get(terminal, Any) if declared is None else declared.type

    def _union(self, wires: list[Terminal]) -> object:
        found = [self.of(wire) for wire in wires]
        return _united(found) if found else Any

    def _carried(self, given: Input) -> object:
        if not given.wires:
            return Any
        source = given.wires[0]
        if isinstance(source.owner, Constant) and source.owner.value is None:  # what follows may be anything
            return Any
        return _widened(self.of(source))

    def _loosen(self, vertices: list[Vertex]) -> bool:
        """Make a carried port Any if a next value is; tells whether there was one, to infer once more."""
        found = False
        for vertex in vertices:
            action = vertex.action
            if not isinstance(action, LoopAction):
                continue
            for name, wire in action.nexts.items():
                carry = Terminal(action.scope, name)
                if name not in vertex.inputs:
                    found = self._feed_back(carry, wire) or found
                elif carry not in self.loose and is_any(self.of(wire)) and not is_any(self.of(carry)):
                    self.loose.add(carry)
                    found = True
        return found

    def _feed_back(self, carry: Terminal, wire: Terminal) -> bool:
        """Let what a feedback edge carries be of its source's type; of any, if that changes with it."""
        known, found = self.known.get(carry, MISSING), self.of(wire)
        if carry in self.loose or known == found:
            return False
        self.known[carry] = found
        if known is not MISSING:
            self.known[carry] = Any
            self.loose.add(carry)
        return True

    def _item(self, vertex: Vertex, port: str) -> object:
        for wire in vertex.inputs[port].wires:
            found = self.of(wire)
            if isinstance(wire.owner, Constant):
                found = type(wire.owner.value)
            item = element_type(found)
            if item is not NOT_ITERABLE:
                return item
            self.graph.problem(
                f"map of {vertex.id!r} goes over {wire.label}, which is {type_name(found)}; expected a list",
                vertex.spot,
            )
        return Any


def _declared(terminal: Terminal) -> OutPort | None:
    """Return the port of a node whose type says all of it, as that of most nodes does."""
    owner, port = terminal
    if isinstance(owner, Vertex):
        action = owner.action
        if isinstance(action, CallAction) and not action.is_inferred:
            return action.type.outputs.get(port)
    return None


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


def passed_on(wire: Terminal, root: Scope) -> str | None:
    """Name the input of a flow whose value an output of it is, passed on by nodes as it came."""
    seen = set[Terminal]()
    while wire not in seen:  # a cycle is told elsewhere
        seen.add(wire)
        owner, port = wire
        if owner is root:
            return port
        if not isinstance(owner, Vertex) or not isinstance(owner.action, CallAction):
            return None
        declared = owner.action.type.outputs.get(port)
        passed = owner.inputs.get(declared.same_as) if declared and declared.same_as else None
        if passed is None or len(passed.wires) != 1 or owner.action.policy.errors == "collect":
            return None
        wire = passed.wires[0]
    return None


def or_failure(item: object) -> object:
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


def list_of(item: object) -> object:
    """Return the type of a list of such items."""
    return list[item]  # type: ignore[valid-type]  # a type known at run time only
