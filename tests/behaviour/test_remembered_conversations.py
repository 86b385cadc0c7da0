"""Conversations that remembered firings have begun: each place has one of its own (S10.5, S13.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dataflow import ExecutionContext, Flow, Message, ProcessMemo, Store, merge_contexts, node, this_firing
from tests.behaviour.test_contexts import said

CALLED: Final[list[str]] = []


def turn(text: str) -> tuple[Message, Message]:
    return Message("user", text), Message("assistant", f"re:{text}")


async def begin(text: str) -> ExecutionContext:
    CALLED.append(text)
    return ExecutionContext(this_firing().key).append_turn(*turn(text))


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


async def test_what_two_hits_have_begun_has_nothing_in_common() -> None:
    remembered = node(begin).with_(memo="run")
    with Flow("strangers") as flow:
        left, right = (flow.add(remembered.with_(name=name), text="hi").out for name in ("left", "right"))
        flow.output("both", merge_contexts(left, right, how="append"))
    assert said((await flow.run())["both"]) == 2 * ["hi", "re:hi"]


async def test_a_session_id_that_was_given_stays() -> None:
    result = await twice("run", begins=titled).run()
    assert [one.session_id for one in result.outputs.values()] == ["own", "own"]
