# ruff: noqa: ASYNC240 - files of a test
"""Tool servers that end, do not start or say nothing: what is told, and that none is left (S10.6, B38)."""

from __future__ import annotations

import logging
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from dataflow import RunFailed, Secret
from dataflow_agent import Agent, ServerFailed, listed, mcp, scripted, sessions
from tests.nodes.agent.agent_tools import calling, results, room
from tests.nodes.agent.serving import ODD_SERVER, ON_ASYNCIO, call, children, end_of, is_there, serve, until


class TestDeath:
    async def test_the_call_fails_at_once_and_the_next_has_a_new_process(self, tmp_path: Path) -> None:
        calls = tmp_path / "calls"
        calls.write_text("")
        box = serve(env={"CALLS": Secret("CALLS", str(calls))})
        async with sessions(box):
            first = await call(box, "pid")
            with anyio.fail_after(20):
                told = await call(box, "die")
            assert told == (
                "error: tool server 'served': has ended during 'die', which is not called again: "
                "exit code 3; its last lines: nothing | to live for"
            )
            assert await call(box, "echo", text="hi") == "hi"
            assert await call(box, "pid") != first
        assert calls.read_text() == "die\n"

    async def test_other_calls_that_wait_are_told_as_well_and_what_it_has_started_ends_with_it(self) -> None:
        before, box, told = children(), serve(), []
        async with sessions(box):
            child = int(str(await call(box, "child")))
            assert is_there(child)
            async with anyio.create_task_group() as group:

                async def wait() -> None:
                    told.append(await call(box, "hang"))

                group.start_soon(wait)
                await until(box, "hanging")
                await call(box, "kill")
            assert "has ended during 'hang', which is not called again: exit code -9" in str(told)
            await end_of(child)
            other = int(str(await call(box, "child")))
        await end_of(other)
        assert children() == before

    async def test_a_server_that_never_starts_fails_after_three_starts(self, tmp_path: Path) -> None:
        starts = tmp_path / "starts"
        command = f"echo start >> {starts}; echo no library found >&2; exit 4"
        with pytest.raises(ServerFailed, match=r"DF2231 .*: exit code 4; its last lines: no library found"):
            await listed(mcp("sh", "-c", command, name="bob's shelf"))
        assert starts.read_text() == "start\n" * 3

    async def test_a_server_that_says_nothing_fails_in_its_time_and_is_killed(self) -> None:
        before = children()
        with pytest.raises(ServerFailed, match="DF2233 tool server 'served':"):
            await listed(serve("--hang", connect_deadline=0.5))
        assert children() == before

    async def test_lines_that_are_no_messages_are_warnings(self, caplog: pytest.LogCaptureFixture) -> None:
        box = serve("--rubbish")
        async with sessions(box):
            with caplog.at_level(logging.WARNING, "dataflow_agent.servers"):
                assert await call(box, "echo", text="hi") == "hi"
        shown = [record.getMessage() for record in caplog.records if record.name == "dataflow_agent.servers"]
        assert shown == [
            f"tool server 'served' wrote a line that is not a message: {line!r}"
            for line in ("A banner", "of several", "lines")
        ]


@ON_ASYNCIO
async def test_a_call_that_was_allowed_is_made_once_the_server_is_there_again(tmp_path: Path) -> None:
    file = Path(shutil.copy(ODD_SERVER, tmp_path / "server.py"))
    box = mcp(sys.executable, str(file), name="odd", ask=["pid"])
    stored = room(Agent("lead", model="openai/gpt"), box, tmp_path)
    with scripted(calling(("pid", {})), "done"):
        paused = await stored.run()
        [ask] = paused.asks
        away = file.rename(file.with_suffix(".away"))
        with pytest.raises(RunFailed) as caught:
            await stored.resume(paused.run_id, {ask.id: "allow"})
        [failure] = caught.value.failures
        assert (failure.path, failure.type) == ("lead/turn[0]/call[0]/make", "ServerFailed")
        assert "tool server 'odd': could not be started: exit code 2" in failure.message
        away.rename(file)
        result = await stored.resume(paused.run_id)
    [told] = results(result["context"])
    assert (result.status, str(told).isdigit()) == ("completed", True)
