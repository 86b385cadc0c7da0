"""What a live session remembers in a memo, and that it tells where it cannot (S13.1, S13.4)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from dataflow import Flow, ProcessMemo, Store, node

CALLED: list[int] = []


async def inc(x: int) -> int:
    CALLED.append(x)
    return x + 1


async def first_of(numbers: Iterator[int]) -> int:
    return next(numbers)


@pytest.fixture(autouse=True)
def _fresh(caplog: pytest.LogCaptureFixture) -> None:
    CALLED.clear()
    caplog.set_level(logging.WARNING, logger="dataflow")


def remembering(memo: str) -> Flow:
    with Flow("remembering") as flow:
        flow.output("y", flow.add(node(memo=memo)(inc), x=flow.input("x", int, 1)).out)  # type: ignore[call-overload]
    return flow


async def test_a_memo_without_a_store_is_a_warning_as_in_a_run(caplog: pytest.LogCaptureFixture) -> None:
    flow = remembering("store")
    async with flow.live() as session:
        for x in (1, 2, 1):
            await session.update(x=x)
            assert await session.get("y") == x + 1
    assert CALLED == [1, 2]
    assert [(message[:6], "session" in message) for message in caplog.messages] == [("DF0839", True)]
    caplog.clear()
    await flow.run()
    assert [(message[:6], "session" in message) for message in caplog.messages] == [("DF0839", False)]


async def test_a_store_with_a_cache_is_enough(caplog: pytest.LogCaptureFixture) -> None:
    flow = remembering("store")
    for stored in (flow.using(store=Store.memory()), flow.using(memo=Store.memory())):
        CALLED.clear()
        for _ in range(2):
            async with stored.live() as session:
                assert await session.get("y") == 2
        assert (CALLED, caplog.messages) == ([1], [])


async def test_a_function_that_comes_later_remembers_too(caplog: pytest.LogCaptureFixture) -> None:
    async with remembering("off").live() as session:
        assert await session.get("y") == 2
        await session.replace("inc", node(memo="store")(inc))
        await session.replace("inc", node(memo="store", version="2")(inc))
        assert [message[:6] for message in caplog.messages] == ["DF0839"]
        for x in (1, 2, 1):
            await session.update(x=x)
            assert await session.get("y") == x + 1
    assert CALLED == [1, 1, 2]


class Point(BaseModel):
    """Names a class that the flow did not know before."""

    x: int


async def test_a_function_that_comes_later_brings_its_classes() -> None:
    async def anything(x: int) -> Any:
        CALLED.append(x)
        return x

    async def point(x: int) -> Point:
        CALLED.append(x)
        return Point(x=x)

    with Flow("remembering") as flow:
        step = flow.add(node(name="it", memo="store")(anything), x=flow.input("x", int, 1))
        flow.output("y", step.out)
    async with flow.using(store=Store.memory()).live() as session:
        assert await session.get("y") == 1
        await session.replace("it", node(name="it", memo="store")(point))
        for x in (1, 2, 1):
            await session.update(x=x)
            assert await session.get("y") == Point(x=x)
    assert CALLED == [1, 1, 2]


async def test_a_node_that_missed_the_cache_waits_for_its_slots() -> None:
    limits: list[dict[str, Any]] = [{"max_concurrency": 1}, {"limits": {"w": 1}}]
    for memo in ("run", "process", "store"):
        for limit in limits:
            CALLED.clear()
            await limited(memo, limit)


async def limited(memo: str, limit: dict[str, Any]) -> None:
    placed = node(memo=memo)(inc).with_(limit="w") if "limits" in limit else node(memo=memo)(inc)  # type: ignore[call-overload]
    with Flow("limited") as flow:
        x = flow.input("x", int, 1)
        for name in "ab":
            flow.output(name, flow.add(placed, x=flow.add(inc, x=x).out).out)
    settings = {"memo": ProcessMemo() if memo == "process" else Store.memory(), **limit}
    async with flow.using(**settings).live() as session:
        found: tuple[Any, Any] = await session.get("a", "b")
        assert found == (3, 3)
        await session.update(x=5)
        found = await session.get("a", "b")
        assert found == (7, 7)
        assert session.counts.called == 6
    assert sorted(CALLED) == [1, 1, 2, 5, 5, 6]


async def test_what_has_no_digest_waits_for_its_slots_too() -> None:
    with Flow("limited") as flow:
        step = flow.add(node(memo="process")(first_of), numbers=flow.input("numbers", Iterator))
        flow.output("y", step.out)
    async with flow.using(max_concurrency=1).live(numbers=iter([4])) as session:
        assert await session.get("y") == 4
