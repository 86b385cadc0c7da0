"""Random flat flows with feedback edges, as native documents (S6.3, S6.4)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.properties.drawing import CONSTANTS
from tests.properties.plain_loops import Loop, RandomGraph, plain_loops
from tests.properties.random_flows import Program

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
        """Write the document; every port of every node is an output."""
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
    """Draw a flow of up to ten nodes and five feedback edges."""
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
    """Draw the edges into a node: one into each port that takes one value, some are left out."""
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
        found.append(Wire(source, *ends, True, limit=choose.randint(1, 4), on_limit=_on_limit(choose)))
    return found


def _behind(node: int, wires: list[Wire]) -> set[int]:
    """Return a node and those that a path leads to from it."""
    behind = {node}
    for wire in sorted(wires, key=lambda wire: wire.target):
        behind |= {wire.target} if wire.source in behind and not wire.feedback else set()
    return behind


def _is_left_to_feedback(choose: random.Random, wire: Wire, wires: list[Wire]) -> bool:
    """Tell whether a port with a feedback edge goes without one from outside."""
    back = any(one.feedback and one.target == wire.target and one.port == wire.port for one in wires)
    return back and choose.random() < 0.2


def _on_limit(choose: random.Random) -> str:
    return "fail" if choose.random() < 0.1 else "exit"


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
