"""Loops, maps and flow nodes of random flows: each function draws one construct."""

from __future__ import annotations

from typing import Any

from tests.properties.drawing import CONSTANTS, Drawing, Seen

__all__ = ["each", "every", "flow", "loop", "map_"]


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
