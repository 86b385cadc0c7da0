"""What an update has computed again, inside maps, loops and flow nodes too, and what is kept (S13.4)."""

from __future__ import annotations

import gc
import io
import itertools
import threading
from typing import Any

import anyio
import pytest

from dataflow import SKIP, Flow, FlowInvalid, Maybe, Paused, collect, each, node
from dataflow.live.session import Live
from dataflow.scheduler.frames import Frame
from tests.live.steps import turns
from tests.support.codes import codes


def told_by(calls: list[Any]) -> Any:
    async def more(x: int) -> int:
        calls.append(x)
        await turns(1)
        return x + 1

    return more


def mapped(calls: list[Any], **options: Any) -> Flow:
    with Flow("f") as flow:
        flow.output(
            "y", collect(flow.add(told_by(calls), x=each(flow.input("xs", list[int]), **options)).out)
        )
    return flow


#: Lists that follow [1, 2, 3], and which items are called again: by position, and by key.
LISTS: dict[str, tuple[list[int], list[int], list[int]]] = {
    "one more at the end": ([1, 2, 3, 4], [4], [4]),
    "one more in front": ([0, 1, 2, 3], [0, 1, 2, 3], [0]),
    "one less": ([1, 3], [3], []),
    "another order": ([3, 1, 2], [3, 1, 2], []),
    "nothing": ([], [], []),
    "one other": ([1, 7, 3], [7], [7]),
}


async def test_items_with_other_inputs_are_called_again() -> None:
    for xs, by_position, by_key in LISTS.values():
        for options, expected in (({}, by_position), ({"key": str}, by_key)):
            calls: list[int] = []
            async with mapped(calls, **options).live(xs=[1, 2, 3]) as session:
                assert await session.get("y") == [2, 3, 4]
                calls.clear()
                await session.update(xs=xs)
                assert await session.get("y") == [x + 1 for x in xs]
                assert sorted(calls) == sorted(expected)


async def test_rounds_are_called_again_from_the_first_that_begins_with_something_else() -> None:
    calls: list[tuple[int, int]] = []

    async def add(x: int, by: int) -> int:
        calls.append((x, by))
        return x + by

    async def sign(x: int, by: int) -> int:
        return by if x > 1 else 1

    with Flow("f") as flow:
        by = flow.input("by", int)
        with flow.loop(limit=4) as rounds:
            count = rounds.carry(0)
            step = flow.add(sign, x=count.out, by=by)
            more = flow.add(add, x=count.out, by=step.out)
            count.next(more.out)
            rounds.until(more.out, lambda x: x > 100)
        flow.output("y", rounds.result(more.out))
    async with flow.live(by=5) as session:
        assert await session.get("y") == 12
        calls.clear()
        await session.update(by=7)
        assert await session.get("y") == 16
        assert calls == [(2, 7), (9, 7)]


async def test_an_ask_in_a_map_is_open_for_the_items_that_show_something_else() -> None:
    with Flow("f") as flow:
        asked = flow.ask(str, "who?", show=each(flow.input("xs", list[int])), name="q")
        flow.output("y", collect(asked.out))
    async with flow.live(xs=[1, 2]) as session:
        for xs, open_ in (([1, 2], ["q[0]", "q[1]"]), ([1, 3], ["q[1]"])):
            await session.update(xs=xs)
            with pytest.raises(Paused):
                await session.get("y")
            assert [ask.id for ask in session.asks] == open_
            await session.answer({id: f"{id} of {xs}" for id in open_})
        assert await session.get("y") == ["q[0] of [1, 2]", "q[1] of [1, 3]"]


async def test_other_code_for_nodes_in_a_map_and_in_a_loop() -> None:
    async def once(x: int) -> int:
        return x + 1

    async def twice(x: int) -> int:
        return x * 2

    async def less(x: int) -> int:
        return -x

    with Flow("f") as flow:
        one = flow.add(once, x=each(flow.input("xs", list[int])))
        flow.output("y", collect(flow.add(twice, x=one.out).out))
        with flow.loop(name="rounds", limit=3) as rounds:
            count = rounds.carry(flow.input("n", int, 0))
            count.next(flow.add(once, x=count.out).out)
        flow.output("z", count.final)
    async with flow.live(xs=[1, 2]) as session:
        assert [await session.get("y"), await session.get("z")] == [[4, 6], 3]
        await session.replace("twice", less)
        assert [await session.get("y"), await session.get("z")] == [[-2, -3], 3]
        await session.replace(one, less)
        await session.replace("rounds/once_2", twice)
        assert [await session.get("y"), await session.get("z")] == [[1, 2], 0]
        await session.update(n=1)
        assert await session.get("z") == 8


@pytest.mark.parametrize("is_nested", [False, True], ids=["root", "subflow"])
async def test_the_keys_of_an_equal_list_are_kept(is_nested: bool) -> None:
    names = itertools.count()
    calls: list[int] = []

    async def plus(x: int, y: int) -> int:
        return x + y

    with Flow("f") as flow:
        item = each(flow.input("xs", list[int]), key=lambda _: str(next(names)))
        one = flow.add(told_by(calls), x=item)
        flow.output("y", collect(flow.add(plus, x=one.out, y=flow.input("by", int)).out))
    if is_nested:
        inner = flow
        with Flow("outer") as flow:
            flow.output("y", flow.add(inner, xs=flow.input("xs", list[int]), by=flow.input("by", int)).out.y)
    async with flow.live(xs=[1, 2], by=1) as session:
        assert await session.get("y") == [3, 4]
        for changed, y, called in (
            ({"by": 2}, [4, 5], []),
            ({"xs": [1, 3]}, [4, 6], [1, 3]),  # keys of another list are made again
            ({"by": 3}, [5, 7], []),
        ):
            calls.clear()
            await session.update(**changed)
            assert (await session.get("y"), calls) == (y, called)


def frames_of(session: Live) -> int:
    frames = [one for one in gc.get_objects() if type(one) is Frame]  # what only passes for one may raise
    return sum(_is_inside(frame, session) for frame in frames)


def _is_inside(frame: Frame, session: Live) -> bool:
    while frame.parent is not None:
        frame = frame.parent
    return frame is session._engine.scheduler.root


async def test_nothing_heaps_up() -> None:
    calls: list[int] = []

    async def listed(n: int) -> list[int]:
        return [n + i for i in range(n % 5)]

    with Flow("f") as flow:
        one = flow.add(told_by(calls), x=each(flow.add(listed, n=flow.input("n", int)).out, key=str))
        flow.output("y", collect(flow.add(node(on_error="skip")(told_by(calls)), x=one.out).out))
    async with flow.live(n=0) as session:
        counted: list[tuple[int, int]] = []
        for n in range(1_000):
            async with anyio.create_task_group() as group:
                if n % 3:  # overtaken by the next
                    group.start_soon(session.get, "y")
                    await turns(1)
                    group.cancel_scope.cancel()
            await session.update(n=n)
            if n % 3 == 0:
                await session.get("y")
            if n in (204, 504, 999):  # all of them of four items
                await session.get("y")
                gc.collect()
                counted.append((frames_of(session), threading.active_count()))
        frames, threads = zip(*counted, strict=True)
        assert len(set(frames)) == 1
        assert threads[-1] <= threads[0]  # those that other tests have left may end meanwhile
        reusing = session._engine.reusing
        assert not reusing._begun
        assert not reusing._errors
        assert not session._engine.scheduler.timers._open


async def test_an_equal_value_stops_the_change_there() -> None:
    calls: list[str] = []

    async def half(x: int) -> int:
        calls.append("half")
        return x // 2

    async def last(x: int) -> int:
        calls.append("last")
        return x

    with Flow("f") as flow:
        flow.output("y", flow.add(last, x=flow.add(half, x=flow.input("x", int)).out).out)
    async with flow.live(x=2) as session:
        for x in (2, 3, 4):
            await session.update(x=x)
            assert await session.get("y") == x // 2
    assert calls == ["half", "last", "half", "half", "last"]


async def test_an_update_that_does_not_fit_changes_nothing() -> None:
    async def added(x: int, y: int) -> int:
        return x + y

    with Flow("f") as flow:
        flow.output("o", flow.add(added, x=flow.input("x", int), y=flow.input("y", int)).out)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"x": "1"}, "DF0601 input 'x'"),
        ({"z": 1}, "DF0821 input 'z'"),
        ({"x": 2, "y": "no"}, "DF0601 input 'y'"),
    ]
    async with flow.live(x=1, y=1) as session:
        before = session.counts
        for values, problem in wrong:
            with pytest.raises(FlowInvalid) as caught:
                await session.update(**values)
            assert codes(caught.value) == [problem]
            assert (await session.get("o"), session.counts.revision) == (2, before.revision)


async def test_a_cutoff_lets_a_value_stand_that_has_no_digest() -> None:
    calls: list[str] = []

    async def file(x: int) -> Any:
        return io.TextIOWrapper(io.BytesIO(str(x // 2).encode()))

    async def read(x: Any) -> str:
        x.seek(0)
        calls.append(x.read())
        return calls[-1]

    def equal(old: Any, new: Any) -> bool:
        return bool(old.buffer.getvalue() == new.buffer.getvalue())

    with Flow("f") as flow:
        made = flow.add(node(cutoff=equal)(file), x=flow.input("x", int))
        flow.output("y", flow.add(read, x=made.out).out)
    async with flow.live(x=2) as session:
        for x in (2, 3, 4):
            await session.update(x=x)
            assert await session.get("y") == str(x // 2)
    assert calls == ["1", "2"]


async def test_a_map_that_was_skipped_in_between_is_not_told_by_that() -> None:
    async def some(n: int) -> Maybe[list[int]]:
        return SKIP if n < 0 else [n, n + 1]

    async def more(x: int) -> int:
        return x + 1

    async def last(y: int, xs: list[int] = [-1]) -> list[int]:  # noqa: B006 - it is not changed
        return xs

    with Flow("f") as flow:
        each_one = flow.add(more, x=each(flow.add(some, n=flow.input("n", int)).out))
        flow.output("list", collect(each_one.out))
        flow.output("last", flow.add(last, y=flow.input("y", int, 0), xs=collect(each_one.out)).out)
    async with flow.live(n=1) as session:
        assert await session.get("last") == [2, 3]
        await session.update(n=-1)
        assert await session.get("last") == [-1]
        await session.update(n=1)
        assert await session.get("list") == [2, 3]
        assert await session.get("last") == [2, 3]


async def test_an_input_may_have_any_name() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.input("self", int))
    async with flow.live(self=1) as session:
        await session.update(self=2)
        assert await session.get("y") == 2
