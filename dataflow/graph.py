"""The graph between wiring and plan: vertices, scopes and terminals, with every name looked up (S2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dataflow.wording import on_one_line, read_place, write_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.merging import MergeFunction
    from dataflow.nodetype import NodeType
    from dataflow.policy import EachOptions, Policy
    from dataflow.ports import InPort, OutPort
    from dataflow.wiring import LoopBlock, LoopTest, Wiring

__all__ = [
    "CallAction",
    "CollectAction",
    "Graph",
    "Input",
    "Join",
    "JoinAction",
    "LoopAction",
    "MapAction",
    "Scope",
    "ScopeKind",
    "Spot",
    "Terminal",
    "Vertex",
    "Wire",
    "is_constant",
]


class ScopeKind(Enum):
    """What opens a frame of the scope (S2.1)."""

    ROOT = "run"
    LOOP = "loop"
    MAP = "map"


class Join(Enum):
    """The explicit modes of several sources on one port (S5.3)."""

    MERGE = "merge"
    GATHER = "gather"
    FALLBACK = "fallback"
    RACE = "race"
    CONTEXTS = "merge_contexts"  # of conversations (S10.4)


@dataclass(slots=True, eq=False)
class Scope:
    """A scope of a flow. Its parent is that of its owner, known once the owner's scope is."""

    kind: ScopeKind
    owner: Vertex | None = None  # None for the root
    parameters: dict[str, None] = field(default_factory=dict)  # inputs, carried ports or items, in order

    @property
    def parent(self) -> Scope | None:
        return self.owner.scope if self.owner is not None else None

    def around(self) -> Iterator[Scope]:
        """Go outwards, beginning with this scope."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


class Spot(NamedTuple):
    """What a problem is about: in words, and as the steps that lead to it in the block of a document."""

    label: str
    scope: Scope
    steps: tuple[str | int, ...]

    def __str__(self) -> str:
        return self.label

    def part(self, label: str, *steps: str | int) -> Spot:
        """Name a part of it."""
        return Spot(f"{self.label}{label}", self.scope, (*self.steps, *steps))

    def within(self, *steps: str | int) -> Spot:
        """Return the place of a part of it, under its own name."""
        return Spot(self.label, self.scope, (*self.steps, *steps))

    @property
    def path(self) -> tuple[str | int, ...]:
        """The steps from the top of the document."""
        path, scope = self.steps, self.scope
        while scope.owner is not None:
            spot = scope.owner.spot
            path, scope = (*spot.steps, scope.kind.value, *path), spot.scope
        return path


class Terminal(NamedTuple):
    """Where an edge begins: an output port of a vertex, a parameter of a scope, or a constant."""

    owner: Vertex | Scope | Constant
    port: str


@dataclass(slots=True, eq=False)
class Constant:
    """A constant on a port, compared by identity."""

    value: Any
    is_json: bool = False


class Wire(NamedTuple):
    """One edge into a port, with the words that name its source in messages."""

    source: Terminal
    label: str


@dataclass(slots=True, eq=False)
class Input:
    """A connected input port of a vertex. `port` is the declared port, None where any will do."""

    name: str
    wires: list[Wire]
    port: InPort | None = None
    required: bool = True
    spot: Spot | None = None
    checked: bool = False  # the value comes from an Any port and is checked when it enters (S1.7)


def is_constant(given: Input) -> bool:
    """Tell whether nothing but constants leads to a port."""
    return all(isinstance(wire.source.owner, Constant) for wire in given.wires)


@dataclass(slots=True)
class CallAction:
    """Call a node function."""

    type: NodeType
    policy: Policy
    config: Any = None


@dataclass(slots=True)
class JoinAction:
    """Join several sources. `how` says that they are conversations, of which it makes one (S10.4)."""

    mode: Join
    how: MergeFunction | None = None


@dataclass(slots=True)
class LoopAction:
    """Run the body round by round. `finals` and `results` are its outputs by name."""

    block: LoopBlock
    scope: Scope
    test: LoopTest | None = None
    test_wire: Wire | None = None
    nexts: dict[str, Wire] = field(default_factory=dict)
    finals: dict[str, str] = field(default_factory=dict)  # output -> carried port
    results: dict[str, Wire] = field(default_factory=dict)
    alls: set[str] = field(default_factory=set)  # of them, the lists of the values of all rounds


@dataclass(slots=True)
class MapAction:
    """Open a frame an item. `collects` are its outputs by name."""

    scope: Scope
    options: EachOptions
    lists: dict[str, str] = field(default_factory=dict)  # item -> input port of the vertex
    collects: dict[str, Wire] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()  # the names of the outputs of a map in block form
    named: bool = True  # False: an `each`, named after the node that reads it first


@dataclass(slots=True)
class CollectAction:
    """A `collect`, until it is known which map it closes; then an output of that map."""

    source: Wire
    output: Terminal | None = None


Action: TypeAlias = CallAction | JoinAction | LoopAction | MapAction | CollectAction


@dataclass(slots=True, eq=False)
class Vertex:
    """A node, loop, map or join. `order` is the place of its declaration in the flow."""

    id: str
    order: tuple[int, int]
    spot: Spot
    action: Action
    inputs: dict[str, Input] = field(default_factory=dict)
    home: Scope = field(init=False)  # the scope of the block it was declared in
    scope: Scope | None = None  # where it fires, once known

    def __post_init__(self) -> None:
        self.home = self.spot.scope

    @property
    def fires_in(self) -> Scope:
        assert self.scope is not None, f"the scope of {self.id!r} is known by now"
        return self.scope


@dataclass(slots=True)
class Graph:
    """All vertices of a flow in declared order, and its outputs."""

    wiring: Wiring
    root: Scope
    vertices: list[Vertex] = field(default_factory=list)
    outputs: dict[str, Wire] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)  # types that were not looked into
    output_ports: dict[str, OutPort] = field(default_factory=dict)  # what a flow around it sees, once checked

    @property
    def problems_in_order(self) -> list[str]:
        """The problems, each once; those of a document in the order of its text."""
        problems = list(dict.fromkeys(map(on_one_line, self.problems)))
        return problems if self.wiring.places is None else sorted(problems, key=_place)

    def problem(self, text: str, spot: Spot) -> None:
        """Note what is wrong, with the place in the document where there is one."""
        places = self.wiring.places
        self.problems.append(text if places is None else write_place(text, *places.find(spot.path)))


def _place(problem: str) -> tuple[int, int]:
    _, line, column = read_place(problem)
    return line or 0, column or 0
