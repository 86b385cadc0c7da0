"""Infer what is known of each value before a run: its type, whether it always exists, and exclusions."""

from __future__ import annotations

from itertools import combinations
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
)

from dataflow.base.failure import Failure
from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Constant,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    Terminal,
    Vertex,
)
from dataflow.compiler.scopes import every_wire, resolved
from dataflow.core.ports import DONE, ERROR, MISSING, Signal, plain_type
from dataflow.diagnostics.graphs import TYPE_MISMATCH
from dataflow.types.agreement import NOT_ITERABLE, bind_variables, element_type, is_any, type_name
from dataflow.types.shapes import filled, has_variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataflow.compiler.graph import Graph
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import ItemErrors
    from dataflow.core.ports import OutPort

__all__ = ["Certainty", "Exclusion", "Types", "list_of", "or_failure", "passed_on"]

#: A longer constant does not bind the type of its items.
MOST_ITEMS: Final = 100
#: Marks the type of a constant: exact where it is wired, widened where it becomes a loop variable.
_EXACT: Final = "dataflow: of a constant"


class Types:
    """The type that each terminal carries."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.loose: set[Terminal] = set()  # loop variables of type Any
        self.known: dict[Terminal, object] = {
            Terminal(graph.root, name): given.type for name, given in graph.wiring.inputs.items()
        }

    def infer_whole(self, ordered: list[Vertex]) -> None:
        """Infer every type; `ordered` has sources before their readers; problems go into the graph."""
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
                    found = self._union(passed.wires) if passed else self._bound(vertex, node_type, port.type)
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

    def _bound(self, vertex: Vertex, node_type: NodeType, annotation: object) -> object:
        """Return the type of an output with its type variables bound by what the inputs read."""
        if not has_variables(annotation):
            return annotation
        bound: dict[object, list[object]] = {}
        for name, port in node_type.inputs.items():
            if has_variables(port.type) and (given := vertex.inputs.get(name)) is not None:
                for wire in given.wires:
                    bind_variables(port.type, self._of_items(wire), bound)
        return filled(annotation, {variable: _united(found) for variable, found in bound.items()})

    def _of_items(self, wire: Terminal) -> object:
        """Return the type of a terminal, of a list of constants with that of its items."""
        owner = wire.owner
        if not isinstance(owner, Constant) or type(owner.value) not in (list, tuple, set, dict):
            return self.of(wire)
        kind: Any = type(owner.value)
        groups = [owner.value.keys(), owner.value.values()] if kind is dict else [owner.value]
        if not owner.value or len(owner.value) > MOST_ITEMS:
            return kind
        items = [_united([_type_of_constant(item) for item in group]) for group in groups]
        return kind[(*items, ...)] if kind is tuple else kind[tuple(items)]

    def of(self, terminal: Terminal) -> object:
        """Return the type of a terminal, following outputs of loops and maps to their sources."""
        declared = _declared(terminal)
        return self._of_leaving(terminal) if declared is None else declared.type

    def _of_leaving(self, terminal: Terminal) -> object:
        # what a failing item does, and whether it is a list of items
        left: list[tuple[ItemErrors, bool]] = []
        seen = set[Terminal]()
        while True:
            terminal = resolved(terminal)
            if terminal in seen:  # it reads itself, which is reported elsewhere
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
        for on_error, is_list in reversed(left):  # outermost last
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
        if isinstance(source.owner, Constant) and source.owner.value is None:  # next values may be anything
            return Any
        return _widened(self.of(source))

    def _loosen(self, vertices: list[Vertex]) -> bool:
        """Make a loop variable Any if a next value is; return whether there was one, to infer again."""
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
        """Give a loop variable of a feedback edge the type of its source; Any if that depends on it."""
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
            problem = TYPE_MISMATCH(expected="a list", found=type_name(found), source=wire.label, advice="")
            self.graph.problem(problem, vertex.spot)
        return Any


def _declared(terminal: Terminal) -> OutPort | None:
    """Return the port of a node whose declared type is exact, as for most nodes."""
    owner, port = terminal
    if isinstance(owner, Vertex):
        action = owner.action
        if isinstance(action, CallAction) and not action.is_inferred:
            return action.type.outputs.get(port)
    return None


def _type_of_constant(value: object) -> object:
    if type(value) in (str, int, bool, bytes):
        return Annotated[Literal[value], _EXACT]
    return type(value)


def _widened(annotation: object) -> object:
    """Replace the exact type of a constant by the type of its class."""
    if get_origin(annotation) is Annotated and _EXACT in get_args(annotation)[1:]:
        return type(get_args(plain_type(annotation))[0])
    if get_origin(annotation) is Union:
        return Union[tuple(_widened(one) for one in get_args(annotation))]  # noqa: UP007 - known at run time only
    return annotation


def passed_on(wire: Terminal, root: Scope) -> str | None:
    """Return the input of a flow that an output passes on unchanged, None if it is another value."""
    seen = set[Terminal]()
    while wire not in seen:  # a cycle is reported elsewhere
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
    """Return the type of a value that may be a failure: a collected item, an output of a subflow."""
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


class Certainty:
    """Determines whether vertices and edges always bring a value; sources are noted before their readers."""

    def __init__(self, graph: Graph) -> None:
        self._sure: set[Vertex] = set()
        self._sure_carries: dict[Terminal, bool] = {}  # loop variables that always start with a value
        self.routed = {
            owner for owner, port in every_wire(graph) if port == ERROR
        }  # their ports are skips after a failure (S9.3)

    def note(self, vertex: Vertex) -> None:
        """Classify a vertex after everything that it reads."""
        if self._is_sure(vertex):
            self._sure.add(vertex)
        if isinstance(vertex.action, LoopAction):
            for name, given in vertex.inputs.items():
                self._sure_carries[Terminal(vertex.action.scope, name)] = self._has_sure_edge(given)
            for name in vertex.action.scope.labels:  # no edge brings a value in every iteration
                self._sure_carries[Terminal(vertex.action.scope, name)] = False

    def _is_sure(self, vertex: Vertex) -> bool:
        match vertex.action:
            case CallAction(is_sure=is_sure):
                return is_sure and vertex not in self.routed and self._has_what_it_needs(vertex)
            case JoinAction():
                return self._has_sure_edge(vertex.inputs["sources"])
            case LoopAction() | MapAction():
                return vertex not in self.routed and all(
                    self._has_sure_edge(given) for given in vertex.inputs.values()
                )
            case CollectAction():
                return False  # unused: edges lead to the output of the map

    def _has_what_it_needs(self, vertex: Vertex) -> bool:
        """Return whether each required port has a sure edge; without required ports, whether any port has."""
        any_sure, any_required = not vertex.inputs, False
        for given in vertex.inputs.values():
            if self._has_sure_edge(given):
                any_sure = True
            elif given.required:
                return False
            any_required = any_required or given.required
        return any_sure or any_required

    def _has_sure_edge(self, given: Input) -> bool:
        for wire in given.wires:
            owner, port = wire
            if isinstance(owner, Vertex) and isinstance(owner.action, CallAction):  # the common case
                if owner in self._sure and port not in owner.action.conditional:
                    return True
            elif self.is_sure_edge(wire):
                return True
        return False

    def is_sure_edge(self, terminal: Terminal) -> bool:
        """Return whether a terminal always brings a value, following outputs of loops."""
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
                    return self._sure_carries.get(terminal, True)
                case Vertex(action=CallAction(conditional=conditional)):
                    return owner in self._sure and port not in conditional
                case Vertex(action=LoopAction(test=test, finals=finals, results=results, alls=alls)):
                    if port in alls:
                        return owner in self._sure
                    may_not_run = test is not None and test.kind == "while"
                    if owner not in self._sure or (port in results and may_not_run):
                        return False
                    if port not in results:
                        return port in finals
                    terminal = results[port]
                case _:
                    return owner in self._sure and port != ERROR


class Answer(NamedTuple):
    """A fact about a vertex that a live value implies: the branch it took, or whether it failed."""

    vertex: Vertex
    question: str
    answer: str

    def a_round_before(self) -> Answer:
        return self._replace(question=f"{self.question}, a round before")


Answers: TypeAlias = frozenset[Answer]
NOTHING: Answers = frozenset()


class Exclusion:
    """Finds values that exclude each other; `ordered` has sources before their readers."""

    def __init__(self, ordered: Sequence[Vertex], routed: Iterable[object]) -> None:
        self._routed = set(routed)  # vertices whose failures are wired
        self._fired: dict[Vertex, Answers] = {}
        for vertex in ordered:
            self._fired[vertex] = self._of_vertex(vertex)

    def first_pair(self, wires: Sequence[Terminal]) -> tuple[Terminal, Terminal] | None:
        """Return the first two wires that can both bring a value, None if no two can."""
        facts = [self._of(wire) for wire in wires]
        for one, other in combinations(range(len(wires)), 2):
            if not _differ(facts[one], facts[other]):
                return wires[one], wires[other]
        return None

    def _of_vertex(self, vertex: Vertex) -> Answers:
        """Return what is known once a vertex has fired: the facts of all its required ports.

        Without required ports one of the connected ports has a value. Facts about a body do not hold
        outside, where the values of several iterations or items are combined.
        """
        opener = vertex.scope.owner if vertex.scope is not None else None
        found = self._fired.get(opener, NOTHING) if opener is not None else NOTHING
        inputs = list(vertex.inputs.values())
        required = [given for given in inputs if given.required]
        for given in required:
            found |= self._of_input(given)
        if inputs and not required:
            found |= _common([self._of_input(given) for given in inputs])
        return found

    def _of_input(self, given: Input) -> Answers:
        if given.port is not None and given.port.takes_failure:  # it accepts errors, too
            return _common([_of_failure(wire) for wire in given.wires])
        return _common([self._of(wire) for wire in given.wires])

    def _of(self, terminal: Terminal) -> Answers:
        owner, port = resolved(terminal)
        match owner:
            case Constant():
                return NOTHING
            case Scope(is_lifted=True, owner=Vertex(action=LoopAction() as action) as loop):
                return self._of_carried(loop, action, port)
            case Scope():
                return self._fired.get(owner.owner, NOTHING) if owner.owner is not None else NOTHING
            case Vertex():
                return self._fired.get(owner, NOTHING) | self._implied_by(owner, port)

    def _of_carried(self, loop: Vertex, action: LoopAction, port: str) -> Answers:
        """Return the facts of an edge for the first iteration of a loop, or for all others (S6.3)."""
        first = loop.inputs.get(port)
        facts = {Answer(loop, "is it the first round", str(first is not None))}
        if first is not None:
            facts |= self._of(first.wires[0])
        else:
            facts |= {one.a_round_before() for one in self._of(action.nexts[port])}
        return self._fired.get(loop, NOTHING) | facts

    def _implied_by(self, vertex: Vertex, port: str) -> Answers:
        if not isinstance(vertex.action, CallAction):
            return NOTHING
        facts = {_has_failed(vertex, port == ERROR)} if vertex in self._routed else set()
        if (taken := vertex.action.exits.get(port)) is not None:
            facts.add(Answer(vertex, "which exit", taken))
        return frozenset(facts)


def _has_failed(vertex: Vertex, answer: bool) -> Answer:
    return Answer(vertex, "has it failed", str(answer))


def _of_failure(terminal: Terminal) -> Answers:
    """Return the facts of a port that takes failures: `$error` implies that the other ports have no value."""
    match resolved(terminal):
        case Terminal(Vertex(action=CallAction()) as vertex, port) if port == ERROR:
            return frozenset({_has_failed(vertex, True)})
        case _:
            return NOTHING


def _common(several: Sequence[Answers]) -> Answers:
    return frozenset.intersection(*several) if several else NOTHING


def _differ(one: Answers, other: Answers) -> bool:
    answers = {(fact.vertex, fact.question): fact.answer for fact in one}
    return any(answers.get((t.vertex, t.question), t.answer) != t.answer for t in other)
