"""A query of an address is sent with each request, and is in nothing that is shown (S10.6)."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pydantic import ValidationError

from dataflow import Flow, FlowInvalid
from dataflow_agent import ServerFailed, listed, mcp, sessions
from dataflow_agent.servers.offers import OfferedServer
from dataflow_agent.servers.server import shown_address, without_query
from tests.nodes.agent.far_server import FarServer, serving_far
from tests.nodes.agent.serving import call

QUERY: Final = "api_key=hidden-of-the-test&page=2%2F3"


@pytest.fixture
def far() -> Iterator[FarServer]:
    """Serve whoever comes."""
    with serving_far() as server:
        yield server


async def test_each_request_has_the_query(far: FarServer) -> None:
    async with sessions(box := mcp(url=f"{far.url}?{QUERY}#top")):
        assert await call(box, "hears") == "nothing"
    assert len(far.paths) > 3
    assert set(far.paths) == {f"/mcp?{QUERY}"}


async def test_no_library_logs_it(far: FarServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with sessions(box := mcp(url=f"{far.url}?{QUERY}")):
        await call(box, "hears")
        await call(box, "is_broken")
    assert any(record.getMessage().startswith("HTTP Request: POST") for record in caplog.records)
    assert "hidden" not in caplog.text


async def test_nor_that_of_an_address_that_it_is_sent_on_to(
    far: FarServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)  # below it is what the server says, word by word
    far.moved = f"/mcp/?{QUERY}"
    async with sessions(box := mcp(url=f"{far.url}?{QUERY}")):
        assert await call(box, "hears") == "nothing"
    assert set(far.paths) == {f"/mcp?{QUERY}", f"/mcp/?{QUERY}"}
    assert "hidden" not in caplog.text


async def test_no_error_shows_it(far: FarServer) -> None:
    far.wants = "somebody"
    for url in (far.url, "http://127.0.0.1:9/mcp"):
        with pytest.raises(ServerFailed) as caught:
            await listed(mcp(url=f"{url}?{QUERY}"))
        assert "hidden" not in "".join(traceback.format_exception(caught.value))


async def test_no_name_shows_it(far: FarServer) -> None:
    box = await listed(mcp(url=f"{far.url}?{QUERY}"))
    assert "hidden" not in repr(box)
    assert "hidden" not in repr([box.names, box.specs()])
    assert "hidden" not in "".join(server.place for server in box.servers)


def test_two_addresses_that_differ_in_their_query_are_two_servers() -> None:
    first, second = (mcp(url=f"http://here/mcp?page={page}").servers[0] for page in (1, 2))
    assert (first.key == second.key, first.place == second.place) == (False, False)


def test_a_server_of_a_document_is_refused_without_what_it_has() -> None:
    with pytest.raises(ValidationError, match="DF2222 url:") as caught:
        OfferedServer(url="http://me:hidden@here/mcp")
    assert "hidden" not in str(caught.value)


def test_a_server_of_a_document_is_shown_without_its_query() -> None:
    assert "hidden" not in repr(OfferedServer(url="http://here/mcp?key=hidden"))


def test_a_document_is_refused_without_what_it_has(tmp_path: Path) -> None:
    offer = {"type": "agent.tools", "config": {"servers": [{"url": "http://me:hidden@here/mcp"}]}}
    document = {"dataflow": 1, "nodes": {"box": offer}, "outputs": {"names": "box.tool_names"}}
    (tmp_path / "desk.json").write_text(json.dumps(document))
    with pytest.raises(
        FlowInvalid, match=r"DF2222 node 'box' \(agent\.tools\): config servers\.0: url:"
    ) as caught:
        Flow.load(tmp_path / "desk.json")
    assert "hidden" not in "".join(traceback.format_exception(caught.value))


def test_what_is_shown_has_neither_user_nor_query() -> None:
    assert shown_address("https://me:hidden@here:81/a/mcp?key=hidden#hidden") == "https://here:81/a/mcp"


def test_what_the_library_is_given_has_no_query() -> None:
    assert without_query("https://me@here:81/a/mcp?key=hidden#hidden") == "https://me@here:81/a/mcp"
