"""The plan: integer-indexed arrays of nodes and slots, with the producers and readers of each slot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dataflow.core.states import UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from typing import Literal

    from dataflow.compiler.graph import CallAction, Join
    from dataflow.core.attempts import Bounds
    from dataflow.core.context import MergeFunction
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import EachOptions, Memo, Policy, Reach, Settings
    from dataflow.core.wiring import Nested, Wiring


__all__ = [
    "Call",
    "Feed",
    "FlowOf",
    "FlowPlan",
    "Holding",
    "JoinOf",
    "Links",
    "LoopOf",
    "MapOf",
    "MemoSlots",
    "PlanNode",
    "QuickCall",
    "QuickEnd",
    "ScopePlan",
    "Uses",
    "holding_of",
    "links_of",
    "nested_plan",
    "uses_of",
]


class Holding(NamedTuple):
    """What each node of a scope holds, and how many hold each value."""

    held: Sequence[Sequence[int]]  # by node: the slots that it reads or fills, itself or inside it
    holders: list[int]  # by slot


def holding_of(plan: ScopePlan) -> Holding:
    """Tell who holds which value of a scope; constants and what is read at the end are held for ever."""
    held = [{*node.outputs.values(), *(s for feed in node.feeds for s in feed.slots)} for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:  # every frame that it opens reads it
            held[owner].add(slot)
    counted = Counter(slot for slots in held for slot in slots)
    holders = [
        1 + counted[slot] + (value is not UNSETTLED or slot in plan.at_end)
        for slot, value in enumerate(plan.initial)
    ]
    return Holding([sorted(slots) for slots in held], holders)


@dataclass(frozen=True, slots=True)
class Uses:
    """The makers and readers of the slots of one scope."""

    makers: Mapping[int, int]  # slot -> the node that gives it; slots from outside have none
    readers: Mapping[int, tuple[int, ...]]  # slot -> nodes that read it, or inside of which it is read
    reads: tuple[tuple[int, ...], ...]  # by node: the slots it reads, itself or inside
    needs: tuple[tuple[int, ...], ...]  # likewise, without what only lazy ports read
    held: frozenset[int]  # slots that whoever opened the frame reads
    demanded: frozenset[int]  # nodes that a frame runs without being asked for them (S6.1, S8.1)
    eventually: frozenset[int]  # those, and what only a next round needs
    imported: frozenset[int]  # slots from outside that a frame needs, at the latest for a next round


@dataclass(frozen=True, slots=True)
class Links:
    """Who makes and who reads the values of a scope, and no more than that; see `Uses`."""

    makers: Mapping[int, int]
    readers: Mapping[int, Sequence[int]]
    reads: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]

    @property
    def has_lazy(self) -> bool:
        """Whether there is anything that only lazy ports read."""
        return self.reads is not self.needs


def links_of(plan: ScopePlan) -> Links:
    """Tell who makes and who reads the values of a scope; most have no lazy ports, nor races."""
    uses = plan.uses
    if uses is not None:
        return Links(uses.makers, uses.readers, uses.reads, uses.needs)
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:
            reads[owner][slot] = None
    readers: dict[int, list[int]] = {}
    for index, slots in enumerate(reads):
        for slot in slots:
            readers.setdefault(slot, []).append(index)
    found = tuple(map(tuple, reads))
    return Links(makers, readers, found, found)


def uses_of(plan: ScopePlan, now: Iterable[int], later: Iterable[int] = ()) -> Uses:
    """Tell who uses what in a scope; the scopes inside come first.

    `now` are the slots that its owner, or the flow's outputs, read in any case, `later` those that the
    owner reads only if another round of a loop follows (S6.1).
    """
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    needs = [
        dict.fromkeys(slot for feed in node.feeds if not feed.is_lazy for slot in feed.slots)
        for node in plan.nodes
    ]
    for slot, inner in plan.exports.items():
        for owner, own in inner:
            reads[owner][slot] = None
            if own in _imported(plan.nodes[owner]):
                needs[owner][slot] = None
    readers: dict[int, list[int]] = {}
    for index, slots in enumerate(reads):
        for slot in slots:
            readers.setdefault(slot, []).append(index)
    at_once, imports = frozenset(now), {own for _, own in plan.imports}
    held = at_once.union(later)
    demanded, eventually = (_demanded(plan, makers, readers, needs, held, roots) for roots in (at_once, held))
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


def _imported(owner: PlanNode) -> frozenset[int]:
    """Return which slots from outside the frames that a node opens need."""
    assert isinstance(owner.action, LoopOf | MapOf), "only their bodies read what is outside"
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
    """Find what a frame runs: what nothing reads, what gives the roots, and all that these need."""
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


@dataclass(slots=True, eq=False)  # never changed; a frozen one takes twice as long to make
class Feed:
    """A connected input port: the slots its edges read, in declared order."""

    port: str
    slots: tuple[int, ...]
    labels: tuple[str, ...]  # names the source of each slot in messages
    many: bool = False
    required: bool = True
    default: object = None  # of an optional port
    check: object = None  # the type that values from an Any port must have, None for no check
    takes_failure: bool = False
    is_signal: bool = False
    is_lazy: bool = False  # demanded only when the node will fire (S8.3)
    is_constant: bool = False  # of a node: no edge leads to it


@dataclass(slots=True, eq=False)  # never changed; a frozen one takes twice as long to make
class Call:
    """Call a node function.

    `positional` and `keywords` say what each parameter is given: a feed, or a slot with a constant.
    `star` is the feed that is spread over `*args`. `direct` are the slots of the arguments if every
    parameter is positional, and fed by constants or unchecked edges, one each but for `*args`.
    """

    type: NodeType
    policy: Policy
    common: CallAction  # what it has in common with the calls of nodes like it
    positional: tuple[Feed | int, ...]
    keywords: Mapping[str, Feed | int]
    star: Feed | None
    direct: tuple[int, ...] | None
    exits: Mapping[str, str]  # its outputs that are of an exit, by which it is a branch
    bounds: Bounds | None = None  # of its attempts, None where nothing bounds them
    is_simple: bool = False  # calling it runs none of its code, and nothing is to be seen to besides
    is_single: bool = False  # what it returns is the value of its one port
    memo: Memo | None = None  # how far its outcomes are remembered, None if they are not


@dataclass(slots=True, eq=False)
class QuickCall:
    """What a firing of most nodes comes to: a coroutine function is given values as they stand in slots."""

    function: Callable[..., Coroutine[Any, Any, Any]]
    slot: int  # of its one argument
    take: Callable[[Sequence[Any]], Sequence[Any]] | None  # any other number of arguments, out of all values
    is_shared: bool  # the arguments have other holders too (S3.4)


@dataclass(slots=True, eq=False)
class QuickEnd:
    """What the end of most firings comes to: the value that the function has returned stands in one slot."""

    out: int  # the slot
    calls: tuple[int, ...] | None  # see `ScopePlan.calls`; None also where a map collects the value
    is_collected: bool  # a map collects the value, and nobody else hears of it


@dataclass(frozen=True, slots=True)
class JoinOf:
    """Join the slots (S5.3). `how` makes one context of several (S10.4)."""

    mode: Join
    how: MergeFunction | None = None


@dataclass(frozen=True, slots=True)
class LoopOf:
    """Run `body` round by round (S6).

    `carried` maps a carried port to its slot in the body and the body's slot of its next value; `test`
    is a slot of the body; `gate` is the slot that the nodes wait for which only next values need (S6.1). Of a
    loop without a test that has `feedback`, another round follows if one of these carried ports gets a value.
    """

    body: ScopePlan
    kind: Literal["until", "while"] | None
    test: int | None
    predicate: Callable[[Any], bool] | None
    limit: int | None
    on_limit: Literal["fail", "exit"]
    carried: Mapping[str, tuple[int, int]]
    finals: Mapping[int, str]  # own output slot -> carried port
    results: Mapping[int, int]  # own output slot -> slot of the body
    alls: frozenset[int]  # of these output slots, the lists of the values of all rounds
    gate: int | None
    feedback: frozenset[str] = frozenset()  # carried ports that feedback edges lead to (S6.3)
    shown: Mapping[int, int] = field(default_factory=dict)  # as `results`, of what nobody reads


@dataclass(frozen=True, slots=True)
class MapOf:
    """Open a frame of `body` for each item (S7.1). `lists` maps an item's slot to the feed of its list.

    Of a map over edges it is the feed of all edges, each of which brings an item, or a list of items with
    their indexes (S7.4).
    """

    body: ScopePlan
    options: EachOptions
    lists: Mapping[int, Feed]
    is_every: bool = False  # over edges
    early: frozenset[int] = frozenset()  # slots of the lists that are read again inside the map (S7.1)


@dataclass(frozen=True, slots=True, eq=False)
class FlowOf:
    """Run a flow in a frame of its own (S7.3).

    `inputs` maps slots of its root to what they are given, `results` own output slots to slots of its root.
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
    names_frame: bool  # its path is the frame's own: it was the first to read the map (S2.2)
    failure_is_taken: bool  # every use of its ports is a Failure port, which takes an error (S9.4)
    is_plain: bool  # if all it waits for are values it fires; else the firing rule is looked at

    @property
    def is_visible(self) -> bool:
        """Whether it is a node of the flow, with a state and events; joins are not."""
        return not isinstance(self.action, JoinOf)

    @property
    def policy(self) -> Policy | None:
        """The settings of a node that may be given some."""
        return self.action.policy if isinstance(self.action, Call | FlowOf) else None


@dataclass(frozen=True, slots=True, eq=False)
class MemoSlots:
    """What is known of the slots of a scope in a flow that has nodes with a memo (S13.1)."""

    outer: Mapping[int, int]  # of values from outside: own slot -> slot of the parent scope
    unread: frozenset[int]  # read by none but nodes whose outcomes may be in the store
    reads: Mapping[int, tuple[tuple[str, ...], tuple[int, ...]]]  # ports and slots of nodes that only read
    digests: dict[int, bytes] = field(default_factory=dict)  # of plain constants, as far as they were needed


@dataclass(slots=True, eq=False)
class ScopePlan:
    """The plan of one scope.

    Indexed by slot: `initial`, `readers`, `calls`, `is_told`, `shared`, `holders`; by node: `nodes`, `quick`,
    `ends`, `waits`, `held`.
    """

    nodes: tuple[PlanNode, ...] = ()
    initial: list[Any] = field(default_factory=list)  # constants stand in it, the rest is UNSETTLED
    readers: list[tuple[int, ...]] = field(default_factory=list)  # nodes that wait for the slot
    calls: list[tuple[int, ...] | None] = field(default_factory=list)  # these nodes, if all are simple calls
    is_told: bytearray = field(default_factory=bytearray)  # whether others than `readers` hear of the slot
    early: dict[int, tuple[int, ...]] = field(default_factory=dict)  # slot -> merges, and maps over edges
    indexed: frozenset[int] = frozenset()  # slots with what a map over edges reads of another map (S7.4)
    lazy: dict[int, tuple[int, ...]] = field(default_factory=dict)  # slot -> nodes with a lazy port for it
    deferred: frozenset[int] = frozenset()  # nodes that run only if they are asked for
    quick: list[QuickCall | None] = field(default_factory=list)  # None: a firing takes more than that
    ends: list[QuickEnd | None] = field(default_factory=list)  # None: its end takes more than that
    states: bytearray = field(default_factory=bytearray)  # that nodes begin in: each is WAITING
    demanded: int = 0  # how many nodes are no deferred ones
    waits: list[int] = field(default_factory=list)  # how many slots a node waits for
    shared: bytearray = field(default_factory=bytearray)  # whether more than one holder has it (S3.4)
    parameters: dict[str, int] = field(default_factory=dict)  # inputs, carried ports or items
    imports: list[tuple[int, int]] = field(default_factory=list)  # (slot of the parent scope, own slot)
    exports: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # slot -> (owner, its slot)
    starts: tuple[int, ...] = ()  # nodes that wait for nothing
    disabled: tuple[int, ...] = ()
    begins_with_parameters: bool = False  # and with nothing else: it has none of the above, nor is it empty
    settled: tuple[int, ...] = ()  # constants that a merge, a test or a map's owner looks at
    collects: dict[int, tuple[int, ...]] = field(default_factory=dict)  # slot -> slots of the map's owner
    test: int | None = None  # the slot that decides an `until` loop
    awaited: tuple[int, ...] = ()  # imports that the owner reads when a frame ends
    awaited_nexts: tuple[int, ...] = ()  # of an `until` loop: imports read only if another round follows
    after_test: tuple[int, ...] = ()  # nodes of a loop's body that wait for its test
    uses: Uses | None = None  # where there are races or lazy ports in the flow
    memo: MemoSlots | None = None  # where nodes of the flow have a memo
    names: list[str] = field(default_factory=list)  # what each slot is called in messages
    at_end: frozenset[int] = frozenset()  # slots that are read when a frame has ended
    _holding: Holding | None = None

    @property
    def held(self) -> Sequence[Sequence[int]]:
        """The slots that each node reads or fills, itself or inside it."""
        return self._told_holding().held

    @property
    def holders(self) -> list[int]:
        """See `Frame.holders`."""
        return self._told_holding().holders

    def _told_holding(self) -> Holding:
        """Tell who holds which value, once: few runs let values go."""
        if self._holding is None:
            self._holding = holding_of(self)
        return self._holding


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FlowPlan:
    """A whole flow, ready to run. `wiring` tells whose plan it is."""

    name: str
    wiring: Wiring
    root: ScopePlan
    outputs: Mapping[str, int]  # flow output -> slot of the root
    unused_policies: tuple[str, ...] = ()  # settings that have no effect where they stand
    memos: frozenset[Reach] = frozenset()  # how far outcomes of its nodes are remembered, and of flows in it
    has_limits: bool = False  # a node has a limit
    named_limits: tuple[tuple[str, str], ...] = ()  # path of a node, name of its limit

    def of(self, wiring: Wiring) -> FlowPlan:
        """Return the plan as that of another wiring, which it differs from in configs alone."""
        return replace(self, wiring=wiring)


def nested_plan(flow: Nested) -> FlowPlan:
    """Return the plan of a flow that is placed in another; raises FlowInvalid."""
    plan = flow.compile()
    assert isinstance(plan, FlowPlan), "what can be placed is compiled to a plan"
    return plan
