"""Drawing random flows as native documents: each node reads what stands above it in its block or around it.

A construct is one method of `_Making`; ENABLED lists those that are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

__all__ = ["ENABLED", "Program", "programs", "sample"]

#: What is drawn, and how often. A construct that is not listed is not drawn.
ENABLED: Final[dict[str, int]] = {
    "apply": 5, "branch": 2, "switch": 1, "either": 1, "parts": 1, "items": 1, "total": 1, "flag": 1,
    "told": 1, "taken": 1, "loop": 2, "map": 2, "flow": 1, "race": 1, "a map that fails": 1, "a map that fails in a flow that goes on": 0,
}  # fmt: skip

#: Shapes of nodes: the function, with its required and optional ports, and how many edges its many-port has.
_SHAPES: Final[tuple[tuple[str, int, int], ...]] = (
    ("one", 1, 0), ("two", 2, 0), ("one_optional", 2, 0), ("optional", 1, 0), ("two_optional", 2, 0),
    ("many", 0, 3), ("one_many", 1, 2), ("give", 0, 0),
)  # fmt: skip
_CONSTANTS: Final[tuple[Any, ...]] = (0, None, "", False, [], 5)
_KINDS: Final = [kind for kind, weight in ENABLED.items() for _ in range(weight) if " " not in kind]
_PLAIN_KINDS: Final = [kind for kind in _KINDS if kind not in ("loop", "map", "flow")]
_integers = cache(st.integers)
#: How deep loops, maps and flows stand in one another.
DEEPEST: Final = 4


@dataclass(frozen=True)
class Program:
    """A document as plain data, and what a run of it is given."""

    document: dict[str, Any]
    inputs: dict[str, Any]


@dataclass
class _Seen:
    """What a node may read: ports of any value, ports of known types besides, lists, steps and branches."""

    values: list[str]
    typed: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    branches: list[tuple[str, ...]] = field(default_factory=list)

    def inside(self, *values: str) -> _Seen:
        """Return what a body sees."""
        return _Seen(
            [*self.values, *values], [*self.typed], [*self.lists], [], [*self.steps], [*self.failing],
            [*self.branches],
        )  # fmt: skip


class _Making:
    """Draws one document; every id is used once."""

    def __init__(self, below: Callable[[int], int], most: int, breaking: bool | None) -> None:
        self.below = below  # draws a number below the one given
        self.left = most
        self.breaking = bool(below(2)) if breaking is None else breaking
        self.count = 0
        self.depth = 0
        self.goes_on = self.breaking and self.chance(2)  # a failure does not cut others short

    def chance(self, number: int) -> bool:
        return self.below(number) == number - 1  # shrinks towards no

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(len(choices))]

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def recent(self, ports: Sequence[str]) -> str:
        """Pick a port, one of the last more often."""
        return str(ports[-1 - min(self.below(len(ports)), self.below(len(ports)))])

    # sources

    def joined(self, seen: _Seen, constants: bool, depth: int = 0) -> Any:
        """Draw a source of any value: mostly a port."""
        kind = self.below(7) if depth < 2 else 0
        if kind < 4:
            return self.recent(seen.values)
        if constants and kind == 6:
            return {"fallback": [self.joined(seen, False, depth + 1), {"value": self.pick(_CONSTANTS)}]}
        key = ("merge", "fallback")[self.below(2)]
        parts = [
            self.joined(seen, constants, depth + 1) for _ in range(2 + (key == "merge" and self.chance(3)))
        ]
        return {key: parts}

    def source(self, seen: _Seen) -> Any:
        """Draw a source for a port that takes anything."""
        kind = self.below(10)
        if kind == 9:
            return {"gather": [self.joined(seen, True, 1) for _ in range(2 + self.below(2))]}
        if kind == 8 and (seen.typed or seen.lists):
            return self.recent([*seen.typed, *seen.lists])
        return self.joined(seen, True)

    def list_source(self, seen: _Seen) -> Any:
        if not seen.lists or self.chance(5):
            return {"gather": [self.joined(seen, True, 1) for _ in range(2 + self.below(2))]}
        return self.recent(seen.lists)

    # nodes

    def block(self, seen: _Seen, most: int) -> dict[str, Any]:
        block: dict[str, Any] = {"nodes": {}, "edges": []}
        self.depth += 1
        for _ in range(1 + self.below(most)):
            if self.left <= 0:
                break
            kinds = _KINDS if self.depth < DEEPEST else _PLAIN_KINDS
            make: Callable[..., None] = getattr(self, self.pick(kinds))
            make(block, seen)
        self.depth -= 1
        return block

    def place(
        self, block: dict[str, Any], seen: _Seen, id: str, type: str, inputs: dict[str, Any], **odds: int
    ) -> dict[str, Any]:
        """Place a node; plain sources stand with it or as edges."""
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
        if seen.steps and self.chance(8):
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
            "gap": (0, 0, 0, 0, 2, 3)[self.below(6)],
            "breaks": (0, 0, 0, 0, 2, 4)[self.below(6)] if self.breaking else 0,
            "first": (0, 0, 0, 0, 0, 0, 1, 2)[self.below(8)] if self.breaking else 0,
        }

    def policy(self, node: dict[str, Any], odds: dict[str, int]) -> bool:
        """Draw a policy, and tell whether `$error` may be wired."""
        kind = self.below(12)
        if kind == 11 and self.chance(2):
            node["policy"] = {"enabled": False}
        if not (odds.get("breaks") or odds.get("first")):
            return True
        policies: dict[int, dict[str, Any]] = {
            5: {"default": self.pick(_CONSTANTS)},
            6: {"default": self.pick(_CONSTANTS)},
            7: {"on_error": "skip"},
            8: {"on_error": "skip"},
            9: {"on_error": "route"},
            10: {"on_error": "fail"},
        }
        if kind in policies:
            node["policy"] = policies[kind]
        if self.below(4) if odds.get("first") else self.chance(4):
            node["policy"] = {**node.get("policy", {}), "retry": {"retries": 1 + self.below(2)}}
        return "default" not in node.get("policy", {}) and node.get("policy", {}).get("on_error") != "skip"

    def apply(self, block: dict[str, Any], seen: _Seen) -> None:
        function, single, many = self.pick(_SHAPES)
        id, odds = self.name("n"), self.odds()
        names = ["a", "b"][:single]
        inputs: dict[str, Any] = {name: self.source(seen) for name in names}
        if many:
            inputs["xs"] = [self.source(seen) for _ in range(many + self.below(2) - 1)]
        if single == 2 and self.chance(6):
            inputs["b"] = {"value": self.pick(_CONSTANTS)}
        node = self.place(block, seen, id, f"t.{function}", inputs, **odds)
        self.keep(seen, id, self.policy(node, odds), values=[id])

    def keep(
        self, seen: _Seen, id: str, may_route: bool, values: Sequence[str] = (), lists: Sequence[str] = ()
    ) -> None:
        seen.values += values
        seen.lists += lists
        seen.steps.append(id)
        if may_route:
            seen.failing.append(id)

    def branch(self, block: dict[str, Any], seen: _Seen) -> None:
        id = self.name("b")
        node = self.place(block, seen, id, "control.if", {"value": self.joined(seen, False)})
        node["config"] = {
            "predicate": self.pick(("t:is_odd", "t:is_third", "t:is_sound"[: 8 + 2 * self.breaking]))
        }
        if not self.breaking:
            node["config"] = {"predicate": self.pick(("t:is_odd", "t:is_third"))}
        self.keep(seen, id, True, values=[f"{id}.yes", f"{id}.no"])
        seen.branches.append((f"{id}.yes", f"{id}.no"))

    def switch(self, block: dict[str, Any], seen: _Seen) -> None:
        id = self.name("s")
        node = self.place(block, seen, id, "control.switch", {"value": self.joined(seen, False)})
        cases = ["left", "right", "default"] if self.chance(2) else ["left", "right"]
        node["config"] = {"pick": "t:pick_any" if len(cases) == 3 else "t:pick", "cases": cases}
        exits = [f"{id}.{case}" for case in cases]
        self.keep(seen, id, True, values=exits)
        seen.branches.append(tuple(exits))

    def either(self, block: dict[str, Any], seen: _Seen) -> None:
        """Read several exits of one branch on one port, or, rarely, ports that may be live together."""
        id, odds = self.name("e"), self.odds()
        if not seen.branches:
            self.branch(block, seen)
        exits = list(self.pick(seen.branches))
        if self.breaking and len(seen.branches) > 1 and self.chance(6):
            exits = [seen.branches[0][0], seen.branches[-1][0]]
        node = self.place(block, seen, id, "t.one", {}, **odds)
        block["edges"] += [self.edge(source, id, "a") for source in exits]
        self.keep(seen, id, self.policy(node, odds), values=[id])

    def parts(self, block: dict[str, Any], seen: _Seen) -> None:
        id = self.name("p")
        odds = {**self.odds(), "gap": 0}
        node = self.place(block, seen, id, "t.parts", {"a": self.source(seen)}, **odds)
        if self.chance(8):
            node["policy"] = {"on_error": "skip"}
        self.keep(seen, id, "policy" not in node, values=[f"{id}.sure", f"{id}.left", f"{id}.right"])
        seen.typed.append(id)

    def items(self, block: dict[str, Any], seen: _Seen) -> None:
        id = self.name("x")
        odds = {**self.odds(), "gap": 0}
        self.place(block, seen, id, "t.items", {"a": self.source(seen)}, **odds)
        self.keep(seen, id, True, lists=[id])

    def total(self, block: dict[str, Any], seen: _Seen) -> None:
        id, odds = self.name("t"), self.odds()
        node = self.place(block, seen, id, "t.total", {"xs": self.list_source(seen)}, **odds)
        self.keep(seen, id, self.policy(node, odds), values=[id])

    def flag(self, block: dict[str, Any], seen: _Seen) -> None:
        id, odds = self.name("f"), {**self.odds(), "gap": 0}
        self.place(block, seen, id, "t.flag", {"a": self.source(seen)}, **odds)
        self.keep(seen, id, True)
        seen.typed.append(id)
        seen.flags.append(id)

    def told(self, block: dict[str, Any], seen: _Seen) -> None:
        """Read the `$error` of a node, a loop or a map."""
        if not seen.failing:
            return self.apply(block, seen)
        id, odds = self.name("n"), self.odds()
        failing = self.recent(seen.failing)
        self.place(block, seen, id, "t.told", {"f": f"{failing}.$error"}, **odds)
        return self.keep(seen, id, True, values=[id])

    def taken(self, block: dict[str, Any], seen: _Seen) -> None:
        """Let a port of type Failure be the only reader of a node."""
        id, odds = self.name("n"), {**self.odds(), "breaks": 1 + self.below(2) if self.breaking else 0}
        self.place(block, seen, id, "t.one", {"a": self.source(seen)}, **odds)
        reader = self.name("n")
        self.place(block, seen, reader, "t.told", {"f": id}, **self.odds())
        self.keep(seen, reader, True, values=[reader])

    # blocks

    def loop(self, block: dict[str, Any], seen: _Seen) -> None:
        self.left -= 1
        id = self.name("l")
        names = [self.name("c") for _ in range(1 + self.below(2))]
        carried = [f"$carry.{name}" for name in names]
        firsts = [self.joined(seen, False) for _ in names]
        inside = seen.inside(*carried)
        outer = len(seen.values)
        loop: dict[str, Any] = {"limit": 1 + self.below(4)}
        if self.breaking and self.chance(6):
            loop["on_limit"] = "fail"
        body = self.block(inside, 4)
        own = inside.values[outer:]
        loop["carry"] = {
            name: {"first": first, "next": self.pick(own)} for name, first in zip(names, firsts, strict=True)
        }
        if self.chance(4):
            kept = self.name("c")
            loop["carry"][kept] = {"first": {"value": self.pick((0, 5))}, "next": f"$carry.{kept}"}
        kind = self.pick(("until", "until", "while", "none"))
        tests = ("t:is_third", "t:is_fifth", "t:is_sound") if self.breaking else ("t:is_third", "t:is_fifth")
        if kind == "until" and inside.flags and self.chance(2):
            loop["until"] = self.pick(inside.flags)
        elif kind == "until":
            loop["until"] = {"source": self.pick(own), "test": self.pick(tests)}
        elif kind == "while":
            loop["while"] = {"source": self.pick(carried), "test": self.pick(("t:is_odd", *tests))}
        elif "on_limit" in loop:
            del loop["on_limit"]
        outputs = [self.pick(own) for _ in range(1 + self.below(3))]
        loop.update(body, outputs={f"o{number}": source for number, source in enumerate(outputs)})
        values = [f"{id}.{name}" for name in loop["outputs"]]
        if self.chance(3):
            loop["outputs"]["all"] = {"all": self.pick(own)}
            seen.lists.append(f"{id}.all")
        block["nodes"][id] = {"loop": loop}
        self.keep(seen, id, True, values=values)

    def maps_may_fail(self) -> bool:
        if self.goes_on and not ENABLED["a map that fails in a flow that goes on"]:
            return False
        return bool(ENABLED["a map that fails"])

    def map(self, block: dict[str, Any], seen: _Seen) -> None:
        self.left -= 1
        id, item = self.name("m"), self.name("i")
        over = {item: self.list_source(seen)}
        if self.chance(4):
            over[self.name("i")] = over[item]
            if self.maps_may_fail() and self.chance(2):
                over[self.name("i")] = self.list_source(seen)
        inside = seen.inside(*(f"$item.{name}" for name in over))
        outer = len(seen.values)
        body = self.block(inside, 3)
        own = inside.values[outer:]
        outputs = {f"o{number}": self.pick(own) for number in range(1 + self.below(2))}
        part: dict[str, Any] = {"over": over, **body, "outputs": outputs}
        if len(over) == 1 and self.maps_may_fail() and self.chance(4):
            part["key"] = "t:key"
        if self.chance(3):
            part["max_concurrency"] = 1 + self.below(2)
        if self.breaking:
            part["on_error"] = self.pick(("collect", "skip", *(("fail",) if self.maps_may_fail() else ())))
        block["nodes"][id] = {"map": part}
        self.keep(seen, id, True, lists=[f"{id}.{name}" for name in outputs])

    def flow(self, block: dict[str, Any], seen: _Seen) -> None:
        """Place a nested flow, which sees nothing but its inputs."""
        self.left -= 1
        id = self.name("w")
        inputs: dict[str, Any] = {"a": {}}
        given = {"a": self.joined(seen, False)}
        if self.chance(2):
            inputs["b"] = {"default": self.pick(_CONSTANTS)}
            if self.chance(2):
                given["b"] = self.joined(seen, False)
        inside = _Seen([f"$in.{name}" for name in inputs])
        around, self.goes_on = self.goes_on, True  # as the nested flow may say
        body = self.block(inside, 4)
        self.goes_on = around
        outputs = {f"o{number}": self.pick(inside.values) for number in range(1 + self.below(2))}
        document: dict[str, Any] = {"dataflow": 1, "inputs": inputs, **body, "outputs": outputs}
        if self.breaking and self.chance(3):
            document["using"] = {"errors": self.pick(("continue", "fail_fast"))}
        node: dict[str, Any] = {"flow": document, "inputs": given}
        kind = self.below(6) if self.breaking else 0
        if kind > 2:
            node["policy"] = ({"on_error": "skip"}, {"on_error": "route"}, {"errors": "collect"})[kind - 3]
        if 0 < kind < 5 and self.chance(2):
            node["policy"] = {**node.get("policy", {}), "retry": {"retries": 1 + self.below(2)}}
        block["nodes"][id] = node
        self.keep(seen, id, kind != 3, values=[f"{id}.{name}" for name in outputs])

    def race(self, block: dict[str, Any], seen: _Seen) -> None:
        """Let the exits of a branch race, or nodes behind them: at most one can be live."""
        if not seen.branches:
            self.branch(block, seen)
        sources: list[str] = []
        for taken in self.pick(seen.branches):
            kind = self.below(3)
            if kind == 0:
                sources.append(taken)
                continue
            if kind == 2 and self.breaking:
                sources.append(self.name("n"))
                self.place(block, seen, sources[-1], "t.one", {"a": taken}, salt=self.below(10), breaks=1)
            sources.append(self.name("n"))
            self.place(block, seen, sources[-1], "t.one", {"a": taken}, **self.odds())
        if self.chance(2):
            sources.reverse()
        id = self.name("n")
        self.place(block, seen, id, "t.optional", {"a": {"race": sources}}, **self.odds())
        self.keep(seen, id, True, values=[id])

    # the whole

    def document(self) -> Program:
        inputs: dict[str, Any] = {"x": {}, "y": {"default": self.pick(_CONSTANTS)}, "xs": {"type": "array"}}
        seen = _Seen(["$in.y", "$in.x"], lists=["$in.xs"])
        block = self.block(seen, 10)
        outputs = [self.recent(seen.values[2:] or seen.values) for _ in range(3 + self.below(3))]
        outputs += [*seen.values[2:3], *seen.lists[1:][-2:]]
        named = {f"o{number}": source for number, source in enumerate(dict.fromkeys(outputs))}
        using: dict[str, Any] = {"errors": "continue"} if self.goes_on else {}
        if self.chance(3):
            using["max_concurrency"] = 1 + self.below(4)
        document = {"dataflow": 1, "name": "random", "uses": {"t": "tests.properties.node_functions"},
                    "inputs": inputs, **block, "outputs": named, "using": using}  # fmt: skip
        given = {
            "x": self.pick((0, 1, 2, 3, "", None)),
            "xs": [self.pick((0, 1, "", 4)) for _ in range(self.below(4))],
        }
        return Program(document, given)


@st.composite
def programs(draw: st.DrawFn, most: int = 40, breaking: bool | None = None) -> Program:
    """Draw a flow of up to so many nodes; `breaking` lets nodes and tests fail."""
    return _Making(lambda number: draw(_integers(0, number - 1)), most, breaking).document()


def sample(seed: int, most: int = 40, breaking: bool | None = None) -> Program:
    """Make the flow of a seed, by the same grammar; it cannot be made smaller, but is made fast."""
    return _Making(random.Random(seed).randrange, most, breaking).document()
