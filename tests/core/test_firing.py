"""What a node tells of its firing: warnings, in the result of the run and as events (S19)."""

from __future__ import annotations

import logging

import pytest

from dataflow import Event, EventKind, Flow, Store, node, this_firing


@node
async def warns(text: str) -> str:
    this_firing().warn("odd", text)
    this_firing().warn("odd", text)
    return text


async def test_a_warning_is_in_the_result_and_an_event_of_the_firing() -> None:
    with Flow("f") as flow:
        flow.add(warns, text="one is odd")
    async with flow.start() as run:
        found: list[Event] = [event async for event in run.events() if event.kind is EventKind.WARNING]
        result = await run
    assert result.warnings == ("one is odd",)
    assert [(one.path, one.data) for one in found] == [("warns", {"code": "odd", "text": "one is odd"})]


async def test_what_the_run_has_warned_of_is_not_repeated_after_a_pause() -> None:
    with Flow("f") as flow:
        flow.add(warns, text="one is odd")
        flow.add(warns, text=flow.ask(str, "Which?", name="which").out)
    stored = flow.using(store=Store.memory())
    paused = await stored.run()
    result = await stored.resume(paused.run_id, {"which": "one is odd"})
    assert result.warnings == ("one is odd",)


async def test_outside_of_a_run_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "dataflow.current"):
        await warns("one is odd")
    assert [record.getMessage() for record in caplog.records] == ["one is odd (odd)"] * 2
