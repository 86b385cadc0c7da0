"""The graph that the compiler works on: vertices, scopes and terminals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from inspect import CO_COROUTINE
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from dataflow.core.attempts import bounds_of
from dataflow.core.policy import memo_of
from dataflow.core.ports import DONE, ERROR, MISSING, PortKind
from dataflow.core.signature import Shape
from dataflow.core.wiring import CARRY, INPUT, ITEM
from dataflow.types.shapes import has_variables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from dataflow.core.attempts import Bounds
    from dataflow.core.context import MergeFunction
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import EachOptions, Memo, Policy
    from dataflow.core.ports import InPort, OutPort
    from dataflow.core.wiring import Edge, LoopBlock, LoopTest, Rounds, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "PARAMETER_OF",
    "Action",
    "CallAction",
    "CollectAction",
    "Constant",
    "Graph",
    "Input",
    "Join",
    "JoinAction",
    "LoopAction",
    "MapAction",
    "RoundEdge",
    "Scope",
    "ScopeKind",
    "Spot",
    "Steps",
    "Terminal",
    "Vertex",
    "is_given",
    "is_there",
    "names_scope",
]


@dataclass(slots=True)
class CallAction:
    """Call a node function. Nodes of one type without their own config or policy share one."""

    type: NodeType
    policy: Policy
    config: Any = None
    required: tuple[str, ...] = field(init=False)  # its required inputs
    has_lazy: bool = field(init=False)  # an input is lazy
    has_context: bool = field(init=False)  # an input is a conversation
    takes_in_order: bool = field(init=False)  # its inputs are its parameters, all positional or `*args`
    conditional: frozenset[str] = field(init=False)  # its outputs that may be left out
    is_inferred: bool = field(init=False)  # the types of its outputs depend on more than its type
    is_sure: bool = field(init=False)  # it always has a value if its required inputs do (S5.2)
    bounds: Bounds | None = field(init=False)  # of its attempts
    exits: Mapping[str, str] = field(init=False)  # of its conditional outputs the branch that each belongs to
    memo: Memo | None = field(init=False)  # how its outcomes are cached
    is_simple: bool = field(init=False)  # a call only creates a coroutine, and no policy applies
    is_single: bool = field(init=False)  # the returned value is the value of its only port
    known: object = field(init=False, default=None)  # its part of cache keys, computed once
    gives_secrets: bool | None = field(init=False, default=None)  # see `Call`, computed once

    def __post_init__(self) -> None:
        node_type, policy, parameters = self.type, self.policy, self.type.parameters
        inputs, outputs = node_type.inputs.values(), node_type.outputs.values()
        # lists, as generators take three times as long for a few ports
        self.required = tuple([port.name for port in inputs if port.required])
        self.has_lazy = True in [port.lazy for port in inputs]
        self.has_context = PortKind.CONTEXT in [port.kind for port in inputs]
        by_name = parameters.keywords or parameters.open or parameters.config_name
        self.takes_in_order = node_type.flow is None and not by_name
        self.conditional = frozenset([ERROR, *[port.name for port in outputs if port.conditional]])
        self.is_inferred = policy.errors == "collect" or any(
            port.same_as or has_variables(port.type) for port in outputs
        )
        self.is_sure = policy.is_sure and not node_type.is_opaque
        self.bounds = bounds_of(policy)
        self.exits = {port.name: port.exit for port in outputs if port.exit is not None}
        self.memo = memo_of(policy)
        is_bare = not policy.has_effect and policy.cutoff is MISSING
        self.is_single = node_type.shape is Shape.SINGLE and not self.exits and is_bare
        is_free = self.bounds is None and self.memo is None
        self.is_simple = self.is_single and is_free and _is_native(node_type.call)


def _is_native(function: object) -> bool:
    """Return whether calling a function only creates a coroutine."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    return isinstance(plain, FunctionType) and bool(plain.__code__.co_flags & CO_COROUTINE)


class ScopeKind(Enum):
    """The kind of the vertex that opens a scope (S2.1)."""

    ROOT = "run"
    LOOP = "loop"
    MAP = "map"


#: Replaces the node id in a reference to a parameter of a scope of this kind.
PARAMETER_OF: Final = {ScopeKind.ROOT: INPUT, ScopeKind.LOOP: CARRY, ScopeKind.MAP: ITEM}


class Join(Enum):
    """The explicit modes of several sources on one port (S5.3)."""

    MERGE = "merge"
    GATHER = "gather"
    FALLBACK = "fallback"
    RACE = "race"
    CONTEXTS = "merge_contexts"  # of conversations (S10.4)


@dataclass(slots=True, eq=False)
class Scope:
    """A scope of a flow. Its parent is the scope of its owner, once that is known."""

    kind: ScopeKind
    owner: Vertex | None = None  # None for the root
    parameters: dict[str, None] = field(default_factory=dict)  # inputs, loop variables or items, in order
    label: str = ""  # of an `each`: the name of its item in messages
    # of a lifted loop: the names of its loop variables in messages
    labels: dict[str, str] = field(default_factory=dict)
    is_lifted: bool = False  # of a loop made of feedback edges (S6.3)

    @property
    def parent(self) -> Scope | None:
        return self.owner.scope if self.owner is not None else None

    def around(self) -> Iterator[Scope]:
        """Yield this scope and the scopes around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


#: Keys and positions that lead to a part of a block of a document.
Steps: TypeAlias = tuple[str | int, ...]


class Spot(NamedTuple):
    """The location of a problem: the path in the flow, and the steps in the block of a document.

    The path is that of the node with what the problem is about: `load.text`, `repeat.carry.total.next`.
    """

    label: str
    scope: Scope
    steps: Steps
    port: str = ""

    def __str__(self) -> str:
        return self.label

    def part(self, path: str, *steps: str | int) -> Spot:
        """Return the location of a part: its path from here, and the steps to it in a document."""
        return Spot(f"{self.label}.{path}", self.scope, (*self.steps, *steps))

    def within(self, *steps: str | int) -> Spot:
        """Return the location of a part, with the same label."""
        return Spot(self.label, self.scope, (*self.steps, *steps))

    @property
    def path(self) -> Steps:
        """The steps from the top of the document."""
        path, scope = self.steps, self.scope
        while (owner := scope.owner) is not None:
            if scope.is_lifted:  # documents have no block for it
                scope = owner.home
                continue
            spot = owner.spot
            path, scope = (*spot.steps, scope.kind.value, *path), spot.scope
        return path


class Terminal(NamedTuple):
    """The source of an edge: an output port of a vertex, a parameter of a scope, or a constant."""

    owner: Vertex | Scope | Constant
    port: str

    @property
    def label(self) -> str:
        """The name in messages."""
        owner = self.owner
        if isinstance(owner, Constant):
            return "a constant"
        if owner.label:
            return owner.label
        if isinstance(owner, Vertex) and owner.is_lifted:
            return self.port
        if isinstance(owner, Scope) and self.port in owner.labels:
            return owner.labels[self.port]
        return f"{PARAMETER_OF[owner.kind] if isinstance(owner, Scope) else owner.id}.{self.port}"


@dataclass(slots=True, eq=False)
class Constant:
    """A constant on a port, compared by identity."""

    value: Any
    is_json: bool = False


@dataclass(slots=True, eq=False)
class Input:
    """A connected input port of a vertex, with the sources of its edges.

    `port` is the declared port, None if any port is accepted. `steps` lead to it in the block of a document
    if it is not among the inputs of its node.
    """

    name: str
    wires: list[Terminal]
    port: InPort | None = None
    required: bool = True
    steps: Steps = ()
    checked: bool = False  # values come from an Any port and are checked on entry (S1.7)
    read_at: Spot | None = None  # of a loop variable of feedback edges: the port that reads it


@dataclass(slots=True)
class JoinAction:
    """Join several sources. With `how` they are contexts, which are merged into one (S10.4)."""

    mode: Join
    how: MergeFunction | None = None


@dataclass(slots=True)
class LoopAction:
    """Run the body iteration by iteration. `finals` and `results` are its outputs by name."""

    block: LoopBlock
    scope: Scope
    test: LoopTest | None = None
    test_wire: Terminal | None = None
    nexts: dict[str, Terminal] = field(default_factory=dict)
    finals: dict[str, str] = field(default_factory=dict)  # output -> loop variable
    results: dict[str, Terminal] = field(default_factory=dict)
    alls: set[str] = field(default_factory=set)  # the results that are lists of the values of all iterations
    shown: dict[str, Terminal] = field(default_factory=dict)  # outputs without readers, for results


@dataclass(slots=True)
class MapAction:
    """Open a scope instance per item. `collects` are its outputs by name.

    A map over edges has one input with all of them, and opens a scope instance for each edge that settles
    live (S7.4). Values that it reads from other maps are exported from these with the index of each value,
    in the outputs that are `indexed`.
    """

    scope: Scope
    options: EachOptions
    lists: dict[str, str] = field(default_factory=dict)  # item -> input port of the vertex
    collects: dict[str, Terminal] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()  # the names of the outputs of a map in block form
    named: bool = True  # False: named after its first reader
    is_every: bool = False  # over edges
    indexed: set[str] = field(default_factory=set)
    early: set[str] = field(default_factory=set)  # outputs that settle with their last value
    call: object = None  # of `each` that opened it, the first if several share the map


@dataclass(slots=True)
class CollectAction:
    """A `collect`, until the map that it closes is known; then an output of that map."""

    source: Terminal
    output: Terminal | None = None


Action: TypeAlias = CallAction | JoinAction | LoopAction | MapAction | CollectAction


@dataclass(slots=True, eq=False)
class Vertex:
    """A node, loop, map or join. `order` sorts those of a scope as they were declared."""

    id: str
    order: int
    action: Action
    home: Scope  # the scope of the block it was declared in
    read_at: Spot | None = None  # of a join, or a map opened by a source: its first reader
    label: str = ""  # of a join: the name of its value in messages
    inputs: dict[str, Input] = field(default_factory=dict)
    scope: Scope | None = None  # the scope that it fires in, once known
    index: int = -1  # in the plan of that scope, once it is laid out
    slots: dict[str, int] = field(init=False)  # of its output ports, likewise

    @property
    def kind(self) -> str:
        """The kind in messages."""
        match self.action:
            case LoopAction():
                return "loop"
            case MapAction():
                return "map"
            case CallAction() | JoinAction() | CollectAction():
                return "node"

    @property
    def spot(self) -> Spot:
        if self.read_at is not None:
            return self.read_at
        return Spot(self.id, self.home, ("nodes", self.id))

    def spot_of(self, port: str, steps: Steps = ()) -> Spot:
        """Return the location of an input port; `steps` lead to one that is not among its inputs."""
        steps = steps or ("nodes", self.id, "inputs", port)
        return Spot(f"{self.id}.{port}", self.home, steps, port)

    def has_output(self, port: str) -> bool:
        """Return whether a port of this name can be read."""
        if port in self.output_names or port in (DONE, ERROR):
            return True
        return isinstance(self.action, CallAction) and self.action.type.is_opaque

    @property
    def output_names(self) -> Collection[str]:
        """The names of the output ports without `$done` and `$error`."""
        match self.action:
            case CallAction(type=node_type):
                return node_type.outputs
            case LoopAction(block=block):
                return block.body.outputs
            case MapAction(outputs=outputs):
                return outputs
            case JoinAction() | CollectAction():
                return ("out",)

    @property
    def is_lifted(self) -> bool:
        """Whether it is a loop made of feedback edges."""
        return isinstance(self.action, LoopAction) and self.action.scope.is_lifted

    @property
    def fires_in(self) -> Scope:
        assert self.scope is not None, f"the scope of {self.id!r} is known by now"
        return self.scope


def is_given(given: Input, scope: Scope, joins: Collection[Vertex]) -> bool:
    """Return whether nothing leads to a port of a scope that a branch in it may skip.

    So it is with constants, with the inputs, items and loop variables of the scope, with values of a scope
    around it, with these joins, and with a conversation.
    """
    if given.port is not None and given.port.kind is PortKind.CONTEXT:
        return True
    for wire in given.wires:  # noqa: SIM110 - of every port: a generator takes twice as long
        if not is_there(wire, scope, joins):
            return False
    return True


def is_there(wire: Terminal, scope: Scope, joins: Collection[Vertex]) -> bool:
    """Return whether a terminal has a value whatever branch of a scope is taken."""
    owner = wire.owner
    return not isinstance(owner, Vertex) or owner.scope is not scope or owner in joins


def names_scope(vertex: Vertex, opener: Vertex | None) -> bool:
    """Return whether a map of `each`, or a loop of feedback edges, is named after a vertex in it (S2.2)."""
    if opener is None:
        return False
    is_unnamed = isinstance(opener.action, MapAction) and not opener.action.named
    names = (is_unnamed or opener.is_lifted) and opener.id == vertex.id
    return names and not isinstance(vertex.action, JoinAction)


@dataclass(frozen=True, slots=True, eq=False)
class RoundEdge:
    """An edge with options for loops: the port that it leads to, and its position there."""

    edge: Edge
    rounds: Rounds
    vertex: Vertex
    given: Input
    position: int

    @property
    def wire(self) -> Terminal:
        return self.given.wires[self.position]

    @property
    def spot(self) -> Spot:
        steps = () if self.edge.index is None else ("edges", self.edge.index)
        return self.vertex.spot_of(self.given.name, steps)


@dataclass(slots=True)
class Graph:
    """All vertices of a flow in declared order, and its outputs."""

    wiring: Wiring
    root: Scope
    vertices: list[Vertex] = field(default_factory=list)
    outputs: dict[str, Terminal] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)  # types that could not be inspected
    round_edges: list[RoundEdge] = field(default_factory=list)  # edges with options for loops
    circling: set[Vertex] = field(default_factory=set)  # vertices in a cycle, or dependents of one
    meeting: list[tuple[object, object]] = field(default_factory=list)  # calls of `each` that are one map
    demands: dict[Terminal, list[object]] = field(
        default_factory=dict
    )  # types with constraints of the ports that read a terminal
    output_ports: dict[str, OutPort] = field(
        default_factory=dict
    )  # as a flow around it sees them, once checked

    def demands_on(self, vertex: Vertex) -> dict[str, list[object]] | None:
        """Return the types with constraints of the ports that read a vertex, by its port."""
        found = {port: types for (owner, port), types in self.demands.items() if owner is vertex}
        return found or None

    @property
    def is_flat(self) -> bool:
        """Whether the root is the only scope."""
        return all(isinstance(vertex.action, (CallAction, JoinAction)) for vertex in self.vertices)

    @property
    def problems_in_order(self) -> list[Diagnostic]:
        """The problems without duplicates; those of a document in the order of its text."""
        problems = list(dict.fromkeys(self.problems))
        return problems if self.wiring.places is None else sorted(problems, key=_place)

    def problem(self, problem: Diagnostic, spot: Spot) -> None:
        """Record a problem of what is at a spot, with its location if there is one."""
        found = replace(problem.within(spot), port=problem.port or spot.port)
        self.problems.append(found.at(self.wiring.locate(spot.path)))


def _place(problem: Diagnostic) -> tuple[int, int]:
    return problem.location.line, problem.location.column
