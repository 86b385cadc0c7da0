"""What drawing a random flow is made of: numbers, names, sources in sight, nodes with their policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

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
        """Return what a body sees."""
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
        """Pick a port, one of the last more often."""
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
        """Draw a policy."""
        kind = 0 if self.is_simple else self.below(12)
        if kind == 11 and self.chance(2):
            node["policy"] = {"enabled": False}
        if not (odds.get("breaks") or odds.get("first")):
            return
        policies: dict[int, dict[str, Any]] = {
            5: {"default": self.pick(CONSTANTS)},
            6: {"default": self.pick(CONSTANTS)},
            7: {"on_error": "skip"},
            8: {"on_error": "skip"},
            9: {"on_error": "route"},
            10: {"on_error": "fail"},
        }
        if kind in policies:
            node["policy"] = policies[kind]
        if self.below(4) if odds.get("first") else self.chance(4):
            node["policy"] = {**node.get("policy", {}), "retry": {"retries": 1 + self.below(2)}}

    def keep(self, seen: Seen, id: str, values: Sequence[str] = (), lists: Sequence[str] = ()) -> None:
        """Let what comes after a node read it."""
        seen.values += values
        seen.lists += lists
        seen.steps.append(id)
