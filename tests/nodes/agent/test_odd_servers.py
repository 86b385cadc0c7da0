"""Tool servers that end, do not start or do what they should not; the others go on (S10.6, B38)."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import anyio
import pytest

from dataflow import Flow, Image, Secret, ToolCall
from dataflow_agent import Agent, ServerFailed, listed, mcp, scripted, sessions, tools
from dataflow_agent.toolkit.policies import Verdict
from tests.nodes.agent.agent_tools import calling, results, told_of
from tests.nodes.agent.serving import ON_ASYNCIO, call, children, end_of, is_there, odd, serve, until

ASKS = calling(("pid", {}))


@ON_ASYNCIO
@pytest.mark.parametrize("times", [1, 2, 5])
async def test_a_task_that_is_cancelled_more_than_once_leaves_no_process(times: int) -> None:
    box, pids, is_called = odd("--stays"), [], anyio.Event()

    async def use() -> None:
        async with sessions(box):
            pids.append(int(str(await call(box, "pid"))))
            is_called.set()
            await call(box, "is_silent")

    task = asyncio.create_task(use())
    with anyio.fail_after(20):
        await is_called.wait()
    for _ in range(times):
        task.cancel()
        await anyio.sleep(0.02)
    done, _ = await asyncio.wait([task], timeout=60)
    assert done == {task}
    assert task.cancelled()
    await end_of(pids[0])


async def test_what_is_wrong_with_a_call_is_of_that_call_alone() -> None:
    box = odd()
    async with sessions(box):
        before = await call(box, "pid")
        told = "error: tool 'is_full' of server 'odd': has failed: the disk is full"
        assert await call(box, "is_full") == told
        found = str(await told_of(ToolCall("c", "echo", r'{"text": "\ud800"}'), box))
        assert found.startswith("error: tool 'echo' of server 'odd': cannot be sent its arguments: ")
        assert "surrogates not allowed" in found
        kinds = ("x\r\ny", "", "text/html", "image/", "image/png\n")
        cases = [(kind, "MQ==", "an image of the type") for kind in kinds]
        for kind, data, reason in [*cases, ("image/png", "!!!", "base64"), ("image/png", "", "without data")]:
            text = str(await call(box, "pictures", data=data, mimeType=kind))
            assert text.startswith(
                "error: tool 'pictures' of server 'odd': has answered with an invalid result"
            )
            assert reason in text
        image = await call(box, "pictures", data="M\nQ==", mimeType="image/svg+xml")
        assert image == (Image("image/svg+xml", b"1"),)
        assert await call(box, "pid") == before


async def test_no_piece_of_a_secret_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    for ahead in (0, 290):
        for secret in ("a-very-secret-key", "Qfirst-of-lines\nZsecond-of-lines"):
            caplog.clear()
            box = odd(env={"KEY": Secret("THE_KEY", secret)})
            async with sessions(box):
                with caplog.at_level(logging.DEBUG, "dataflow.agent.servers"):
                    assert await call(box, "prints", ahead=ahead) == "done"
                    told = str(await call(box, "dies", ahead=ahead))
            shown = [
                record.getMessage() for record in caplog.records if record.name == "dataflow.agent.servers"
            ]
            assert len(shown) > 1
            assert not [text for text in (told, *shown) for line in secret.splitlines() if line[:4] in text]
            assert "[secret:" in told


@ON_ASYNCIO
class TestDescriptions:
    """Two descriptions of one server, which share its session."""

    async def test_each_has_its_name_its_policy_and_its_deadline(self) -> None:
        short, long = odd(name="short", deadline=3), odd(name="long", ask=["pid"], allow=["*"])
        for first, other in ((short, long), (long, short)):
            async with sessions(short, long):
                assert await call(first, "pid") == await call(other, "pid")
                told = str(await call(short, "naps", seconds=4.5))
                assert told.startswith("error: tool 'naps' of server 'short': has not answered within 3 s")
                assert await call(long, "naps", seconds=3.5) == "done"
                assert str(await call(long, "is_full")).startswith("error: tool 'is_full' of server 'long'")
                for box, verdict in ((short, Verdict.ALLOW), (long, Verdict.ASK)):
                    tool = (await listed(box)).tool("pid")
                    assert tool is not None
                    assert tool.at_server is not None
                    assert tool.at_server.server == box.servers[0]
                    assert tool.verdict({}) is verdict
                names = (await listed(tools(short, long))).names
                assert {"short_pid", "long_pid"} <= {*names}


def pid_of_a_flow() -> str:
    """Run a flow in a thread, as a blocking tool may."""
    with Flow("inner") as inner:
        inner.output("text", inner.add(Agent("in", model="openai/gpt"), prompt="in", tools=odd()).out.context)
    return str(results(inner.run_sync()["text"])[0])


async def test_a_flow_that_a_blocking_tool_runs_does_not_wait_for_the_block() -> None:
    box = odd(deadline=5)
    with scripted(ASKS, "done"), anyio.fail_after(20):
        async with sessions(box):
            before = await call(box, "pid")
            other = await call(tools(pid_of_a_flow), "pid_of_a_flow")
            assert str(other).isdigit()
            assert other != before
            assert await call(box, "pid") == before


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

    async def test_lines_that_are_no_messages_are_warnings(self, caplog: pytest.LogCaptureFixture) -> None:
        box = serve("--rubbish")
        async with sessions(box):
            with caplog.at_level(logging.WARNING, "dataflow.agent.servers"):
                assert await call(box, "echo", text="hi") == "hi"
        shown = [record.getMessage() for record in caplog.records if record.name == "dataflow.agent.servers"]
        assert shown == [
            "tool server 'served' wrote a line that is not a message: 'A banner'",
            "tool server 'served' wrote 3 lines that are not messages",
        ]
