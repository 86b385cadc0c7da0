"""The compiled plan: integer-indexed nodes and slots, with the producers and readers of each slot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dataflow.compiler.graph import Join
from dataflow.core.states import UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from typing import Literal

    from dataflow.compiler.graph import CallAction
    from dataflow.core.attempts import Bounds
    from dataflow.core.context import MergeFunction
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import EachOptions, Memo, Policy, Reach, Settings
    from dataflow.core.wiring import Nested, Wiring

__all__ = [
    "Action",
    "Call",
    "Feed",
    "FlowOf",
    "FlowPlan",
    "JoinOf",
    "LoopOf",
    "MapOf",
    "MemoSlots",
    "PlanNode",
    "QuickCall",
    "QuickEnd",
    "ScopePlan",
    "Uses",
    "links_of",
    "nested_plan",
    "second_source",
    "uses_of",
]


@dataclass(slots=True, eq=False)  # never changed; a frozen one takes twice as long to make
class Feed:
    """A connected input port: the slots that its edges read, in declared order."""

    port: str
    slots: tuple[int, ...]
    labels: tuple[str, ...]  # names the source of each slot in messages
    many: bool = False
    required: bool = True
    default: object = None  # of an optional port
    check: object = None  # the type that values from an Any port must have, None for no check
    takes_failure: bool = False
    is_signal: bool = False
    is_lazy: bool = False  # pulled only when the node will fire (S8.3)
    is_given: bool = False  # its values come from outside of the scope, or are conversations


@dataclass(slots=True, eq=False)  # never changed; a frozen one takes twice as long to make
class Call:
    """Call a node function.

    `positional` and `keywords` give each parameter a feed, or a slot with a constant. `star` is the feed
    for `*args`. `direct` are the slots of the arguments if every parameter is positional, and fed by
    constants or unchecked edges, one each except for `*args`.
    """

    type: NodeType
    policy: Policy
    common: CallAction  # shared with the calls of similar nodes
    positional: tuple[Feed | int, ...]
    keywords: Mapping[str, Feed | int]
    star: Feed | None
    direct: tuple[int, ...] | None
    exits: Mapping[str, str]  # of its conditional outputs the branch that each belongs to
    bounds: Bounds | None = None  # of its attempts, None if unlimited
    is_simple: bool = False  # a call only creates a coroutine, and no policy applies
    is_single: bool = False  # the returned value is the value of its only port
    memo: Memo | None = None  # how its outcomes are cached, None if they are not
    copied: int | None = None  # the slot of a config with containers, which each firing gets a copy of
    gives_secrets: bool = False  # the types of its outputs have a secret of pydantic


@dataclass(slots=True, eq=False)
class QuickCall:
    """The fast path for calls: a coroutine function gets values directly from slots."""

    function: Callable[..., Coroutine[Any, Any, Any]]
    slot: int  # of its only argument
    take: (
        Callable[[Sequence[Any]], Sequence[Any]] | None
    )  # for another number of arguments: takes them from all values
    is_shared: bool  # the arguments have other references too (S3.4)


@dataclass(slots=True, eq=False)
class QuickEnd:
    """The fast path for ends: the returned value goes to one slot."""

    out: int  # the slot
    calls: tuple[int, ...] | None  # see `ScopePlan.calls`; None also if a map collects the value
    is_collected: bool  # a map collects the value, and it has no other readers


@dataclass(frozen=True, slots=True)
class JoinOf:
    """Join the slots (S5.3). `how` merges several contexts into one (S10.4)."""

    mode: Join
    how: MergeFunction | None = None


@dataclass(frozen=True, slots=True)
class LoopOf:
    """Run `body` iteration by iteration (S6).

    `carried` maps a loop variable to its slot in the body and the body's slot of its next value; `test` is
    a slot of the body; `gate` is the slot that nodes needed only for next values wait for (S6.1). In a loop
    without a test that has `feedback`, another iteration follows if one of these loop variables gets a
    value.
    """

    body: ScopePlan
    kind: Literal["until", "while"] | None
    test: int | None
    predicate: Callable[[Any], bool] | None
    limit: int | None
    on_limit: Literal["fail", "exit"]
    carried: Mapping[str, tuple[int, int]]
    finals: Mapping[int, str]  # own output slot -> loop variable
    results: Mapping[int, int]  # own output slot -> slot of the body
    alls: frozenset[int]  # the output slots that are lists of the values of all iterations
    gate: int | None
    feedback: frozenset[str] = frozenset()  # loop variables of feedback edges (S6.3)
    shown: Mapping[int, int] = field(default_factory=dict)  # like `results`, for values without readers


@dataclass(frozen=True, slots=True)
class MapOf:
    """Open a scope instance of `body` for each item (S7.1).

    `lists` maps the slot of an item to the feed of its list. For a map over edges it is the feed of all
    edges, each of which brings an item, or a list of items with their indexes (S7.4).
    """

    body: ScopePlan
    options: EachOptions
    lists: Mapping[int, Feed]
    is_every: bool = False  # over edges
    early: frozenset[int] = frozenset()  # slots of the lists that are read inside the map (S7.1)


@dataclass(frozen=True, slots=True, eq=False)
class FlowOf:
    """Run a subflow in a separate scope instance (S7.3).

    `inputs` maps slots of its root to the given values, `results` own output slots to slots of its root.
    """

    plan: FlowPlan
    settings: Settings
    policy: Policy
    bounds: Bounds | None  # of its attempts
    inputs: Mapping[int, Feed | int]
    results: Mapping[int, int]


Action: TypeAlias = Call | JoinOf | LoopOf | MapOf | FlowOf


@dataclass(slots=True, eq=False)  # never changed; a frozen one takes twice as long to make
class PlanNode:
    """A node of a scope."""

    index: int
    id: str
    label: str  # its part of a path, encoded
    action: Action
    feeds: tuple[Feed, ...]
    outputs: Mapping[str, int]  # output port -> slot
    names_frame: bool  # its path is that of the scope instance: it was the first to read the map (S2.2)
    failure_is_taken: bool  # every use of its ports is a Failure port, which takes an error (S9.4)
    is_plain: bool  # it fires if all its inputs are values; else the firing rule decides
    demands: Mapping[str, Sequence[object]] | None = None  # by port the types with constraints that read it

    @property
    def is_visible(self) -> bool:
        """Whether it is a node of the flow, with a state and events; joins are not."""
        return not isinstance(self.action, JoinOf)

    @property
    def policy(self) -> Policy | None:
        """The settings of a call or a subflow."""
        return self.action.policy if isinstance(self.action, Call | FlowOf) else None


@dataclass(frozen=True, slots=True, eq=False)
class MemoSlots:
    """The slots of a scope in a flow that has nodes with a memo (S13.1)."""

    outer: Mapping[int, int]  # of imports: own slot -> slot of the parent scope
    unread: frozenset[int]  # read only by nodes whose outcomes may be in the store
    reads: Mapping[
        int, tuple[tuple[str, ...], tuple[int, ...]]
    ]  # by node: ports and slots, if each input is one slot
    digests: dict[int, bytes] = field(
        default_factory=dict
    )  # content hashes of plain constants, computed on first use


@dataclass(slots=True, eq=False)
class ScopePlan:
    """The plan of one scope.

    Indexed by slot: `initial`, `readers`, `calls`, `has_other_readers`, `shared`, `holders`; by node:
    `nodes`, `quick`, `ends`, `waits`, `held`, `states`, `durations`.
    """

    nodes: tuple[PlanNode, ...] = ()
    initial: list[Any] = field(default_factory=list)  # constants, and UNSETTLED for all others
    readers: list[tuple[int, ...]] = field(default_factory=list)  # nodes that wait for the slot
    calls: list[tuple[int, ...] | None] = field(
        default_factory=list
    )  # the same nodes, if all are simple calls
    # whether others than `readers` depend on the slot
    has_other_readers: bytearray = field(default_factory=bytearray)
    early: dict[int, tuple[int, ...]] = field(default_factory=dict)  # slot -> merges, and maps over edges
    indexed: frozenset[int] = frozenset()  # slots that a map over edges reads from another map (S7.4)
    lazy: dict[int, tuple[int, ...]] = field(default_factory=dict)  # slot -> nodes with a lazy port for it
    deferred: frozenset[int] = frozenset()  # nodes that run only if they are pulled
    quick: list[QuickCall | None] = field(default_factory=list)  # None: no fast path
    ends: list[QuickEnd | None] = field(default_factory=list)  # None: no fast path
    states: bytearray = field(default_factory=bytearray)  # the initial states of the nodes: WAITING
    durations: list[float] = field(default_factory=list)  # zeros, as many as there are nodes
    demanded: int = 0  # the number of nodes that are not deferred
    waits: list[int] = field(default_factory=list)  # the number of slots a node waits for
    shared: bytearray = field(default_factory=bytearray)  # whether it has several references (S3.4)
    parameters: dict[str, int] = field(default_factory=dict)  # inputs, loop variables or items
    imports: list[tuple[int, int]] = field(default_factory=list)  # (slot of the parent scope, own slot)
    exports: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # slot -> (owner, its slot)
    starts: tuple[int, ...] = ()  # nodes that wait for nothing
    disabled: tuple[int, ...] = ()
    begins_with_parameters: bool = False  # and with nothing else: no starts, imports or disabled nodes
    settled: tuple[int, ...] = ()  # constants that a merge, a test or the owner of a map reads
    collects: dict[int, tuple[int, ...]] = field(default_factory=dict)  # slot -> slots of the map's owner
    test: int | None = None  # the slot that decides an `until` loop
    awaited: tuple[int, ...] = ()  # imports that the owner reads at the end
    awaited_nexts: tuple[int, ...] = ()  # of an `until` loop: imports read only if another iteration follows
    after_test: tuple[int, ...] = ()  # nodes of a loop's body that wait for its test
    uses: Uses | None = None  # only if the flow has races or lazy ports
    memo: MemoSlots | None = None  # only if nodes of the flow have a memo
    names: list[str] = field(default_factory=list)  # of the slots, in messages
    at_end: frozenset[int] = frozenset()  # slots that are read after the end of a scope instance
    _slot_references: SlotReferences | None = None

    @property
    def held(self) -> Sequence[Sequence[int]]:
        """The slots that each node reads or fills, itself or inside it."""
        return self._references().held

    @property
    def holders(self) -> list[int]:
        """The number of references to each slot; see `Frame.holders`."""
        return self._references().holders

    def _references(self) -> SlotReferences:
        """Count the references on first use: few runs release values."""
        if self._slot_references is None:
            self._slot_references = slot_references_of(self)
        return self._slot_references


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FlowPlan:
    """A compiled flow, ready to run. `wiring` is the graph definition it was compiled from."""

    name: str
    wiring: Wiring
    root: ScopePlan
    outputs: Mapping[str, int]  # flow output -> slot of the root
    unused_policies: tuple[str, ...] = ()  # settings without effect in a subflow
    memos: frozenset[Reach] = frozenset()  # the cache scopes of its nodes, including those of subflows
    size: int = 0  # how many nodes it has, with those of each use of a subflow
    has_limits: bool = False  # a node has a limit
    named_limits: tuple[tuple[str, str], ...] = ()  # path of a node, name of its limit

    def of(self, wiring: Wiring) -> FlowPlan:
        """Return the plan for another graph definition, which may differ only in configs."""
        return replace(self, wiring=wiring)


def nested_plan(flow: Nested) -> FlowPlan:
    """Return the plan of a subflow; raises FlowInvalid."""
    plan = flow.compile()
    assert isinstance(plan, FlowPlan), "what can be placed is compiled to a plan"
    return plan


class SlotReferences(NamedTuple):
    """The slots that each node refers to, and the number of references to each slot."""

    held: Sequence[Sequence[int]]  # by node: the slots that it reads or fills, itself or inside
    holders: list[int]  # by slot


def slot_references_of(plan: ScopePlan) -> SlotReferences:
    """Count the references to the values of a scope; constants and final reads are never released."""
    held = [{*node.outputs.values(), *(s for feed in node.feeds for s in feed.slots)} for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:  # every scope instance that it opens reads it
            held[owner].add(slot)
    counted = Counter(slot for slots in held for slot in slots)
    holders = [
        1 + counted[slot] + (value is not UNSETTLED or slot in plan.at_end)
        for slot, value in enumerate(plan.initial)
    ]
    return SlotReferences([sorted(slots) for slots in held], holders)


@dataclass(frozen=True, slots=True)
class Uses:
    """The producers and readers of the slots of one scope."""

    makers: Mapping[int, int]  # slot -> its producer; imported slots have none
    readers: Mapping[int, tuple[int, ...]]  # slot -> nodes that read it, themselves or inside
    reads: tuple[tuple[int, ...], ...]  # by node: the slots it reads, itself or inside
    needs: tuple[tuple[int, ...], ...]  # likewise, without slots that are read only if they are pulled
    held: frozenset[int]  # slots that the opener of the scope instance reads
    demanded: frozenset[int]  # nodes that run without being pulled (S6.1, S8.1)
    eventually: frozenset[int]  # those, and nodes that only a next iteration needs
    imported: frozenset[int]  # imported slots that are needed, at the latest for a next iteration


@dataclass(frozen=True, slots=True)
class Links:
    """The producers and readers of the values of a scope, a subset of `Uses`."""

    makers: Mapping[int, int]
    readers: Mapping[int, Sequence[int]]
    reads: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]

    @property
    def has_lazy(self) -> bool:
        """Whether something may be read only if it is pulled."""
        return self.reads is not self.needs


def links_of(plan: ScopePlan) -> Links:
    """Return the producers and readers of the values of a scope, with a short path for most scopes."""
    uses = plan.uses
    if uses is not None:
        return Links(uses.makers, uses.readers, uses.reads, uses.needs)
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:
            reads[owner][slot] = None
    readers = _readers_by_slot(reads)
    found = tuple(map(tuple, reads))
    return Links(makers, readers, found, found)


def _readers_by_slot(reads: Sequence[Iterable[int]]) -> dict[int, list[int]]:
    readers: dict[int, list[int]] = {}
    for index, slots in enumerate(reads):
        for slot in slots:
            readers.setdefault(slot, []).append(index)
    return readers


def uses_of(plan: ScopePlan, now: Iterable[int], later: Iterable[int] = ()) -> Uses:
    """Compute the uses of a scope; the scopes inside must have theirs.

    `now` are the slots that its owner, or the flow's outputs, always read, `later` those that the owner
    reads only if another iteration of a loop follows (S6.1).
    """
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    needs = [dict.fromkeys(_needed(node)) for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, own in inner:
            reads[owner][slot] = None
            if own in _imported(plan.nodes[owner]):
                needs[owner][slot] = None
    readers = _readers_by_slot(reads)
    first, imports = frozenset(now), {own for _, own in plan.imports}
    held = first.union(later)
    demanded, eventually = (_demanded(plan, makers, readers, needs, held, roots) for roots in (first, held))
    return Uses(
        makers=makers,
        readers={slot: tuple(found) for slot, found in readers.items()},
        reads=tuple(map(tuple, reads)),
        needs=tuple(map(tuple, needs)),
        held=held,
        demanded=demanded,
        eventually=eventually,
        imported=frozenset(imports & held.union(*(needs[index] for index in eventually))),
    )


def second_source(node: PlanNode) -> int | None:
    """Return the slot that a fallback reads only if its first source is a skip; None for any other node."""
    action = node.action
    is_fallback = isinstance(action, JoinOf) and action.mode is Join.FALLBACK
    return node.feeds[0].slots[1] if is_fallback else None


def _needed(node: PlanNode) -> Iterable[int]:
    """Return the slots that a node reads in any case."""
    if second_source(node) is not None:
        return node.feeds[0].slots[:1]
    return [slot for feed in node.feeds if not feed.is_lazy for slot in feed.slots]


def _imported(owner: PlanNode) -> frozenset[int]:
    """Return the imported slots that the scope instances of a node need."""
    assert isinstance(owner.action, LoopOf | MapOf), "only their bodies have imports"
    uses = owner.action.body.uses
    assert uses is not None, "the scopes inside come first"
    return uses.imported


def _demanded(
    plan: ScopePlan,
    makers: Mapping[int, int],
    readers: Mapping[int, Iterable[int]],
    needs: list[dict[int, None]],
    held: frozenset[int],
    roots: frozenset[int],
) -> frozenset[int]:
    """Find the nodes that run in any case: unread ones, producers of the roots, and their dependencies."""
    unread = [
        node.index for node in plan.nodes
        if not any(slot in readers or slot in held for slot in node.outputs.values())
    ]  # fmt: skip
    found = {*unread, *(makers[slot] for slot in roots if slot in makers)}
    todo = list(found)
    while todo:
        for slot in needs[todo.pop()]:
            maker = makers.get(slot)
            if maker is not None and maker not in found:
                found.add(maker)
                todo.append(maker)
    return frozenset(found)
