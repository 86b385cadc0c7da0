"""What a node sets in contextvars, and what it may know about its firing (S14.5, S2.2)."""

from __future__ import annotations

import gc
import threading
from contextvars import ContextVar, copy_context
from typing import Any
from weakref import ReferenceType, ref

import anyio
import pytest
from anyio import Event, create_task_group, to_thread
from anyio.lowlevel import checkpoint

from dataflow import ExecutionContext, Flow, Node, collect, each, merge_contexts, node, this_firing, threaded

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


async def sitting_of(x: object) -> ReferenceType[object]:
    return ref(this_firing().sitting)


async def reads_context(context: ExecutionContext) -> str:
    return PLACE.get()


@pytest.mark.parametrize("setter", [set_place, set_place_and_wait], ids=["straight", "suspending"])
@pytest.mark.parametrize("reader", [read, read_later, read_in_thread], ids=["now", "later", "thread"])
async def test_what_a_node_sets_is_not_seen_by_the_next(setter: Any, reader: Any) -> None:
    with Flow() as f:
        first = f.add(setter, x=1)
        second = f.add(setter, x=first.out)
        f.output("next", f.add(reader, x=second.out).out)
        f.output("beside", f.add(reader, x=1).out)
    PLACE.set("outside")
    assert (await f.run()).outputs == {"next": "outside", "beside": "outside"}
    assert PLACE.get() == "outside"


async def test_what_a_failed_node_set_is_not_seen_by_the_next() -> None:
    with Flow() as f:
        bad = f.add(node(on_error="route")(set_place_and_fail), x=1)
        f.output("o", f.add(read, x=bad.error).out)
    assert (await f.run())["o"] == "nowhere"


async def test_an_async_generator_keeps_what_it_sets_to_itself() -> None:
    with Flow() as f:
        pieces = f.add(set_place_and_yield, x=3)
        f.output("pieces", pieces.out)
        f.output("next", f.add(read, x=pieces.out).out)
    result = await f.run()
    assert result.outputs == {
        "pieces": ["nowhere 0", "nowhere 0 1", "nowhere 0 1 2"],
        "next": "nowhere",
    }


async def test_what_a_node_starts_sees_what_it_set() -> None:
    async def parent() -> list[str]:
        PLACE.set("parent")
        seen = [await to_thread.run_sync(PLACE.get)]

        async def child() -> None:
            seen.append(PLACE.get())

        async with create_task_group() as group:
            group.start_soon(child)
        return seen

    with Flow() as f:
        f.output("o", f.add(parent).out)
    assert (await f.run())["o"] == ["parent", "parent"]


async def test_nodes_see_what_was_set_when_the_run_was_started() -> None:
    gate = Event()

    async def later() -> str:
        await gate.wait()
        return PLACE.get()

    with Flow() as f:
        f.output("o", f.add(later).out)
    PLACE.set("before")
    async with f.start() as run:
        PLACE.set("after")
        gate.set()
        assert (await run)["o"] == "before"


async def path(x: object) -> str:
    return this_firing().path


async def path_later(x: object) -> str:
    await checkpoint()
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


@pytest.mark.parametrize("reader", [path, path_later, path_in_thread, path_of_child])
async def test_a_node_knows_its_path(reader: Any) -> None:
    name = reader.__name__
    with Flow() as f:
        first = f.add(reader, x=1)
        f.output("root", first.out)
        placed = reader if isinstance(reader, Node) else node(reader)
        f.output("named", f.add(placed.with_(name="a/b.c d"), x=1).out)
        f.output("map", collect(f.add(reader, x=each([1, 2])).out))
        with f.loop(name="up", limit=2) as it:
            v = it.carry(0)
            seen = f.add(reader, x=v.out)
            it.until(seen.out, lambda _: False)
            v.next(v.out)
        f.output("loop", it.result(seen.out))
    outputs = (await f.run()).outputs
    assert outputs == {
        "root": name,
        "named": "a%2Fb%2Ec%20d",
        "map": [f"{name}_2[0]", f"{name}_2[1]"],
        "loop": f"up[1]/{name}_3",
    }


async def test_a_firing_knows_its_run_and_attempt() -> None:
    async def firing() -> list[object]:
        return [this_firing().run_id, this_firing().attempt]

    with Flow() as f:
        f.output("o", f.add(firing).out)
    result = await f.run()
    assert result["o"] == [result.run_id, 1]


async def test_outside_a_run_there_is_a_stand_in() -> None:
    assert (this_firing().path, this_firing().attempt) == ("", 1)
    this_firing().emit("nobody hears it")
    assert await path(1) == ""
    assert await path_in_thread(1) == ""


async def test_a_run_inside_a_node_has_paths_of_its_own() -> None:
    with Flow() as inner:
        inner.output("o", inner.add(path, x=1).out)

    async def nested() -> list[str]:
        before = this_firing().path
        return [before, (await inner.run())["o"], this_firing().path]

    with Flow() as f:
        f.output("o", f.add(nested).out)
    assert (await f.run())["o"] == ["nested", "path", "nested"]


async def test_a_thread_that_outlives_its_node_keeps_its_firing() -> None:
    release, seen = threading.Event(), list[str]()
    threads = list[threading.Thread]()

    def linger() -> None:
        release.wait()
        seen.append(this_firing().path)

    async def leave_behind(x: int) -> int:
        threads.append(threading.Thread(target=copy_context().run, args=(linger,)))
        threads[0].start()
        return x

    async def later(x: int) -> int:
        release.set()
        await to_thread.run_sync(threads[0].join)
        return x

    with Flow() as f:
        f.output("o", f.add(later, x=f.add(leave_behind, x=1).out).out)
    await f.run()
    assert seen == ["leave_behind"]


async def test_pieces_are_told_under_the_path_of_their_node() -> None:
    async def talk(x: int) -> int:
        this_firing().emit(f"{x} a")
        await checkpoint()
        this_firing().emit(f"{x} b", port="out")
        return x

    with Flow() as f:
        f.output("o", collect(f.add(talk, x=each([1, 2])).out))
    async with f.start() as run:
        events = [event async for event in run.events()]
    pieces = [(event.path, event.data["piece"]) for event in events if event.kind == "piece"]
    assert sorted(pieces) == [("talk[0]", "1 a"), ("talk[0]", "1 b"), ("talk[1]", "2 a"), ("talk[1]", "2 b")]


async def test_two_runs_at_once_share_nothing() -> None:
    both = [Event(), Event()]

    async def meet(me: int) -> list[object]:
        PLACE.set(f"run {me}")
        both[me].set()
        await both[1 - me].wait()
        await checkpoint()
        return [PLACE.get(), this_firing().run_id]

    with Flow() as f:
        f.output("o", f.add(meet, me=f.input("me", int)).out)
    found: dict[int, list[object]] = {}

    async def one(me: int) -> None:
        result = await f.run(me=me)
        found[me] = [*result["o"], result.run_id]

    async with anyio.create_task_group() as group:
        group.start_soon(one, 0)
        group.start_soon(one, 1)
    assert [found[me][0] for me in (0, 1)] == ["run 0", "run 1"]
    assert all(found[me][1] == found[me][2] for me in (0, 1))
    assert found[0][2] != found[1][2]


async def test_what_a_test_of_a_loop_sets_is_not_seen_by_the_next() -> None:
    seen: list[str] = []

    def is_over(x: int) -> bool:
        seen.append(PLACE.get())
        PLACE.set("a test")
        return x > 1

    async def next_one(x: int) -> int:
        await checkpoint()
        return x + 1

    with Flow() as f:
        for _ in range(2):
            with f.loop() as it:
                count = it.carry(0)
                last = f.add(next_one, count.out)
                it.until(last.out, is_over)
                count.next(last.out)
    await f.run()
    assert seen == ["nowhere"] * 4


async def test_what_a_key_of_a_map_sets_is_not_seen_by_the_next() -> None:
    seen: list[str] = []

    def name(x: int) -> str:
        seen.append(PLACE.get())
        PLACE.set("a key")
        return str(x)

    with Flow() as f:
        f.output("o", collect(f.add(read, each([1, 2], key=name)).out))
    assert (await f.run())["o"] == ["nowhere"] * 2
    assert seen == ["nowhere"] * 2


async def test_what_a_function_that_merges_sets_is_not_seen_by_the_next() -> None:
    seen: list[str] = []

    def merge(contexts: Any) -> Any:
        seen.append(PLACE.get())
        PLACE.set("a merge")
        return contexts[0]

    with Flow() as f:
        one, two = f.context("one"), f.context("two")
        f.add(reads_context, merge_contexts(one, two, how=merge))
        f.add(reads_context, merge_contexts(two, one, how=merge))
    await f.run()
    assert seen == ["nowhere"] * 2


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
    gc.collect()
    assert (one(), other()) == (None, None)


async def test_a_thread_is_in_the_sitting_of_its_firing() -> None:
    async def are_one(x: int) -> bool:
        return this_firing().sitting is await to_thread.run_sync(lambda: this_firing().sitting)

    with Flow("f") as flow:
        flow.output("are_one", flow.add(are_one, x=1).out)
    assert (await flow.run())["are_one"] is True


def test_outside_a_run_each_firing_has_a_sitting_of_its_own() -> None:
    assert this_firing().sitting is not this_firing().sitting
    assert this_firing() == this_firing()
