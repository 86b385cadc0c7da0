"""Tool servers that end, do not start, are far away or do what they should not (S10.6, B38)."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import Flow, FlowInvalid, Image, RunFailed, Secret, Store, ToolCall
from dataflow_agent import (
    Agent,
    ServerFailed,
    ToolFailed,
    call_server_tool,
    listed,
    mcp,
    scripted,
    sessions,
    tools,
)
from tests.nodes.agent.agent_tools import calling, results, room, told_of
from tests.nodes.agent.far_server import TOKEN, FarServer, serving_far
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


#: The library leaves a stream of events once it has its answer, and closes the generators of it no more.
LEFT = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
BEARER = {"Authorization": "Bearer ${FAR_TOKEN}"}


@pytest.fixture
def far() -> Iterator[FarServer]:
    with serving_far() as server:
        yield server


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[FarServer]:
    monkeypatch.setenv("FAR_TOKEN", TOKEN)
    with serving_far(f"Bearer {TOKEN}") as server:
        yield server


class TestHeaders:
    async def test_each_request_has_them(self, closed: FarServer) -> None:
        async with sessions(box := mcp(url=closed.url, headers={**BEARER, "X-Reader": "me"})):
            assert "Bearer " in str(await call(box, "hears"))
        assert len(closed.sent) > 3
        assert {(one["authorization"], one["x-reader"]) for one in closed.sent} == {(f"Bearer {TOKEN}", "me")}
        header = Secret("WHOLE_HEADER", f"Bearer {TOKEN}")
        assert "hears" in (await listed(mcp(url=closed.url, headers={"authorization": header}))).names

    @ON_ASYNCIO
    async def test_no_value_is_in_a_store_a_log_or_an_error(
        self, closed: FarServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        store = Store.memory()
        box = mcp(url=closed.url, headers=BEARER)
        desk = room(Agent("lead", model="openai/gpt"), box, store=store)
        asks = [calling((name, {})) for name in ("hears", "is_expired")]
        with caplog.at_level(logging.DEBUG), scripted(*asks), pytest.raises(RunFailed) as caught:
            await desk.run()
        written = [str(record.data) for record in store.records(caught.value.result.run_id)]
        assert any("[secret:" in text for text in written)
        logged = [record.getMessage() for record in caplog.records]
        with pytest.raises(ToolFailed) as repeated:
            await call_server_tool(box, "repeats", {})
        errors = ["".join(traceback.format_exception(one)) for one in (caught.value, repeated.value)]
        assert "[secret:" in errors[1]
        assert not [text for text in (*written, *logged, *errors) if TOKEN in text]


class TestHeadersThatCannotBe:
    def test_headers_that_cannot_be_are_refused_without_their_values(self) -> None:
        shows: list[dict[str, str]] = [
            {"Authorization": "Bearer hidden"},
            {"X-Api-Key": "hidden"},
            {"X-Reader": "Bearer hidden"},
            {"Authorization": "Bearer hidden ${NAME}"},
        ]
        cases: list[Any] = [
            *((headers, "DF2227") for headers in shows), ({"Bearer hidden": "x"}, "DF2223"),
            ({5: "hidden"}, "DF2220"), ({"X-A": "hidden\nX-B: b"}, "DF2226"),
            ({"X-A": "hidden", "x-a": "2"}, "DF2225"), ({"Accept": "hidden"}, "DF2224"),
            ({"X-A": "${hidden-1}"}, "DF2228"), ("hidden", "DF2220"),
        ]  # fmt: skip
        for headers, code in cases:
            with pytest.raises(FlowInvalid, match=code) as caught:
                mcp(url="http://here/mcp", headers=headers)
            assert "hidden" not in str(caught.value)


class TestErrors:
    """What is of a call alone leaves the session as it is, and what is not begins a new one."""

    @LEFT
    async def test_an_error_is_of_its_call(self, far: FarServer) -> None:
        async with sessions(box := mcp(url=far.url, name="far")):
            for tool, told in (
                ("streams_full", "the disk is full"),
                ("goes_on", "the disk is full"),
                ("is_full", "the disk is full"),
                ("is_invalid", "400 Bad Request: there is no shelf"),
                ("is_denied", "403 Forbidden: only for readers"),
                ("is_broken", "502 Bad Gateway: Server returned an error response"),
            ):
                assert await call(box, tool) == f"error: tool {tool!r} of server 'far': has failed: {told}"
                assert await call(box, "hears") == "nothing"
        assert far.sessions == 1

    async def test_a_connection_that_is_lost_is_told_and_made_anew(self, far: FarServer) -> None:
        for number, tool in enumerate(("is_cut", "breaks_off", "forgets"), start=1):
            async with sessions(box := mcp(url=far.url, name="far")):
                told = str(await call(box, tool))
                again = f"has ended during {tool!r}, which is not called again: the connection was lost: "
                assert told.startswith(f"error: tool server 'far': {again}")
                assert await call(box, "hears") == "nothing"
            assert far.sessions == 2 * number


QUERY: Final = "api_key=hidden-of-the-test&page=2%2F3"


async def test_each_request_has_the_query_and_nothing_shows_it(
    far: FarServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with sessions(box := mcp(url=f"{far.url}?{QUERY}#top")):
        assert await call(box, "hears") == "nothing"
        await call(box, "is_broken")
        found = await listed(box)
    assert len(far.paths) > 3
    assert set(far.paths) == {f"/mcp?{QUERY}"}
    assert any(record.getMessage().startswith("HTTP Request: POST") for record in caplog.records)
    shown = [caplog.text, repr(found), repr([found.names, found.specs()]), found.servers[0].place]
    far.wants = "somebody"
    for url in (far.url, "http://127.0.0.1:9/mcp"):
        with pytest.raises(ServerFailed) as caught:
            await listed(mcp(url=f"{url}?{QUERY}"))
        shown.append("".join(traceback.format_exception(caught.value)))
    assert "DF2232" in shown[-1]
    assert "at http://127.0.0.1:9/mcp: ConnectError" in shown[-1]
    assert not [text for text in shown if "hidden" in text]
