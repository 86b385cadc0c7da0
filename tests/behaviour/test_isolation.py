"""What a node sets in contextvars, and what it may know about its firing (S14.5, S2.2)."""

from __future__ import annotations

import gc
from contextvars import ContextVar
from typing import Any
from weakref import ReferenceType, ref

from anyio import create_task_group, fail_after, to_thread
from anyio.lowlevel import checkpoint

from dataflow import ExecutionContext, Flow, Node, collect, each, merge_contexts, node, this_firing, threaded
from tests.behaviour.nodes import inc, tallying

PLACE: ContextVar[str] = ContextVar("place", default="nowhere")


async def read(x: object) -> str:
    return PLACE.get()


async def read_later(x: object) -> str:
    await checkpoint()
    return PLACE.get()


@threaded
def read_in_thread(x: object) -> str:
    return PLACE.get()


async def set_place(x: int) -> int:
    PLACE.set("a node")
    return x


async def set_place_and_wait(x: int) -> int:
    PLACE.set("a node")
    await checkpoint()
    assert PLACE.get() == "a node"
    return x


async def set_place_and_fail(x: int) -> int:
    PLACE.set("a node")
    raise ValueError(x)


@node
async def set_place_and_yield(x: int) -> Any:
    for number in range(x):
        PLACE.set(f"{PLACE.get()} {number}")
        yield PLACE.get()
        await checkpoint()


async def test_what_a_node_sets_is_not_seen_by_the_next() -> None:
    PLACE.set("outside")
    setters: tuple[Any, ...] = (set_place, set_place_and_wait)
    readers: tuple[Any, ...] = (read, read_later, read_in_thread)
    for setter in setters:
        for reader in readers:
            with Flow() as f:
                second = f.add(setter, x=f.add(setter, x=1).out)
                f.output("next", f.add(reader, x=second.out).out)
                f.output("beside", f.add(reader, x=1).out)
            assert (await f.run()).outputs == {"next": "outside", "beside": "outside"}
    with Flow() as f:
        bad = f.add(node(on_error="route")(set_place_and_fail), x=1)
        f.output("failed", f.add(read, x=bad.error).out)
        pieces = f.add(set_place_and_yield, x=3)
        f.output("pieces", pieces.out)
        f.output("next", f.add(read, x=pieces.out).out)
    seen = ["outside 0", "outside 0 1", "outside 0 1 2"]
    assert (await f.run()).outputs == {"failed": "outside", "pieces": seen, "next": "outside"}
    assert PLACE.get() == "outside"


async def path(x: object) -> str:
    return this_firing().path


@threaded
def path_in_thread(x: object) -> str:
    return this_firing().path


async def path_of_child(x: object) -> str:
    seen = []

    async def child() -> None:
        await checkpoint()
        seen.append(this_firing().path)

    async with create_task_group() as group:
        group.start_soon(child)
    seen.append(await to_thread.run_sync(lambda: this_firing().path))
    assert len(set(seen)) == 1
    return seen[0]


async def test_a_node_knows_its_path() -> None:
    readers: tuple[Any, ...] = (path, path_in_thread, path_of_child)
    for reader in readers:
        name = reader.__name__
        with Flow() as f:
            f.output("root", f.add(reader, x=1).out)
            placed = reader if isinstance(reader, Node) else node(reader)
            f.output("named", f.add(placed.with_(name="a/b.c d"), x=1).out)
            f.output("map", collect(f.add(reader, x=each([1, 2])).out))
            with f.loop(name="up", limit=2) as it:
                v = it.carry(0)
                seen = f.add(reader, x=v.out)
                v.next(v.out)
            f.output("loop", it.result(seen.out))
        assert (await f.run()).outputs == {
            "root": name, "named": "a%2Fb%2Ec%20d", "map": [f"{name}_2[0]", f"{name}_2[1]"],
            "loop": f"up[1]/{name}_3",
        }  # fmt: skip


async def reads_context(context: ExecutionContext) -> str:
    return PLACE.get()


async def test_what_functions_of_the_flow_set_is_not_seen_by_the_next() -> None:
    """Tests of loops, keys of maps, functions that merge conversations."""
    seen: list[str] = []

    def note(value: Any) -> Any:
        seen.append(PLACE.get())
        PLACE.set("a function")
        return value

    with Flow() as f:
        for _ in range(2):
            with f.loop() as it:
                count = it.carry(0)
                last = f.add(inc, count.out)
                it.until(last.out, lambda x: note(x) > 1)
                count.next(last.out)
        f.output("o", collect(f.add(read, each([1, 2], key=lambda x: str(note(x)))).out))
        contexts = f.context("one"), f.context("two")
        for first, second in (contexts, contexts[::-1]):
            f.add(reads_context, merge_contexts(first, second, how=lambda given: note(given[0])))
    with tallying(checkpoints=1):
        assert (await f.run())["o"] == ["nowhere"] * 2
    assert seen == ["nowhere"] * 8


async def sitting_of(x: object) -> ReferenceType[object]:
    assert this_firing().sitting is await to_thread.run_sync(lambda: this_firing().sitting)
    return ref(this_firing().sitting)


async def test_all_firings_of_a_sitting_share_one_object_that_ends_with_it() -> None:
    with Flow("f") as flow:
        first = flow.add(sitting_of, x=each([1, 2]))
        flow.output("sittings", collect(first.out))

    async def sittings() -> set[ReferenceType[object]]:
        async with flow.start() as run:
            found = set((await run)["sittings"])
            assert None not in {one() for one in found}
            return found

    (one,), (other,) = await sittings(), await sittings()
    assert one != other
    with fail_after(20):  # a busy machine may still be ending the threads and tasks of the run
        while (one(), other()) != (None, None):
            await checkpoint()
            gc.collect()
