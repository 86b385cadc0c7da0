"""Nodes of random flows: each function draws one construct."""

from __future__ import annotations

from typing import Any, Final

from tests.properties.drawing import CONSTANTS, Drawing, Seen

__all__ = [
    "apply", "ask", "branch", "either", "flag", "items", "lazy", "parts", "race", "switch", "taken", "told",
    "total",
]  # fmt: skip

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
