"""Random flows as native documents: each node reads what stands above it in its block or around it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st

from tests.properties.effort import Below, drawn, pick

CONSTANTS: Final[tuple[Any, ...]] = (0, None, "", False, [], 5)
#: How deep loops, maps and flows stand in one another.
DEEPEST: Final = 4
BLOCKS: Final = ("loop", "map", "flow")
#: What simple flows are made of: nodes that read values and give one, and nothing is left out or fails.
SIMPLE: Final = ("apply", "items", "total", "loop", "map", "each", "flow", "ask")

Construct = Callable[["Drawing", dict[str, Any], "Seen"], None]


@dataclass
class Seen:
    """What a node may read: ports of any value, ports of known types besides, lists, steps and branches."""

    values: list[str]
    typed: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    branches: list[tuple[str, ...]] = field(default_factory=list)

    def inside(self, *values: str) -> Seen:
        return Seen(
            [*self.values, *values], [*self.typed], [*self.lists], [], [*self.steps],
            [*self.branches],
        )  # fmt: skip


class Drawing:
    """Draws one document; every id is used once.

    `below` draws a number below the one given, `weights` say how often what is drawn, `left` counts nodes.
    One in three is simple, as most flows are: there the engine takes its short ways.
    """

    def __init__(
        self,
        below: Callable[[int], int],
        constructs: Mapping[str, Construct],
        weights: Mapping[str, int],
        most: int,
        breaking: bool | None,
    ) -> None:
        self.below = below
        self.constructs = constructs
        self.weights = weights
        self.is_simple = breaking is None and below(3) == 2
        kinds = [kind for kind in constructs if kind in weights]
        kinds = [kind for kind in kinds if kind in SIMPLE or not self.is_simple]
        self.kinds = [kind for kind in kinds for _ in range(weights[kind])]
        self.plain_kinds = [kind for kind in self.kinds if kind not in BLOCKS]
        self.left = most
        self.breaking = bool(breaking if breaking is not None else below(2) and not self.is_simple)
        self.count = 0
        self.mapped: set[str] = set()  # what `every` goes over
        self.depth = 0

    def chance(self, number: int) -> bool:
        return self.below(number) == number - 1  # shrinks towards no

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(len(choices))]

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def recent(self, ports: Sequence[str]) -> str:
        return str(ports[-1 - min(self.below(len(ports)), self.below(len(ports)))])

    def joined(self, seen: Seen, constants: bool, depth: int = 0) -> Any:
        """Draw a source of any value: mostly a port."""
        kind = self.below(7) if depth < 2 else 0
        if kind < 4 or (self.is_simple and depth == 0):
            return self.recent(seen.values)
        if constants and kind == 6:
            return {"fallback": [self.joined(seen, False, depth + 1), {"value": self.pick(CONSTANTS)}]}
        key = ("merge", "fallback")[self.below(2)]
        parts = [
            self.joined(seen, constants, depth + 1) for _ in range(2 + (key == "merge" and self.chance(3)))
        ]
        return {key: parts}

    def source(self, seen: Seen) -> Any:
        """Draw a source for a port that takes anything."""
        kind = self.below(10)
        if kind == 9:
            return {"gather": [self.joined(seen, True, 1) for _ in range(2 + self.below(2))]}
        if kind == 8 and (seen.typed or seen.lists):
            return self.recent([*seen.typed, *seen.lists])
        return self.joined(seen, True)

    def list_source(self, seen: Seen) -> Any:
        if not seen.lists or self.chance(5):
            return {"gather": [self.joined(seen, True, 1) for _ in range(2 + self.below(2))]}
        return self.recent(seen.lists)

    def block(self, seen: Seen, most: int) -> dict[str, Any]:
        block: dict[str, Any] = {"nodes": {}, "edges": []}
        self.depth += 1
        for _ in range(1 + self.below(most)):
            if self.left <= 0:
                break
            kinds = self.kinds if self.depth < DEEPEST else self.plain_kinds
            self.constructs[self.pick(kinds)](self, block, seen)
        self.depth -= 1
        return block

    def place(
        self, block: dict[str, Any], seen: Seen, id: str, type: str, inputs: dict[str, Any], **odds: int
    ) -> dict[str, Any]:
        self.left -= 1
        node: dict[str, Any] = {"type": type}
        for port, given in inputs.items():
            if isinstance(given, dict) and set(given) == {"value"}:
                node.setdefault("values", {})[port] = given["value"]
                continue
            sources = given if isinstance(given, list) else [given]
            if all(isinstance(source, str) for source in sources) and self.chance(3):
                block["edges"] += [self.edge(source, id, port) for source in sources]
            else:
                node.setdefault("inputs", {})[port] = given
        if any(odds.values()):
            node["config"] = {name: value for name, value in odds.items() if value}
        if seen.steps and not self.is_simple and self.chance(8):
            node["after"] = [self.recent(seen.steps) for _ in range(1 + self.below(2))]
            node["after"] = list(dict.fromkeys(node["after"]))
        block["nodes"][id] = node
        return node

    def edge(self, source: str, target: str, port: str) -> dict[str, Any]:
        node, _, source_port = source.partition(".")
        edge = {"source": node, "target": target, "target_port": port}
        return {**edge, "source_port": source_port} if source_port else edge

    def odds(self) -> dict[str, int]:
        return {
            "salt": self.below(10),
            "gap": 0 if self.is_simple else (0, 0, 0, 0, 2, 3)[self.below(6)],
            "breaks": (0, 0, 0, 0, 2, 4)[self.below(6)] if self.breaking else 0,
            "first": (0, 0, 0, 0, 0, 0, 1, 2)[self.below(8)] if self.breaking else 0,
        }

    def policy(self, node: dict[str, Any], odds: dict[str, int]) -> None:
        kind = 0 if self.is_simple else self.below(12)
        if kind == 11 and self.chance(2):
            node["policy"] = {"enabled": False}
        if not (odds.get("breaks") or odds.get("first")):
            return
        policies: dict[int, dict[str, Any]] = {
            5: {"default": self.pick(CONSTANTS)}, 6: {"default": self.pick(CONSTANTS)},
            7: {"on_error": "skip"}, 8: {"on_error": "skip"}, 9: {"on_error": "route"},
            10: {"on_error": "fail"},
        }  # fmt: skip
        if kind in policies:
            node["policy"] = policies[kind]
        if self.below(4) if odds.get("first") else self.chance(4):
            node["policy"] = {**node.get("policy", {}), "retry": {"retries": 1 + self.below(2)}}

    def keep(self, seen: Seen, id: str, values: Sequence[str] = (), lists: Sequence[str] = ()) -> None:
        """Let what comes after a node read it."""
        seen.values += values
        seen.lists += lists
        seen.steps.append(id)


#: Shapes of nodes: the function, with its required and optional ports, and how many edges its many-port has.
_SHAPES: Final[tuple[tuple[str, int, int], ...]] = (
    ("one", 1, 0), ("two", 2, 0), ("one_optional", 2, 0), ("optional", 1, 0), ("two_optional", 2, 0),
    ("many", 0, 3), ("one_many", 1, 2), ("give", 0, 0),
)  # fmt: skip

#: After so many seconds it is too late to answer: before anybody can.
AT_ONCE: Final = 1e-9


def apply(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    function, single, many = make.pick(_SHAPES)
    id, odds = make.name("n"), make.odds()
    names = ["a", "b"][:single]
    inputs: dict[str, Any] = {name: make.source(seen) for name in names}
    if many:
        inputs["xs"] = [make.source(seen) for _ in range(many + make.below(2) - 1)]
    if single == 2 and make.chance(6):
        inputs["b"] = {"value": make.pick(CONSTANTS)}
    node = make.place(block, seen, id, f"t.{function}", inputs, **odds)
    make.policy(node, odds)
    make.keep(seen, id, values=[id])


def ask(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Ask somebody; now and then nobody answers in time, and the ask takes its default or fails."""
    id = make.name("q")
    node = make.place(block, seen, id, "control.ask", {"show": make.source(seen)})
    node["config"] = {"prompt": "?"}
    kind = 0 if make.is_simple else make.below(6)
    if kind == 5 or (kind == 4 and make.breaking):
        node["config"]["expires"] = AT_ONCE
    if kind == 5:
        node["config"]["default"] = make.pick(CONSTANTS)
    if kind == 4 and make.breaking:
        node["policy"] = {"on_error": make.pick(("skip", "route", "fail"))}
    make.keep(seen, id, values=[id])


def branch(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    id = make.name("b")
    node = make.place(block, seen, id, "control.if", {"value": make.joined(seen, False)})
    node["config"] = {
        "predicate": make.pick(("t:is_odd", "t:is_third", "t:is_sound"[: 8 + 2 * make.breaking]))
    }
    if not make.breaking:
        node["config"] = {"predicate": make.pick(("t:is_odd", "t:is_third"))}
    make.keep(seen, id, values=[f"{id}.yes", f"{id}.no"])
    seen.branches.append((f"{id}.yes", f"{id}.no"))


def switch(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    id = make.name("s")
    node = make.place(block, seen, id, "control.switch", {"value": make.joined(seen, False)})
    cases = ["left", "right", "default"] if make.chance(2) else ["left", "right"]
    node["config"] = {"pick": "t:pick_any" if len(cases) == 3 else "t:pick", "cases": cases}
    exits = [f"{id}.{case}" for case in cases]
    make.keep(seen, id, values=exits)
    seen.branches.append(tuple(exits))


def either(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Read several exits of one branch on one port, or, rarely, ports that may be live together."""
    id, odds = make.name("e"), make.odds()
    if not seen.branches:
        branch(make, block, seen)
    exits = list(make.pick(seen.branches))
    if make.breaking and len(seen.branches) > 1 and make.chance(6):
        exits = [seen.branches[0][0], seen.branches[-1][0]]
    node = make.place(block, seen, id, "t.one", {}, **odds)
    block["edges"] += [make.edge(source, id, "a") for source in exits]
    make.policy(node, odds)
    make.keep(seen, id, values=[id])


def parts(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    id = make.name("p")
    odds = {**make.odds(), "gap": 0}
    node = make.place(block, seen, id, "t.parts", {"a": make.source(seen)}, **odds)
    if make.chance(8):
        node["policy"] = {"on_error": "skip"}
    make.keep(seen, id, values=[f"{id}.sure", f"{id}.left", f"{id}.right"])
    seen.typed.append(id)


def items(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    id = make.name("x")
    odds = {**make.odds(), "gap": 0}
    make.place(block, seen, id, "t.items", {"a": make.source(seen)}, **odds)
    make.keep(seen, id, lists=[id])


def total(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    id, odds = make.name("t"), make.odds()
    node = make.place(block, seen, id, "t.total", {"xs": make.list_source(seen)}, **odds)
    make.policy(node, odds)
    make.keep(seen, id, values=[id])


def flag(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    id, odds = make.name("f"), {**make.odds(), "gap": 0}
    make.place(block, seen, id, "t.flag", {"a": make.source(seen)}, **odds)
    make.keep(seen, id)
    seen.typed.append(id)
    seen.flags.append(id)


def told(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Read the `$error` of a node, a loop or a map."""
    if not seen.steps:
        return apply(make, block, seen)
    id, odds = make.name("n"), make.odds()
    failing = make.recent(seen.steps)
    make.place(block, seen, id, "t.told", {"f": f"{failing}.$error"}, **odds)
    return make.keep(seen, id, values=[id])


def taken(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Let a port of type Failure be the only reader of a node."""
    id, odds = make.name("n"), {**make.odds(), "breaks": 1 + make.below(2) if make.breaking else 0}
    make.place(block, seen, id, "t.one", {"a": make.source(seen)}, **odds)
    reader = make.name("n")
    make.place(block, seen, reader, "t.told", {"f": id}, **make.odds())
    make.keep(seen, reader, values=[reader])


def race(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Let the exits of a branch race, or nodes behind them: at most one can be live."""
    if not seen.branches:
        branch(make, block, seen)
    sources: list[str] = []
    for taken in make.pick(seen.branches):
        kind = make.below(3)
        if kind == 0:
            sources.append(taken)
            continue
        if kind == 2 and make.breaking:
            sources.append(make.name("n"))
            make.place(block, seen, sources[-1], "t.one", {"a": taken}, salt=make.below(10), breaks=1)
        sources.append(make.name("n"))
        make.place(block, seen, sources[-1], "t.one", {"a": taken}, **make.odds())
    if make.chance(2):
        sources.reverse()
    id = make.name("n")
    make.place(block, seen, id, "t.optional", {"a": {"race": sources}}, **make.odds())
    make.keep(seen, id, values=[id])


def lazy(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Read a node lazily that nobody else reads, now and then through another such node."""
    id, odds = make.name("n"), make.odds()
    make.place(block, seen, id, "t.one", {"a": make.source(seen)}, **odds)
    for _ in range(1 + make.below(2)):
        source, id = id, make.name("n")
        function = make.pick(("lazy_one", "lazy_optional"))
        make.place(block, seen, id, f"t.{function}", {"a": make.source(seen), "b": source}, **make.odds())
        source = id
    make.keep(seen, id, values=[id])


def loop(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    make.left -= 1
    id = make.name("l")
    names = [make.name("c") for _ in range(1 + make.below(2))]
    carried = [f"$carry.{name}" for name in names]
    firsts = [make.joined(seen, False) for _ in names]
    inside = seen.inside(*carried)
    outer = len(seen.values)
    loop: dict[str, Any] = {"limit": 1 + make.below(4)}
    if make.breaking and make.chance(6):
        loop["on_limit"] = "fail"
    body = make.block(inside, 4)
    own = inside.values[outer:]
    loop["carry"] = {
        name: {"first": first, "next": make.pick(own)} for name, first in zip(names, firsts, strict=True)
    }
    if make.chance(4):
        kept = make.name("c")
        loop["carry"][kept] = {"first": {"value": make.pick((0, 5))}, "next": f"$carry.{kept}"}
    kind = make.pick(("until", "until", "while", "none"))
    tests = ("t:is_third", "t:is_fifth", "t:is_sound") if make.breaking else ("t:is_third", "t:is_fifth")
    if kind == "until" and inside.flags and make.chance(2):
        loop["until"] = make.pick(inside.flags)
    elif kind == "until":
        loop["until"] = {"source": make.pick(own), "test": make.pick(tests)}
    elif kind == "while":
        loop["while"] = {"source": make.pick(carried), "test": make.pick(("t:is_odd", *tests))}
    elif "on_limit" in loop:
        del loop["on_limit"]
    outputs = [make.pick(own) for _ in range(1 + make.below(3))]
    loop.update(body, outputs={f"o{number}": source for number, source in enumerate(outputs)})
    values = [f"{id}.{name}" for name in loop["outputs"]]
    if make.chance(3):
        loop["outputs"]["all"] = {"all": make.pick(own)}
        seen.lists.append(f"{id}.all")
    block["nodes"][id] = {"loop": loop}
    make.keep(seen, id, values=values)


def map_(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    make.left -= 1
    id, item = make.name("m"), make.name("i")
    over = {item: make.list_source(seen)}
    if make.chance(4):
        over[make.name("i")] = over[item]
        if make.chance(2):
            over[make.name("i")] = make.list_source(seen)
    inside = seen.inside(*(f"$item.{name}" for name in over))
    outer = len(seen.values)
    body = make.block(inside, 3)
    own = inside.values[outer:]
    outputs = {f"o{number}": make.pick(own) for number in range(1 + make.below(2))}
    part: dict[str, Any] = {"over": over, **body, "outputs": outputs}
    if len(over) == 1 and make.chance(4):
        part["key"] = "t:key"
    if make.chance(3):
        part["max_concurrency"] = 1 + make.below(2)
    if make.breaking:
        part["on_error"] = make.pick(("collect", "skip", "fail"))
    block["nodes"][id] = {"map": part}
    make.keep(seen, id, lists=[f"{id}.{name}" for name in outputs])


def each(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Open a map by reading a list item by item, in one or two nodes, and collect what they give.

    Now and then a second call goes over the list: as a map apart, or as the same one, since both say so or
    a node reads both.
    """
    head, odds = make.name("n"), make.odds()
    item: dict[str, Any] = {"each": make.list_source(seen)}
    if make.chance(4):
        item["max_concurrency"] = 1 + make.below(2)
    if make.breaking:
        item["on_error"] = make.pick(("collect", "skip", "fail"))
    kind = make.pick(("alone", "alone", "apart", "shared", "met"))
    if kind == "shared":
        item["share"] = make.name("s")
    shape = make.pick(({"a": item}, {"a": item, "b": make.recent(seen.values)}))
    make.policy(
        make.place(block, seen, head, "t.two" if len(shape) == 2 else "t.optional", shape, **odds), odds
    )
    if kind == "alone":
        return _close(make, block, seen, head)
    other = make.name("n")
    make.place(block, seen, other, "t.optional", {"a": dict(item)}, **make.odds())
    if kind == "shared":
        return _close(make, block, seen, head, other)
    if kind == "apart":
        _close(make, block, seen, other)
        return _close(make, block, seen, head)
    both = make.name("n")
    make.place(block, seen, both, "t.two", {"a": head, "b": other}, **make.odds())
    return _close(make, block, seen, make.pick((head, other, both)))


def every(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Open a map by reading several edges one by one, in one or two nodes, and collect what they give."""
    head, odds = make.name("n"), make.odds()
    sources = [make.joined(seen, True, 1) for _ in range(1 + make.below(4))]
    if repr(sources) in make.mapped:  # the same edges again would be the same map (S7.1)
        sources.append({"gather": [make.recent(seen.values), {"value": make.count}]})
    make.mapped.add(repr(sources))
    shape: dict[str, Any] = {"a": {"every": sources}}
    if make.chance(3):
        shape["b"] = make.recent(seen.values)
    make.policy(
        make.place(block, seen, head, "t.two" if len(shape) == 2 else "t.optional", shape, **odds), odds
    )
    _close(make, block, seen, head)


def _close(make: Drawing, block: dict[str, Any], seen: Seen, *heads: str) -> None:
    """Go on in a map, now and then, and collect what it gives."""
    ends = [*heads]
    if make.chance(2):
        ends.append(make.name("n"))
        inputs = {"a": heads[0], "b": make.recent(seen.values)}
        make.place(block, seen, ends[-1], "t.one_optional", inputs, **make.odds())
    for end in ends:
        total = make.name("t")
        make.place(block, seen, total, "t.total", {"xs": {"collect": end}}, **make.odds())
        make.keep(seen, total, values=[total])


def flow(make: Drawing, block: dict[str, Any], seen: Seen) -> None:
    """Place a nested flow, which sees nothing but its inputs."""
    make.left -= 1
    id = make.name("w")
    inputs: dict[str, Any] = {"a": {}}
    given = {"a": make.joined(seen, False)}
    if make.chance(2):
        inputs["b"] = {"default": make.pick(CONSTANTS)}
        if make.chance(2):
            given["b"] = make.joined(seen, False)
    inside = Seen([f"$in.{name}" for name in inputs])
    body = make.block(inside, 4)
    outputs = {f"o{number}": make.pick(inside.values) for number in range(1 + make.below(2))}
    document: dict[str, Any] = {"dataflow": 1, "inputs": inputs, **body, "outputs": outputs}
    if make.breaking and make.chance(3):
        document["using"] = {"errors": make.pick(("continue", "fail_fast"))}
    node: dict[str, Any] = {"flow": document, "inputs": given}
    kind = make.below(6) if make.breaking else 0
    if kind > 2:
        node["policy"] = ({"on_error": "skip"}, {"on_error": "route"}, {"errors": "collect"})[kind - 3]
    if 0 < kind < 5:
        node["policy"] = {**node.get("policy", {}), "retry": {"retries": 1 + make.below(2)}}
    block["nodes"][id] = node
    make.keep(seen, id, values=[f"{id}.{name}" for name in outputs])


#: What is drawn, and how often. A construct is one function.
ENABLED: Final[dict[str, int]] = {
    "apply": 5, "branch": 2, "switch": 1, "either": 1, "parts": 1, "items": 1, "total": 1, "flag": 1,
    "told": 1, "taken": 1, "race": 1, "lazy": 1, "loop": 2, "map": 2, "each": 1, "every": 1,
    "flow": 1,
}  # fmt: skip
#: The same with asks, which pause a run.
ASKING: Final[dict[str, int]] = {**ENABLED, "ask": 3}
_CONSTRUCTS: Final[dict[str, Construct]] = {
    function.__name__.strip("_"): function
    for function in (
        *(apply, ask, branch, either, flag, items, lazy, parts, race, switch, taken, told, total),
        *(each, every, flow, loop, map_),
    )
}
#: What inputs change to: few values, so that they come to earlier ones, and to equal ones.
_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "x": (0, 1, 2, 3, "", None),
    "y": (0, None, "", False, [], 5),
    "xs": ([], [0], [1, 0], [0, 1], [4, "", 1], [1, 4, 0, ""]),
}


@dataclass(frozen=True)
class Program:
    """A document as plain data, and what a run of it is given."""

    document: dict[str, Any]
    inputs: dict[str, Any]

    def __str__(self) -> str:
        return f"inputs: {json.dumps(self.inputs)}\ndocument: {json.dumps(self.document)}"


def changed_inputs(below: Below) -> dict[str, Any]:
    """Draw other values for some inputs."""
    return {name: pick(below, values) for name, values in _VALUES.items() if below(5) > 2}


def _program(below: Below, most: int, breaking: bool | None, weights: Mapping[str, int]) -> Program:
    make = Drawing(below, _CONSTRUCTS, weights, most, breaking)
    inputs: dict[str, Any] = {"x": {}, "y": {"default": make.pick(CONSTANTS)}, "xs": {"type": "array"}}
    seen = Seen(["$in.y", "$in.x"], lists=["$in.xs"])
    block = make.block(seen, 10)
    outputs = [make.recent(seen.values[2:] or seen.values) for _ in range(3 + make.below(3))]
    outputs += [*seen.values[2:3], *seen.lists[1:][-2:]]
    named = {f"o{number}": source for number, source in enumerate(dict.fromkeys(outputs))}
    using: dict[str, Any] = {"errors": "continue"} if make.breaking and make.chance(2) else {}
    if make.chance(3):
        using["max_concurrency"] = 1 + make.below(4)
    document = {"dataflow": 1, "name": "random", "uses": {"t": "tests.properties.node_functions"},
                "inputs": inputs, **block, "outputs": named, "using": using}  # fmt: skip
    given = {
        "x": make.pick((0, 1, 2, 3, "", None)),
        "xs": [make.pick((0, 1, "", 4)) for _ in range(make.below(4))],
    }
    return Program(document, given)


def programs(
    most: int = 40, breaking: bool | None = None, weights: Mapping[str, int] = ENABLED
) -> st.SearchStrategy[Program]:
    """Draw a flow of up to so many nodes; `breaking` lets nodes and tests fail."""
    return drawn(partial(_program, most=most, breaking=breaking, weights=weights))


def sample(
    seed: int, most: int = 40, breaking: bool | None = None, weights: Mapping[str, int] = ENABLED
) -> Program:
    """Make the flow of a seed, by the same grammar; it cannot be made smaller, but is made fast."""
    return _program(random.Random(seed).randrange, most, breaking, weights)
