"""`Wiring`, the graph definition of a flow: nodes, edges, sources and blocks, and references by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias
from urllib.parse import unquote

from dataflow.core.call_sites import CallSites
from dataflow.core.policy import NO_POLICY, EachOptions, Settings
from dataflow.core.ports import DONE, ERROR, MISSING
from dataflow.diagnostics.arguments import ARGUMENT_INVALID
from dataflow.diagnostics.diagnostic import NOWHERE, Diagnostic, Location
from dataflow.diagnostics.wiring import NESTED_TOO_DEEP, REFERENCE_INVALID, TOO_MANY_NODES
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import Policy

__all__ = [
    "CARRY",
    "INPUT",
    "ITEM",
    "NO_META",
    "PARAMETERS",
    "All",
    "Block",
    "Carried",
    "Collect",
    "Each",
    "Edge",
    "Every",
    "Fallback",
    "FlowInput",
    "Gather",
    "Joining",
    "Literally",
    "LoopBlock",
    "LoopTest",
    "Many",
    "MapBlock",
    "Merge",
    "MergeContexts",
    "Nested",
    "Placed",
    "PlacedNode",
    "Places",
    "Race",
    "Reference",
    "Remark",
    "Rounds",
    "Source",
    "Version",
    "Wiring",
    "encode",
    "flows_within",
    "node_of_path",
    "parse_reference",
    "problem_of_subflow",
    "signal_of",
    "write_reference",
    "wrong_limit",
]

_UNSAFE: Final = re.compile(r"[./\[\]~$%\s]")
#: In place of a node id in a reference: an input of the flow, a loop variable, the item of a map.
INPUT: Final = "$in"
CARRY: Final = "$carry"
ITEM: Final = "$item"
PARAMETERS: Final = (INPUT, CARRY, ITEM)
#: The default for `meta`, shared by all parts of flows.
NO_META: Final[Mapping[str, Any]] = MappingProxyType({})
#: The default for `inputs` of nodes, likewise.
NO_INPUTS: Final[Mapping[str, Any]] = MappingProxyType({})


def encode(name: str) -> str:
    """Percent-encode the characters that have a meaning in paths and references."""
    if name.isidentifier():  # the common case, which is fast to check
        return name
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)


def _decoded(text: str) -> str:
    return unquote(text) if "%" in text else text  # the check is faster than unquote


def node_of_path(path: str) -> str:
    """Return the id of the node at the end of a path, such as that of an event, without iterations."""
    return unquote(path.rpartition("/")[2].partition("[")[0])


@lru_cache(maxsize=4096)  # documents name the same ports repeatedly, also in nested flows
def parse_reference(text: str) -> Reference:
    """Read `node.port`, or `node` for its port `out`; raises ValueError for anything else."""
    node, dot, port = text.partition(".")
    if not node or (dot and not port):
        raise ArgumentInvalid(REFERENCE_INVALID(text=text, expected="`node.port`, `node` or `$in.name`"))
    if node in PARAMETERS:
        if not dot:
            raise ArgumentInvalid(REFERENCE_INVALID(text=text, expected=f"`{node}.name`"))
        return Reference(node, _decoded(port))
    if node.startswith("$"):
        raise ArgumentInvalid(REFERENCE_INVALID(text=text, found=node, available=PARAMETERS))
    return Reference(_decoded(node), port if port.startswith("$") else _decoded(port) or "out")


def signal_of(text: str) -> Reference:
    """Read an entry of `after`: the id of a node, or the id and `.$error` for its failure."""
    node, dot, port = text.rpartition(".")
    return Reference(node, ERROR) if dot and port == ERROR else Reference(text, DONE)


def write_reference(reference: Reference) -> str:
    """Write a reference so that `parse_reference` returns an equal one."""
    node = reference.node if reference.node in PARAMETERS else encode(reference.node)
    if reference.port == "out" and node not in PARAMETERS:
        return node
    port = reference.port if reference.port.startswith("$") else encode(reference.port)
    return f"{node}.{port}"


@dataclass(frozen=True, slots=True)
class Remark:
    """A difference between a file of another system and the flow made from it: both behaviours.

    `node` is the name of the node in the file, empty for the whole flow.
    """

    node: str
    original: str
    here: str

    def __str__(self) -> str:
        place = f"node {self.node!r}: " if self.node else ""
        return f"{place}originally {self.original}; here {self.here}"


def _no_meta() -> Mapping[str, Any]:
    return NO_META


def _no_inputs() -> Mapping[str, Any]:
    return NO_INPUTS


class Reference(NamedTuple):
    """A port referred to by name, which is resolved in the innermost block first."""

    node: str
    port: str = "out"

    def __str__(self) -> str:
        return f"{self.node}.{self.port}"


@dataclass(frozen=True, slots=True, eq=False)
class Literally:
    """A constant; one from a document is read by the JSON rules of its port's type (S1.7)."""

    value: Any
    is_json: bool = False
    is_source: bool = False  # in a document: listed with the inputs of a node, not with its values


@dataclass(frozen=True, slots=True)
class Merge:
    """The first source in order that is not a skip."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Gather:
    """The list of the active sources in order."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Race:
    """The first source to settle with a value."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class MergeContexts:
    """The active conversations merged into one; `how` is the name of a policy or a function (S10.4)."""

    sources: tuple[Source, ...]
    how: str | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Fallback:
    """The source unless it is a skip, else the default, which is computed only then."""

    source: Source
    default: Source

    @classmethod
    def chain(cls, sources: Sequence[Source]) -> Fallback:
        """Nest fallbacks to the first of two or more sources that is not a skip."""
        *others, last = sources
        for source in reversed(others):
            last = cls(source, last)
        assert isinstance(last, cls), "there are two sources at least"
        return last


@dataclass(frozen=True, slots=True)
class Each:
    """The item of a map (fan-out) over the list (S7.1).

    `call` is the call of `each` that made it: a text if several sources of a document share it.
    """

    source: Source
    options: EachOptions = EachOptions()
    call: object = field(default_factory=object, repr=False)


@dataclass(frozen=True, slots=True)
class Collect:
    """The list of the results of the items of the innermost map (fan-in, S7.1)."""

    source: Source


@dataclass(frozen=True, slots=True)
class Every:
    """The item of a map over edges, with a frame for each active one (S7.4); used by foreign formats only."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class All:
    """The list of the values of a loop's iterations; allowed only as an output of the loop (S6.4)."""

    source: Source


@dataclass(frozen=True, slots=True)
class Many:
    """Several sources of a many-port, of which some are expressions or constants."""

    sources: tuple[Source, ...]


#: Sources that combine other sources, or make a list of them.
Joining: TypeAlias = Merge | Gather | Race | MergeContexts | Fallback | Each | Every | Collect | All
Source: TypeAlias = Reference | Literally | Joining


@dataclass(frozen=True, slots=True)
class Rounds:
    """How an edge behaves in the iterations of loops (S6.3, S6.4).

    `feedback` closes a loop, with its limit. `each_round` puts the edge's target into the loop; `leave` says
    whether the value of the last iteration or of all of them leaves the loop.
    """

    feedback: bool = False
    limit: int | None = 100
    on_limit: Literal["fail", "exit"] = "exit"
    each_round: bool = False
    leave: Literal["last", "all"] = "last"


@dataclass(slots=True)
class Edge:
    """A plain edge; parallel edges are distinct, and id and meta survive a round trip (S1.5)."""

    source: Reference
    target: str
    target_port: str
    id: str | None = None
    meta: Mapping[str, Any] = field(default_factory=_no_meta)
    index: int | None = field(default=None, compare=False)  # among the edges of a document
    rounds: Rounds | None = None  # None for most edges

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}.{self.target_port}"


class Places(Protocol):
    """The locations of the parts of a document."""

    def find(self, path: Iterable[str | int]) -> Location:
        """Return the location of a part, or of the nearest part that contains it."""


class Nested(Protocol):
    """A subflow: a flow that is placed as a node (S1.1)."""

    @property
    def name(self) -> str: ...

    @property
    def wiring(self) -> Wiring: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def version(self) -> Version:
        """A version that differs after every change of the flow or of its subflows."""

    @property
    def node_type(self) -> NodeType:
        """The flow as a node type; raises FlowInvalid with the problems of the flow."""

    @property
    def opaque(self) -> Sequence[str]:
        """The names of the parts that were not imported."""

    def compile(self) -> object:
        """Return the compiled plan of the flow; raises FlowInvalid."""

    def find_type(self, id: str) -> NodeType:
        """Return the node type of this name, as the flow resolves it."""


@dataclass(slots=True)
class PlacedNode:
    """A placed node. A type given by name is resolved when the flow is compiled."""

    id: str
    after: list[str] | tuple[()] = ()
    meta: Mapping[str, Any] = field(default_factory=_no_meta)
    type: NodeType | Nested | str = ""
    config: Any = MISSING
    config_is_json: bool = False
    folder: str = ""  # of the document that contains the config, "" for none
    inputs: Mapping[str, Source | Many] = field(default_factory=_no_inputs)  # other than plain edges
    policy: Policy = NO_POLICY

    def give(self, port: str, source: Source | Many) -> None:
        """Connect a port to a source other than plain edges."""
        if isinstance(self.inputs, dict):
            self.inputs[port] = source
        else:
            self.inputs = {port: source}


@dataclass(slots=True)
class Carried:
    """A loop variable: its first value, and the source of its value in the next iteration."""

    first: Source
    next: Source | None = None


@dataclass(frozen=True, slots=True)
class LoopTest:
    """The condition of a loop (S6.1); without a function the value itself must be a bool (S16.3)."""

    kind: Literal["until", "while"]
    source: Source
    function: Callable[[Any], bool] | None = None


@dataclass(slots=True)
class LoopBlock:
    """A loop in block form. An output that is `$carry.x` alone is the final value of that loop variable."""

    id: str
    after: list[str] | tuple[()] = ()
    meta: Mapping[str, Any] = field(default_factory=_no_meta)
    limit: int | None = 100
    on_limit: Literal["fail", "exit"] = "exit"
    carries: dict[str, Carried] = field(default_factory=dict)
    test: LoopTest | None = None
    body: Block = field(default_factory=lambda: Block())


@dataclass(slots=True)
class MapBlock:
    """A map in block form over zipped lists; each output is the list of the results of the items."""

    id: str
    after: list[str] | tuple[()] = ()
    meta: Mapping[str, Any] = field(default_factory=_no_meta)
    over: dict[str, Source] = field(default_factory=dict)
    options: EachOptions = EachOptions()
    body: Block = field(default_factory=lambda: Block())


#: Differs if a flow, or any of its subflows, differs.
Version: TypeAlias = "tuple[int, ...]"
#: An entry of a block.
Placed: TypeAlias = PlacedNode | LoopBlock | MapBlock


@dataclass(slots=True)
class Block:
    """Nodes in declared order, the plain edges into them, and the outputs of the block."""

    nodes: dict[str, Placed] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    outputs: dict[str, Source] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlowInput:
    """A named input of a flow; required if the default is MISSING. `schema` is the one in the document."""

    type: object
    default: Any = MISSING
    schema: Mapping[str, Any] | str | None = None
    demands: Sequence[object] = field(default=(), compare=False)  # types with constraints that read it


@dataclass(slots=True)
class Wiring:
    """A whole flow as wired, with the problems found while wiring it."""

    name: str = "flow"
    inputs: dict[str, FlowInput] = field(default_factory=dict)
    block: Block = field(default_factory=Block)
    settings: Settings = field(default_factory=Settings)
    uses: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    nested: list[Nested] = field(default_factory=list)  # the subflows that are its nodes
    places: Places | None = None  # in the document that it was read from
    calls: CallSites = field(default_factory=CallSites, compare=False, repr=False)
    report: Sequence[Remark] = ()  # differences from the foreign file that it was read from
    folder: str = ""  # of the document that it was read from, "" for none
    file: str = ""  # that it was loaded from, as the surrounding document names it
    version: int = 0  # incremented by every change, so that an outdated plan is noticed

    def locate(self, path: Sequence[str | int]) -> Location:
        """Return the location of a part: of the call that made it, or its place in the document."""
        found = self.calls.find(path)
        if found == NOWHERE and self.places is not None:
            return self.places.find(path)
        return found


def wrong_limit(limit: object) -> Diagnostic | None:
    """Return the problem of a value that is not a valid limit of a loop, or None (S6.2)."""
    if limit is None or (type(limit) is int and limit > 0):
        return None
    return ARGUMENT_INVALID(name="limit", expected="an integer of 1 or more, or None", found=repr(limit))


def problem_of_subflow(place: object, problem: Diagnostic, file: str = "") -> Diagnostic:
    """Return a problem of a subflow as one of the flow around it: at `node/inner.port`, in its own file.

    One of the size of a flow names the innermost only, since each of the many flows around it has it too.
    """
    location = replace(problem.location, file=problem.location.file or file)
    if problem.kind in (NESTED_TOO_DEEP, TOO_MANY_NODES):
        return replace(problem, location=location)
    path = f"{place}/{problem.place}" if problem.place else str(place)
    return replace(problem, place=path, location=location)


def unreported(problems: Iterable[Diagnostic], reported: set[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the problems of a subflow that other subflows do not have too, and record them.

    Flows that use one another more than once have a problem of the innermost by many paths: it is the same if
    its line and its own place are.
    """
    for problem in problems:
        key = replace(problem, place=problem.place.rpartition("/")[2]) if problem.location.line else problem
        if key not in reported:
            reported.add(key)
            yield problem


def flows_within(wiring: Wiring) -> list[Wiring]:
    """List a flow and its subflows, at any depth, each once."""
    found, seen = [wiring], {id(wiring)}
    for flow in found:  # grows while it is walked
        for nested in flow.nested:
            inner = nested.wiring
            if id(inner) not in seen:
                seen.add(id(inner))
                found.append(inner)
    return found
