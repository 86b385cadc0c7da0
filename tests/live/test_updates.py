"""What an update leaves as it is, and what it has computed again (S13.4)."""

from __future__ import annotations

import io
from typing import Any

import pytest

from dataflow import SKIP, Flow, FlowInvalid, Maybe, collect, each, node
from tests.support.codes import codes


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
