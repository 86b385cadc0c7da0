"""Random flat flows with feedback edges, and what they come to, played round by round (S6.3, S6.4)."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dataflow.core.ports import SKIP
from tests.properties.document_reading import signature_of
from tests.properties.node_functions import Odds, call_plainly
from tests.properties.plain_loops import Loop, RandomGraph, plain_loops
from tests.properties.playing import FUNCTIONS
from tests.properties.random_flows import CONSTANTS, Program

#: Types of nodes: the ports that take one value, whether one takes many, and the ports that they give.
SHAPES: Final[dict[str, tuple[tuple[str, ...], bool, tuple[str, ...]]]] = {
    "t.one": (("a",), False, ("out",)),
    "t.two": (("a", "b"), False, ("out",)),
    "t.optional": (("a",), False, ("out",)),
    "t.one_optional": (("a", "b"), False, ("out",)),
    "t.two_optional": (("a", "b"), False, ("out",)),
    "t.many": ((), True, ("out",)),
    "t.one_many": (("a",), True, ("out",)),
    "t.parts": (("a",), False, ("sure", "left", "right")),
    "control.if": (("value",), False, ("yes", "no")),
}
#: Types that are drawn more often: without nodes that read several others few loops have several heads.
BROAD: Final = ("t.two", "t.two_optional", "t.many", "t.many", "t.one_many")
#: Ports that need a value.
REQUIRED: Final = {
    "t.one": {"a"}, "t.two": {"a", "b"}, "t.one_optional": {"a"}, "t.one_many": {"a"},
    "t.parts": {"a"}, "control.if": {"value"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge; the source is the number of a node, or None for the input of the flow."""

    source: int | None
    source_port: str
    target: int
    port: str
    feedback: bool = False
    each_round: bool = False
    leave: str = "last"
    limit: int | None = 100
    on_limit: str = "exit"
    is_item: bool = False  # one of the edges that a map goes over
    is_list: bool = False  # it reads the list of a map

    @property
    def source_text(self) -> Any:
        """Write the source alone, as one of its port's own."""
        text = f"n{self.source}.{self.source_port}" if self.source is not None else f"$in.{self.source_port}"
        return {"collect": text} if self.is_list else text

    def written(self) -> dict[str, Any]:
        said = {name: getattr(self, name) for name in ("feedback", "each_round") if getattr(self, name)}
        said |= {"limit": self.limit, "on_limit": self.on_limit} if self.feedback else {}
        said |= {"leave": "all"} if self.leave == "all" else {}
        begins = {"source": "$in"} if self.source is None else {"source": f"n{self.source}"}
        ends = {"target": f"n{self.target}", "target_port": self.port}
        return {**begins, "source_port": self.source_port, **ends, **said}


@dataclass(slots=True)
class FlatFlow:
    """Nodes by number, each reads those below it; `declared` is their order in the document."""

    types: list[str]
    nodes: list[dict[str, Any]]
    wires: list[Wire]
    declared: list[int]
    x: Any
    loops: list[Loop] = field(default_factory=list)

    @property
    def own(self) -> set[tuple[int, str]]:
        """The ports with sources of their own, because one of them is more than a port of a node."""
        return {(one.target, one.port) for one in self.wires if one.is_item or one.is_list}

    def cells(self) -> list[int | None]:
        """Tell of each node in which map it is, by the number of the node that opens the map."""
        found: list[int | None] = []
        for n in range(len(self.types)):
            into = [wire for wire in self.wires if wire.target == n and not wire.feedback]
            chained = (found[wire.source] for wire in into if wire.source is not None and is_chained(wire))
            opened = n if any(wire.is_item for wire in into) else None
            found.append(next((cell for cell in chained if cell is not None), opened))
        return found

    def _inputs(self, n: int) -> dict[str, Any]:
        inputs: dict[str, Any] = {}
        for wire in self.wires:
            if wire.target == n and (n, wire.port) in self.own and not wire.feedback:
                inputs.setdefault(wire.port, []).append(wire)
        for port, wires in inputs.items():
            texts = [wire.source_text for wire in wires]
            inputs[port] = {"every": texts} if wires[0].is_item else texts if port == "xs" else texts[0]
        return {"inputs": inputs} if inputs else {}

    def program(self) -> Program:
        own = self.own
        edges = [wire for wire in self.wires if wire.feedback or (wire.target, wire.port) not in own]
        ports = [(n, port) for n, kind in enumerate(self.types) for port in SHAPES[kind][2]]
        document = {
            "dataflow": 1, "name": "random", "uses": {"t": "tests.properties.node_functions"},
            "inputs": {"x": {}}, "using": {"errors": "continue"},
            "nodes": {f"n{n}": {**self.nodes[n], **self._inputs(n)} for n in self.declared},
            "edges": [wire.written() for wire in edges],
            "outputs": {f"n{n}_{port}": f"n{n}.{port}" for n, port in ports},
        }  # fmt: skip
        return Program(document, {"x": self.x})


def flat_flow(choose: random.Random) -> FlatFlow:
    types = [choose.choice([*SHAPES, *BROAD]) for _ in range(choose.randint(1, 10))]
    wires = [wire for n, kind in enumerate(types) for wire in _into(choose, types, n, kind)]
    if choose.random() < 0.5:
        wires = draw_items(choose, wires, lambda below: _source(choose, types, below))
    wires += _feedback(choose, types, wires)
    wires = [wire for wire in wires if wire.feedback or not _is_left_to_feedback(choose, wire, wires)]
    wires = [wire for wire in wires if not wire.feedback or wire.source in _behind(wire.target, wires)]
    wired = {(wire.target, wire.port) for wire in wires}
    needed = [(n, port) for n, kind in enumerate(types) for port in sorted(REQUIRED.get(kind, ()))]
    wires += [Wire(None, "x", *place) for place in needed if place not in wired]
    declared = [*range(len(types))]
    if choose.random() < 0.3:
        choose.shuffle(declared)
    nodes = [_node(choose, kind) for kind in types]
    flow = FlatFlow(types, nodes, wires, declared, choose.choice((0, 1, 2, 3, "", None)))
    _say_of_rounds(choose, flow)
    choose.shuffle(flow.wires)
    return flow


def _node(choose: random.Random, kind: str) -> dict[str, Any]:
    if kind == "control.if":
        return {"type": kind, "config": {"predicate": choose.choice(("t:is_odd", "t:is_third"))}}
    odds = {"salt": choose.randrange(1, 10), "gap": choose.choice((0, 0, 0, 2, 3))}
    breaks = choose.choice((0,) * 12 + (3, 7))
    odds = {name: given for name, given in {**odds, "breaks": breaks}.items() if given}
    if kind == "t.parts":
        odds.pop("gap", None)
    policy = choose.choice(({}, {}, {"on_error": "skip"}, {"default": choose.choice(CONSTANTS)}))
    policy = {} if kind == "t.parts" else policy
    return {"type": kind, "config": odds, **({"policy": policy} if breaks and policy else {})}


def _into(choose: random.Random, types: list[str], target: int, kind: str) -> list[Wire]:
    single, many, _ = SHAPES[kind]
    found = [
        Wire(*_source(choose, types, target), target, port)
        for port in single
        if port in REQUIRED.get(kind, ()) or choose.random() < 0.7
    ]
    count = choose.randint(int(not single), 3) if many else 0
    return found + [Wire(*_source(choose, types, target), target, "xs") for _ in range(count)]


def _source(choose: random.Random, types: list[str], below: int) -> tuple[int | None, str]:
    if not below or choose.random() < 0.1:
        return None, "x"
    source = max(choose.randrange(below), choose.randrange(below))
    return source, choose.choice(SHAPES[types[source]][2])


def _feedback(choose: random.Random, types: list[str], wires: list[Wire]) -> list[Wire]:
    """Draw edges back to a node from one that a path leads to."""
    found: list[Wire] = []
    for _ in range(choose.randint(1, 5)):
        head, source = choose.randrange(len(types)), -1
        if found and choose.random() < 0.4:  # two loops that share where they end
            source = found[-1].source or 0
            head = choose.choice([n for n in range(source + 1) if source in _behind(n, wires)])
        single, many, _ = SHAPES[types[head]]
        source = choose.choice(sorted(_behind(head, wires))) if source < 0 else source
        opened = {(wire.target, wire.port) for wire in wires if wire.is_item}
        ports = [port for port in (*single, *(["xs"] if many else [])) if (head, port) not in opened]
        if not ports or (source, "a") in opened:
            continue
        port = choose.choice(ports)
        ends = choose.choice(SHAPES[types[source]][2]), head, port
        limit, on_limit = choose.randint(1, 4), "fail" if choose.random() < 0.1 else "exit"
        found.append(Wire(source, *ends, True, limit=limit, on_limit=on_limit))
    return found


def _behind(node: int, wires: list[Wire]) -> set[int]:
    behind = {node}
    for wire in sorted(wires, key=lambda wire: wire.target):
        behind |= {wire.target} if wire.source in behind and not wire.feedback else set()
    return behind


def _is_left_to_feedback(choose: random.Random, wire: Wire, wires: list[Wire]) -> bool:
    """Tell whether a port with a feedback edge goes without one from outside."""
    back = any(one.feedback and one.target == wire.target and one.port == wire.port for one in wires)
    return back and choose.random() < 0.2


def _say_of_rounds(choose: random.Random, flow: FlatFlow) -> None:
    """Declare some edges part of loops, and some that leave one as lists; then find the loops."""
    for n, wire in enumerate(flow.wires):
        if not wire.feedback and (wire.target, wire.port) not in flow.own and choose.random() < 0.08:
            flow.wires[n] = replace(wire, each_round=True)
    find_loops(flow)
    fit_lists(choose, flow)
    find_loops(flow)
    before = list[Wire]()
    while before != flow.wires:
        before = list(flow.wires)
        fit_lists(choose, flow, 0)
        find_loops(flow)
    for n, wire in enumerate(flow.wires):
        is_own = (wire.target, wire.port) in flow.own
        if _leaves(flow, wire) and not is_own and not wire.feedback and choose.random() < 0.2:
            flow.wires[n] = replace(wire, leave="all")


def find_loops(flow: FlatFlow) -> None:
    """Find the loops, and let edges say nothing of rounds where that would be of none."""
    before = list[Wire]()
    while before != flow.wires:
        before = flow.wires
        flow.loops = _loops(flow, [wire for wire in before if wire.each_round])
        inside = {node for loop in flow.loops for node in loop.body}
        flow.wires = [replace(one, each_round=one.each_round and one.source in inside) for one in before]
    flow.wires = [one if _leaves(flow, one) else replace(one, leave="last") for one in flow.wires]


def _leaves(flow: FlatFlow, wire: Wire) -> bool:
    return any(wire.source in loop.body and wire.target not in loop.body for loop in flow.loops)


def _loops(flow: FlatFlow, into: list[Wire]) -> list[Loop]:
    pairs = {True: list[tuple[int, int]](), False: list[tuple[int, int]]()}
    for wire in flow.wires:
        if wire.source is not None:
            pairs[wire.feedback].append((wire.source, wire.target))
    declared = tuple((wire.source, wire.target) for wire in into if wire.source is not None)
    graph = RandomGraph(len(flow.types), tuple(pairs[False]), tuple(pairs[True]), declared)
    return list(plain_loops(graph, random.Random(0)))


def is_chained(wire: Wire) -> bool:
    """Tell whether what reads an edge is in the map that it begins in, if it begins in one."""
    return wire.source is not None and not (wire.feedback or wire.is_item or wire.is_list)


def draw_items(
    choose: random.Random, wires: list[Wire], source: Callable[[int], tuple[int | None, str]]
) -> list[Wire]:
    """Let some ports go over the edge that they have, and over others."""
    found: list[Wire] = []
    known = set[tuple[tuple[int | None, str], ...]]()
    for wire in wires:
        more = [source(wire.target) for _ in range(choose.randint(0, 2))]
        several = (wire.source, wire.source_port), *more
        if wire.port != "a" or choose.random() > 0.4 or several in known:
            found.append(wire)
            continue
        known.add(several)  # the same edges again would be the same map (S7.1)
        found += [replace(wire, source=one, source_port=port, is_item=True) for one, port in several]
    return found


def read_as_lists(flow: FlatFlow) -> None:
    """Have everything behind a map read lists, so that no other node is in one."""
    opening = {wire.target for wire in flow.wires if wire.is_item}
    for position, wire in enumerate(flow.wires):
        flow.wires[position] = replace(wire, is_list=wire.is_list and wire.source in opening)
    for position, wire in enumerate(flow.wires):
        if wire.source in opening and not wire.feedback:
            _read_list(flow, position)


def fit_lists(choose: random.Random, flow: FlatFlow, share: float = 0.5) -> None:
    """Have maps be read as lists where anything else is refused, and in some more places."""
    inside = [{n for n, loop in enumerate(flow.loops) if m in loop.body} for m in range(len(flow.types))]
    back = {wire.source for wire in flow.wires if wire.feedback}
    for target in range(len(flow.types)):
        for position, wire in enumerate(flow.wires):
            cells, source = flow.cells(), wire.source
            if (
                wire.target != target
                or wire.feedback
                or wire.is_list
                or source is None
                or cells[source] is None
            ):
                continue
            here, there = inside[target], inside[source]
            is_apart = not there <= here if wire.is_item else there != here
            is_taken = not wire.is_item and _opened_otherwise(flow, target, cells[source])
            leaves = not wire.is_item and target in back
            if is_apart or is_taken or leaves or (share and choose.random() < share):
                _read_list(flow, position)
        _part(flow, target)
    cells = flow.cells()
    for position, wire in enumerate(flow.wires):
        if wire.is_list and wire.source is not None and cells[wire.source] is None:
            flow.wires[position] = replace(wire, is_list=False)


def _opened_otherwise(flow: FlatFlow, target: int, cell: int | None) -> bool:
    """Tell whether a node is in another map than this one, by another of its edges."""
    cells = flow.cells()
    into = [wire for wire in flow.wires if wire.target == target]
    others = {cells[wire.source] for wire in into if wire.source is not None and is_chained(wire)}
    others |= {target for wire in into if wire.is_item}
    return bool(others - {None, cell})


def _part(flow: FlatFlow, target: int) -> None:
    """Keep a map from being inside the one that all its edges are in."""
    cells = flow.cells()
    into = [(n, wire) for n, wire in enumerate(flow.wires) if wire.target == target and wire.is_item]
    maps = {None if wire.source is None or wire.is_list else cells[wire.source] for _, wire in into}
    if into and len(maps) == 1 and maps != {None}:
        _read_list(flow, into[0][0])


def _read_list(flow: FlatFlow, position: int) -> None:
    """Read a list by an edge; a port with sources of its own says nothing of rounds."""
    wire = flow.wires[position]
    flow.wires[position] = replace(wire, is_list=True)
    for n, one in enumerate(flow.wires):
        if (one.target, one.port) == (wire.target, wire.port) and not one.feedback:
            flow.wires[n] = replace(one, each_round=False, leave="last")


@dataclass(frozen=True, slots=True)
class Dead:
    """A port without a value."""

    failed: bool = False


#: What an edge brings in a round in which it does not count.
ABSENT: Final = Dead()
SKIPPED: Final = Dead()
FAILED: Final = Dead(failed=True)


@dataclass(eq=False)
class Round:
    """One round of a loop, or the run: what has fired in it, and the loops that were played in it."""

    path: str
    loop: Loop | None = None
    outer: Round | None = None
    number: int = 0
    carried: dict[Wire, Any] = field(default_factory=dict)
    ports: dict[int, dict[str, Any]] = field(default_factory=dict)
    played: dict[Loop, list[Round] | Dead] = field(default_factory=dict)
    has_failed: bool = False
    maps: dict[int, Map] = field(default_factory=dict)
    item: Any = None  # of a frame of a map
    cell: int | None = None  # of a frame: the node that opens the map


@dataclass(eq=False)
class Map:
    """A map over edges: its frames by index, and what all its lists are if they are no lists."""

    frames: dict[str, Round] = field(default_factory=dict)
    lists: Dead | None = None


class FlatReference:
    """Plays a flow; `states` tells of every path what it came to."""

    def __init__(self, flow: FlatFlow) -> None:
        self.flow = flow
        self.loops = sorted(flow.loops, key=lambda loop: len(loop.body))
        own = flow.own
        wires = sorted(flow.wires, key=lambda one: not one.feedback and (one.target, one.port) in own)
        self.wires = {n: [wire for wire in wires if wire.target == n] for n in range(len(flow.types))}
        self.cells = flow.cells()
        self.states: dict[str, str] = {}
        self.root = Round("")

    def run(self) -> dict[str, Any]:
        self._play(self.root)
        return {
            name: self._token(self.root, int(source.partition(".")[0][1:]), source.partition(".")[2], "last")
            for name, source in self.flow.program().document["outputs"].items()
        }

    # where nodes are

    def _innermost(self, node: int, within: Loop | None) -> Loop | None:
        """Return the outermost loop around a node that is inside another loop, None if there is none."""
        inside = [loop for loop in self.loops if node in loop.body and loop != within]
        inside = [loop for loop in inside if within is None or loop.body < within.body]
        return inside[-1] if inside else None

    def _head(self, loop: Loop) -> int:
        return min(loop.heads, key=self.flow.declared.index)

    def _path(self, this: Round, node: int) -> str:
        if this.cell is not None:
            return this.path if node == this.cell else f"{this.path}/n{node}"
        if this.loop is not None and self._head(this.loop) == node:
            return this.path
        return f"{this.path}/n{node}" if this.path else f"n{node}"

    # playing

    def _play(self, this: Round) -> None:
        body = range(len(self.flow.types)) if this.loop is None else sorted(this.loop.body)
        for node in body:
            inner, cell = self._innermost(node, this.loop), self.cells[node]
            if inner is not None:
                self._play_loop(this, inner)
            elif cell is not None:
                self._play_map(this, cell)
            else:
                self._fire(this, node)

    def _token(self, this: Round, node: int, port: str, leave: str) -> Any:
        """Return what an edge from a node brings to a reader in a round, or in the rounds around it."""
        home, cell = self._home(this, node), self.cells[node]
        inner = self._innermost(node, home.loop)
        if inner is None:
            return self._fire(home, node)[port] if cell is None else self._listed(home, cell, node, port)
        rounds = self._play_loop(home, inner)
        if isinstance(rounds, Dead):
            return rounds
        tokens = [self._token(one, node, port, leave) for one in rounds]
        live = [token for token in tokens if not isinstance(token, Dead)]
        if leave == "all":
            return FAILED if FAILED in tokens else copy.deepcopy(live)
        return live[-1] if live else tokens[-1]

    def _home(self, this: Round, node: int) -> Round:
        """Return the round around all in which a node is, or a loop around it."""
        home: Round | None = this
        while home is not None and (
            home.cell is not None or (home.loop is not None and node not in home.loop.body)
        ):
            home = home.outer
        assert home is not None, "the run is around all"
        return home

    def _wire(self, this: Round, wire: Wire) -> Any:
        if wire.is_item and this.cell is not None:
            return copy.deepcopy(this.item)
        if wire.source is None:
            return copy.deepcopy(self.flow.x)
        if is_chained(wire) and this.cell is not None and self.cells[wire.source] == this.cell:
            return self._fire(this, wire.source)[wire.source_port]
        return self._token(this, wire.source, wire.source_port, wire.leave)

    # maps

    def _play_map(self, this: Round, cell: int) -> Map:
        if cell not in this.maps:
            this.maps[cell] = self._opened(this, cell)
        return this.maps[cell]

    def _listed(self, this: Round, cell: int, node: int, port: str) -> Any:
        """Return the list of a port in all frames of the map that it is in."""
        found = self._play_map(this, cell)
        if found.lists is not None:
            return found.lists
        tokens = [frame.ports[node][port] for frame in found.frames.values()]
        if FAILED in tokens:
            return FAILED
        return copy.deepcopy([token for token in tokens if not isinstance(token, Dead)])

    def _opened(self, this: Round, cell: int) -> Map:
        wires = [wire for wire in self.wires[cell] if wire.is_item]
        brought, tokens = dict[str, Any](), list[Any]()
        for place, wire in enumerate(wires):
            tokens.append(self._wire(this, wire))
            brought.update(self._brought(this, place, wire, tokens[-1]))
        path, found = self._path(this, cell), Map()
        if not brought and all(isinstance(token, Dead) for token in tokens):
            found.lists = FAILED if FAILED in tokens else SKIPPED
            self.states[path] = "not_run" if FAILED in tokens else "skipped"
            return found
        members = [n for n, other in enumerate(self.cells) if other == cell]
        for index, item in brought.items():
            within = this.loop, this, this.number, this.carried
            frame = found.frames[index] = Round(f"{path}[{index}]", *within, item=item, cell=cell)
            for node in members:
                self._fire(frame, node)
        has_failed = any(frame.has_failed for frame in found.frames.values())
        this.has_failed = this.has_failed or has_failed
        found.lists = FAILED if has_failed or FAILED in tokens else None
        self.states[path] = "failed" if has_failed else "done" if found.lists is None else "not_run"
        return found

    def _brought(self, this: Round, place: int, wire: Wire, token: Any) -> dict[str, Any]:
        """Return what an edge of a map brings, by index: of a map all items, even if it has failed later."""
        cell = None if wire.source is None or wire.is_list else self.cells[wire.source]
        if cell is None or wire.source is None:
            return {} if isinstance(token, Dead) else {str(place): token}
        home = self._home(this, wire.source)
        if home is not this and isinstance(token, Dead):
            return {}
        tokens = {
            index: frame.ports[wire.source][wire.source_port]
            for index, frame in self._play_map(home, cell).frames.items()
        }
        return {f"{place}.{index}": one for index, one in tokens.items() if not isinstance(one, Dead)}

    # loops

    def _play_loop(self, this: Round, loop: Loop) -> list[Round] | Dead:
        if loop not in this.played:
            this.played[loop] = self._rounds(this, loop)
        return this.played[loop]

    def _rounds(self, this: Round, loop: Loop) -> list[Round] | Dead:
        path = self._path(this, self._head(loop))
        wires = [wire for head in sorted(loop.heads) for wire in self._carried(loop, head)]
        carried = {wire: ABSENT if wire.feedback else self._wire(this, wire) for wire in wires}
        firsts = [token for wire, token in carried.items() if not wire.feedback]
        if FAILED in firsts or (firsts and all(isinstance(token, Dead) for token in firsts)):
            self.states[path] = "not_run" if FAILED in firsts else "skipped"
            return FAILED if FAILED in firsts else SKIPPED
        feedback = [wire for wire in wires if wire.feedback]
        limit = min(wire.limit for wire in feedback if wire.limit is not None)
        rounds: list[Round] = []
        while True:
            rounds.append(Round(f"{path}[{len(rounds)}]", loop, this, len(rounds), carried))
            self._play(rounds[-1])
            carried = {wire: self._wire(rounds[-1], wire) if wire.feedback else ABSENT for wire in wires}
            goes_on = not all(isinstance(carried[wire], Dead) for wire in feedback)
            is_late = goes_on and len(rounds) == limit and any(wire.on_limit == "fail" for wire in feedback)
            if rounds[-1].has_failed or is_late:
                this.has_failed = True
                self.states[path] = "failed"
                return FAILED
            if not goes_on or len(rounds) == limit:
                self.states[path] = "done"
                return rounds

    def _carried(self, loop: Loop, head: int) -> Iterator[Wire]:
        """Yield the edges into a head that count in some of the rounds only."""
        for wire in self.wires[head]:
            back = any(one.feedback and one.port == wire.port for one in self.wires[head])
            if back and (wire.feedback or wire.source not in loop.body):
                yield wire

    # firing

    def _fire(self, this: Round, node: int) -> dict[str, Any]:
        if node not in this.ports:
            this.ports[node] = {}  # it reads nothing that reads it
            state, ports = self._fired(this, node)
            this.ports[node] = ports
            self.states[self._path(this, node)] = state
            this.has_failed = this.has_failed or (state == "failed" and FAILED in ports.values())
        return this.ports[node]

    def _fired(self, this: Round, node: int) -> tuple[str, dict[str, Any]]:
        kind, given = self.flow.types[node], dict[str, list[Any]]()
        for wire in self.wires[node]:
            if wire.is_item and wire.port in given:
                continue  # the item is there already, and which edge has brought it does not count
            token = this.carried[wire] if wire in this.carried else self._wire(this, wire)
            given.setdefault(wire.port, []).append(token)
        tokens = [token for several in given.values() for token in several]
        if FAILED in tokens:
            return "not_run", self._all(node, FAILED)
        live = {port: [one for one in tokens if not isinstance(one, Dead)] for port, tokens in given.items()}
        required = REQUIRED.get(kind, set())
        connected = {
            port for port, several in given.items()
            if port in required or any(token is not ABSENT for token in several)
        }  # fmt: skip
        if any(len(values) > 1 for port, values in live.items() if port != "xs"):
            return self._failed(node)
        if any(not live[port] for port in required) or (connected and not any(live.values())):
            return "skipped", self._all(node, SKIPPED)
        return self._called(this, node, live)

    def _called(self, this: Round, node: int, live: dict[str, list[Any]]) -> tuple[str, dict[str, Any]]:
        kind, made = self.flow.types[node], self.flow.nodes[node]
        given = {port: values if port == "xs" else values[0] for port, values in live.items() if values}
        if kind == "control.if":
            predicate = FUNCTIONS[made["config"]["predicate"].replace(":", ".")]
            taken = "yes" if predicate(given["value"]) else "no"
            return "done", {"yes": SKIPPED, "no": SKIPPED, taken: given["value"]}
        function = FUNCTIONS[kind]
        odds = Odds(**made["config"])
        arguments = [
            given.get(name, parameter.default)
            for name, (parameter, _) in signature_of(function).items()
            if name not in ("odds", "xs")
        ] + given.get("xs", [])
        try:
            result = call_plainly(self._path(this, node), 1, function, odds, *copy.deepcopy(arguments))
        except Exception:  # noqa: BLE001 - a node may raise anything
            return self._failed(node)
        if kind == "t.parts":
            return "done", {name: SKIPPED if v is SKIP else v for name, v in result._asdict().items()}
        return "done", {"out": SKIPPED if result is SKIP else result}

    def _failed(self, node: int) -> tuple[str, dict[str, Any]]:
        policy = self.flow.nodes[node].get("policy", {})
        if "default" in policy:
            return "failed", self._all(node, policy["default"])
        return "failed", self._all(node, SKIPPED if policy.get("on_error") == "skip" else FAILED)

    def _all(self, node: int, token: Any) -> dict[str, Any]:
        return dict.fromkeys(SHAPES[self.flow.types[node]][2], token)
