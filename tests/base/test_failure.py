"""What is kept of an exception, texts that messages quote, and what asyncio and trio do not share (S12.4)."""

from __future__ import annotations

import asyncio
import math
import re
import sys
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any, Optional, Union

import anyio
import pytest
import trio
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from dataflow import Failure, Flow, NodeTimeout, RunFailed, node
from dataflow.authoring import shortened
from dataflow.base.backend import (
    cancellation_types,
    in_event_loop,
    on_asyncio,
    split_cancellation,
    threadsafe_callback,
)
from dataflow.base.failure import failure_of, takes_failure
from dataflow.base.wording import choices
from dataflow.secrets.known import know
from dataflow.stores import Store
from tests.support.known_secrets import forgetting


class Wordless(Exception):
    """An error whose text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 - any error
        return caught


def test_a_failure_is_what_an_error_was() -> None:
    failure = failure_of(ValueError("too long"), "check", "loop[0]/check", 2)
    assert failure == Failure("check", "loop[0]/check", 2, "ValueError", "too long", "ValueError: too long\n")
    assert failure.code == ""
    assert failure_of(NodeTimeout("a", 1), "a", "a", 1).code == "DF0802"
    assert failure_of(ValueError("SH0001 as a pack has"), "a", "a", 1).code == "SH0001"
    assert failure_of(ValueError("no DF0802 at the beginning"), "a", "a", 1).code == ""
    error = ValueError("outer")
    error.__cause__ = KeyError("inner")
    assert "KeyError: 'inner'" in failure_of(raised(error), "a", "a", 1).traceback
    failure = failure_of(raised(Wordless()), "a", "a", 1)
    assert (failure.type, failure.message) == ("Wordless", "(its text cannot be made: RuntimeError)")
    assert "Wordless" in failure.traceback


@node(timeout=60)
async def refuse(x: int) -> int:
    await checkpoint()
    raise ValueError(f"no {x}")


def refusing() -> Flow:
    """Wire a node that waits, in its time, and then fails."""
    with Flow("refusing") as flow:
        x = flow.input("x", int, 1)
        flow.output("y", flow.add(refuse, x=x).out)
    return flow


async def by_run() -> RunFailed:
    with pytest.raises(RunFailed) as raised:
        await refusing().run()
    return raised.value


async def by_run_sync() -> RunFailed:
    with pytest.raises(RunFailed) as raised:
        refusing().run_sync()
    return raised.value


async def by_live() -> RunFailed:
    async with refusing().live() as session:
        with pytest.raises(RunFailed) as raised:
            await session.get("y")
    return raised.value


async def by_resume() -> RunFailed:
    flow = refusing().using(store=Store.memory())
    with pytest.raises(RunFailed) as first:
        await flow.run()
    with pytest.raises(RunFailed) as raised:
        await flow.resume(first.value.result.run_id)
    return raised.value


async def test_a_traceback_has_the_frame_of_the_node_only(subtests: pytest.Subtests) -> None:
    cases: list[Callable[[], Awaitable[RunFailed]]] = [by_run, by_run_sync, by_live, by_resume]
    for fail in cases:
        with subtests.test(fail=fail):
            failed = await fail()
            frames = [
                line for line in failed.failures[0].traceback.splitlines() if line.startswith("  File ")
            ]
            assert [frame.partition(", line")[0] for frame in frames] == [f'  File "{__file__}"']
            assert frames[0].endswith("in refuse")


def test_only_a_port_of_the_type_failure_takes_an_error() -> None:
    cases: list[tuple[object, bool]] = [
        (Failure, True),
        (Failure | None, True),
        (Optional[Failure], True),  # noqa: UP045 - the older spelling
        (Union[str, Failure], True),  # noqa: UP007 - as above
        (str | Failure | None, True), (list[Failure], False), (str, False), (object, False), (Any, False),
        (None, False), (tuple, False), (math, False),
    ]  # fmt: skip
    for annotation, takes in cases:
        assert takes_failure(annotation) is takes, annotation


@given(st.text(max_size=300), st.integers(40, 300))
def test_a_text_has_at_most_so_many_characters_and_tells_how_many_are_left_out(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    if len(text) <= most:
        assert short == text
    else:
        head, count, tail = re.fullmatch(r"(.*)\.\.\. (\d+) characters \.\.\.(.*)", short, re.DOTALL).groups()  # type: ignore[union-attr]  # as it is cut
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(count) + len(tail) == len(text)


def test_what_is_left_out_is_told_without_half_of_a_secret() -> None:
    assert shortened("a" * 1_500, 0) == "... 1,500 characters ..."
    with forgetting():
        know("TOKEN", "s" * 100)
        assert "ss" not in shortened("s" * 100 + "x" * 100, 80)
        assert "ss" in shortened("s" * 100 + "x" * 100, 80, in_clear=True)
    assert choices(["zebra", "open", "close"], near="opne") == "choices: open, close, zebra"


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
