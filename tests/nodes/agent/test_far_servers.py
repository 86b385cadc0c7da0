"""Tool servers with an address: who is let in, what is shown, and a call that has no answer (S10.6)."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from typing import Any, Final

import pytest

from dataflow import FlowInvalid, RunFailed, Secret, Store
from dataflow_agent import Agent, ServerFailed, ToolFailed, call_server_tool, listed, mcp, scripted, sessions
from tests.nodes.agent.agent_tools import calling, room
from tests.nodes.agent.far_server import TOKEN, FarServer, serving_far
from tests.nodes.agent.serving import ON_ASYNCIO, call

#: The library leaves a stream of events once it has its answer, and closes the generators of it no more.
LEFT = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
BEARER = {"Authorization": "Bearer ${FAR_TOKEN}"}


@pytest.fixture
def far() -> Iterator[FarServer]:
    """Serve whoever comes."""
    with serving_far() as server:
        yield server


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[FarServer]:
    """Serve those that have the token, which is in the environment."""
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


class TestDescriptions:
    def test_headers_that_cannot_be_are_refused_without_their_values(self) -> None:
        shows: list[dict[str, str]] = [
            {"Authorization": "Bearer hidden"},
            {"X-Api-Key": "hidden"},
            {"X-Reader": "Bearer hidden"},
            {"Authorization": "Bearer hidden ${NAME}"},
        ]
        cases: list[Any] = [
            *((headers, "DF2227") for headers in shows),
            ({"Bearer hidden": "x"}, "DF2223"),
            ({5: "hidden"}, "DF2220"),
            ({"X-A": "hidden\nX-B: b"}, "DF2226"),
            ({"X-A": "hidden", "x-a": "2"}, "DF2225"),
            ({"Accept": "hidden"}, "DF2224"),
            ({"X-A": "${hidden-1}"}, "DF2228"),
            ("hidden", "DF2220"),
        ]
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
