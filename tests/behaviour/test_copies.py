"""Each reader of a container has its own copy (S3.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from anyio import Event

from dataflow import EventKind, Flow, collect, each, merge
from tests.behaviour.nodes import gated


class Twice(NamedTuple):
    a: list[int]
    b: list[int]


class Box:
    """No container: it is shared."""

    def __init__(self) -> None:
        self.items: list[int] = []


async def spoil(xs: list[int], after: object = None) -> list[int]:
    xs.append(99)
    return xs


async def look(xs: list[int], after: object = None) -> list[int]:
    return list(xs)


async def make(x: int) -> list[int]:
    return [x]


async def make_nested(x: int) -> dict[str, Any]:
    return {"list": [x], "tuple": ([x],), "set": {x}, "bytes": bytearray(b"x")}


async def spoil_nested(value: dict[str, Any]) -> int:
    value["list"].append(99)
    value["tuple"][0].append(99)
    value["set"].add(99)
    value["bytes"].append(99)
    value["more"] = 99
    return 1


async def look_nested(value: dict[str, Any], after: object) -> dict[str, Any]:
    return value


async def make_twice(x: int) -> Twice:
    items = [x]
    return Twice(items, items)


def spoils(answer: bool) -> Callable[[list[int]], bool]:
    def spoil(xs: list[int]) -> bool:
        xs.append(99)
        return answer

    return spoil


async def box() -> Box:
    return Box()


async def fill(box: Box) -> int:
    box.items.append(1)
    return 1


async def look_into(box: Box, after: object) -> list[int]:
    return box.items


async def spoil_whole(twice: Twice) -> list[int]:
    twice.a.append(99)
    return twice.b


async def test_one_container_on_two_ports() -> None:
    def wire(f: Flow, x: int, *, by_field: bool) -> list[int]:
        made = f.add(make_twice, x=x)
        spoilt = f.add(spoil, xs=made.out.a) if by_field else f.add(spoil_whole, twice=made.out)
        return f.add(look, xs=made.out.b, after=spoilt.out).out

    for by_field in (True, False):
        with Flow() as f:
            f.output("root", wire(f, 1, by_field=by_field))
            f.output("map", collect(wire(f, each([1]), by_field=by_field)))
            with f.loop(limit=1) as it:
                carried = it.carry(1)
                seen = wire(f, carried.out, by_field=by_field)
                it.until(carried.out, lambda _: True)
                carried.next(carried.out)
            f.output("loop", it.result(seen))
        assert (await f.run()).outputs == {"root": [1], "map": [[1]], "loop": [1]}


async def test_containers_are_copied_at_any_depth_and_other_objects_are_shared() -> None:
    with Flow() as f:
        made = f.add(make_nested, x=1)
        spoilt = f.add(spoil_nested, value=made.out)
        f.output("nested", f.add(look_nested, value=made.out, after=spoilt.out).out)
        shared = f.add(box)
        f.output("box", f.add(look_into, box=shared.out, after=f.add(fill, box=shared.out).out).out)
    nested = {"list": [1], "tuple": ([1],), "set": {1}, "bytes": bytearray(b"x")}
    assert (await f.run()).outputs == {"nested": nested, "box": [1]}


async def test_an_input_is_the_runs_own() -> None:
    gate, mine = Event(), [1]
    with Flow() as f:
        xs = f.input("xs", list[int])
        f.output("o", f.add(look, xs=xs, after=f.add(gated(gate)).out).out)
        f.output("spoilt", f.add(spoil, xs=xs).out)
    async with f.start(xs=mine) as run:
        events = run.events()
        async for event in events:
            if event.kind is EventKind.RUN_STARTED:
                event.data["inputs"]["xs"].append(2)
            if event.path == "spoil" and event.kind is EventKind.NODE_FINISHED:
                mine.append(3)
                gate.set()
        result = await run
    assert result.outputs == {"o": [1], "spoilt": [1, 99]}
    assert mine == [1, 3]


async def test_a_carried_list_is_copied_for_each_reader() -> None:
    with Flow() as f:
        with f.loop(limit=3) as it:
            xs = it.carry([0])
            spoilt = f.add(spoil, xs=xs.out)
            seen = f.add(look, xs=xs.out, after=spoilt.out)
            it.until(seen.out, spoils(False))
            xs.next(spoilt.out)
        f.output("seen", it.result(seen.out))
        f.output("final", xs.final)
        f.output("again", f.add(spoil, xs=xs.final).out)
    result = await f.run()
    assert result.outputs == {"seen": [0, 99, 99], "final": [0, 99, 99], "again": [0, 99, 99, 99]}


async def test_joins_and_predicates_get_copies() -> None:
    with Flow() as f:
        made = f.add(make, x=1)
        spoilt = f.add(spoil, xs=merge(made.out, made.out))
        f.output("joined", f.add(look, xs=merge(made.out, made.out), after=spoilt.out).out)
        taken = f.when(made.out, spoils(True))
        f.output("passed", f.add(look, xs=taken.yes).out)
        f.output("seen", f.add(look, xs=made.out, after=taken.yes).out)
    outputs = (await f.run()).outputs
    assert (outputs["joined"], outputs["seen"]) == ([1], [1])


async def test_a_list_that_cannot_be_copied_breaks_no_run() -> None:
    class Uncopyable(list[int]):
        def __copy__(self) -> Any:
            raise TypeError("no copies")

    async def gives() -> Any:
        return Uncopyable([1])

    with Flow() as f:
        made = f.add(gives)
        f.output("items", collect(f.add(look, xs=made.out, after=each([1, 2])).out))
        f.output("itself", made.out)
    assert (await f.run()).outputs == {"items": [[1], [1]], "itself": [1]}
