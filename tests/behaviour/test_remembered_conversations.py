"""Conversations that remembered firings have begun: each place has one of its own (S10.5, S13.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import (
    ExecutionContext,
    Flow,
    Message,
    ProcessMemo,
    RunFailed,
    Store,
    collect,
    each,
    merge_contexts,
    node,
    this_firing,
)

CALLED: Final[list[str]] = []
LONG: Final = 20_000


def turn(text: str) -> tuple[Message, Message]:
    return Message("user", text), Message("assistant", f"re:{text}")


async def begin(text: str) -> ExecutionContext:
    CALLED.append(text)
    return ExecutionContext(this_firing().key).append_turn(*turn(text))


async def go_on(context: ExecutionContext, text: str) -> ExecutionContext:
    CALLED.append(text)
    return context.append_turn(*turn(text))


async def titled(text: str) -> ExecutionContext:
    CALLED.append(text)
    return ExecutionContext(this_firing().key, session_id="own")


def twice(reach: Any, *, begins: Any = begin, text: str = "hi") -> Flow:
    remembered = node(begins).with_(memo=reach)
    with Flow("twice") as flow:
        flow.output("left", flow.add(remembered.with_(name="left"), text=text).out)
        flow.output("right", flow.add(remembered.with_(name="right"), text=text).out)
    return flow


def settings(reach: str, path: Path) -> dict[str, Any]:
    return {"memo": Store.sqlite(path / "outcomes.db") if reach == "store" else ProcessMemo()}


def said(context: ExecutionContext) -> list[Any]:
    return [message.content for message in context.message_history]


async def test_a_hit_begins_a_conversation_of_its_own_place(tmp_path: Path) -> None:
    for reach in ("run", "process", "store"):
        CALLED.clear()
        flow = twice(reach).using(**settings(reach, tmp_path))
        results = [await flow.run() for _ in range(2)]
        assert len(CALLED) == (2 if reach == "run" else 1)
        for result in results:
            for name in ("left", "right"):
                context = result[name]
                assert context.context_id == context.session_id == f"{result.run_id}/{name}"
                assert said(context) == ["hi", "re:hi"]


async def test_a_run_that_is_resumed_finds_it_so_in_its_journal(tmp_path: Path) -> None:
    for text in ("hi", "x" * LONG):
        await resume_beside_a_hit(text, tmp_path / f"{len(text)}.db")


async def resume_beside_a_hit(text: str, file: Path) -> None:
    CALLED.clear()
    broken = [True]

    async def count(context: ExecutionContext) -> int:
        if broken:
            raise ValueError(broken.pop())
        return len(context.message_history)

    with Flow("counted") as flow:
        begun = flow.add(node(begin).with_(memo="store"), text=text).out
        flow.output("context", begun)
        flow.output("count", flow.add(count, context=flow.add(go_on, context=begun, text="b").out).out)
    flow = flow.using(store=Store.sqlite(file))
    with pytest.raises(RunFailed):
        await flow.run()
    broken.append(True)
    with pytest.raises(RunFailed) as caught:
        await flow.run()
    result = await flow.resume(caught.value.result.run_id)
    assert (result["context"].context_id, result["count"]) == (f"{result.run_id}/begin", 4)
    assert len(CALLED) == 3  # of the two calls of go_on one is of each run


async def test_items_and_live_sessions_have_it_so_too() -> None:
    CALLED.clear()
    with Flow("items") as flow:
        step = flow.add(node(begin).with_(memo="run"), text=each(flow.input("texts", list[str])))
        flow.output("all", collect(step.out))
    result = await flow.run(texts=["a", "a"])
    assert [one.context_id for one in result["all"]] == [f"{result.run_id}/begin[{n}]" for n in range(2)]
    async with flow.live(texts=["a", "a", "a"]) as session:
        assert len({one.context_id for one in await session.get("all")}) == 3
    assert CALLED == ["a", "a"]


async def test_what_two_hits_have_begun_has_nothing_in_common() -> None:
    remembered = node(begin).with_(memo="run")
    with Flow("strangers") as flow:
        left, right = (flow.add(remembered.with_(name=name), text="hi").out for name in ("left", "right"))
        flow.output("both", merge_contexts(left, right, how="append"))
    assert said((await flow.run())["both"]) == 2 * ["hi", "re:hi"]


async def test_a_session_id_that_was_given_stays() -> None:
    result = await twice("run", begins=titled).run()
    assert [one.session_id for one in result.outputs.values()] == ["own", "own"]


async def test_who_goes_on_from_a_conversation_that_was_given_keeps_its_id() -> None:
    CALLED.clear()
    with Flow("going on") as flow:
        step = flow.add(node(go_on).with_(memo="process"), flow.input("context", ExecutionContext), "hi")
        flow.output("context", step.out)
    flow = flow.using(memo=ProcessMemo())
    results = [await flow.run(context=ExecutionContext("c")) for _ in range(2)]
    assert ([one["context"].context_id for one in results], CALLED) == (["c", "c"], ["hi"])
