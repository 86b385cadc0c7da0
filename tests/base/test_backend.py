"""What asyncio and trio do not share, seen from either."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType

import anyio
import pytest
import trio
from anyio.lowlevel import checkpoint

from dataflow.base.backend import (
    cancellation_types,
    in_event_loop,
    on_asyncio,
    split_cancellation,
    threadsafe_callback,
)


def test_without_trio_everything_is_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "trio")
    assert on_asyncio()
    assert not in_event_loop()
    monkeypatch.setitem(sys.modules, "trio", ModuleType("trio"))
    assert on_asyncio()
    assert not in_event_loop()


def test_a_loop_that_has_ended_is_not_woken() -> None:
    called: list[bool] = []

    async def main() -> Callable[[], None]:
        return threadsafe_callback(lambda: called.append(True))

    asyncio.run(main())()
    trio.run(main)()
    assert called == []


async def test_a_group_is_parted_into_its_cancellations_and_the_rest() -> None:
    kinds = cancellation_types()
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await checkpoint()
        except kinds as cancellation:
            cancelled, rest = split_cancellation(BaseExceptionGroup("", [ValueError(), cancellation]), kinds)
            alone = split_cancellation(cancellation, kinds)
            raise
    assert scope.cancelled_caught
    assert isinstance(cancelled, BaseExceptionGroup)
    assert [type(error) for error in cancelled.exceptions] == [*kinds]
    assert isinstance(rest, ValueError)
    assert alone[0] is None
    several = ExceptionGroup("", [ValueError(), KeyError()])
    assert split_cancellation(several, kinds)[0] is None
    assert isinstance(split_cancellation(several, kinds)[1], ExceptionGroup)
