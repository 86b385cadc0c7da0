"""A query of an address is sent with each request, and is in nothing that is shown (S10.6)."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from anyio import to_thread

from dataflow import Flow, FlowInvalid, Secret, SecretMissing
from dataflow_agent import ServerFailed, listed, mcp, sessions
from dataflow_agent.servers.connection import load
from dataflow_agent.servers.offers import OfferedServer
from dataflow_agent.servers.server import shown_address, without_query
from tests.nodes.agent.far_server import FarServer, serving_far
from tests.nodes.agent.serving import SERVER, call

QUERY: Final = "api_key=hidden-of-the-test&page=2%2F3"


@pytest.fixture
def far() -> Iterator[FarServer]:
    """Serve whoever comes."""
    with serving_far() as server:
        yield server


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


async def test_nor_that_of_an_address_that_it_is_sent_on_to(
    far: FarServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)  # below it is what the server says, word by word
    far.moved = f"/mcp/?{QUERY}"
    async with sessions(box := mcp(url=f"{far.url}?{QUERY}")):
        assert await call(box, "hears") == "nothing"
    assert set(far.paths) == {f"/mcp?{QUERY}", f"/mcp/?{QUERY}"}
    assert "hidden" not in caplog.text


def test_two_addresses_that_differ_in_their_query_are_two_servers() -> None:
    first, second = (mcp(url=f"http://here/mcp?page={page}").servers[0] for page in (1, 2))
    assert (first.key == second.key, first.place == second.place) == (False, False)


def test_a_document_is_refused_without_what_it_has(tmp_path: Path) -> None:
    offer = {"type": "agent.tools", "config": {"servers": [{"url": "http://me:hidden@here/mcp"}]}}
    document = {"dataflow": 1, "nodes": {"box": offer}, "outputs": {"names": "box.tool_names"}}
    (tmp_path / "desk.json").write_text(json.dumps(document))
    with pytest.raises(FlowInvalid, match=r"DF2222 box\.config\.servers\.0: url:") as caught:
        Flow.load(tmp_path / "desk.json")
    assert "hidden" not in "".join(traceback.format_exception(caught.value))


def test_what_is_shown_has_neither_user_nor_query_and_what_the_library_is_given_no_query() -> None:
    address = "https://me:hidden@here:81/a/mcp?key=hidden#hidden"
    assert shown_address(address) == "https://here:81/a/mcp"
    assert without_query(address) == "https://me:hidden@here:81/a/mcp"
    assert "hidden" not in repr(OfferedServer(url="http://here/mcp?key=hidden"))


def test_what_is_no_command_and_no_address_is_refused() -> None:
    commands: tuple[Any, ...] = (
        ([sys.executable, SERVER],),
        (sys.executable, 3),
        ("https://host/mcp?key=hidden",),
        (" https://me:hidden@host/",),
        (["npx", "https://host/mcp?key=hidden"],),
    )
    addresses = {
        "127.0.0.1:8765/mcp?key=hidden": "DF2221",
        "localhost:8765/mcp": "DF2221",
        "http:///mcp": "DF2221",
        "http://me:hidden@host/mcp": "DF2222",
        "https://hidden@host/mcp": "DF2222",
        "http://me:hi/dden@host/mcp": "DF2221",
        "http://[::1/mcp": "DF2221",
        "http://me:hidden@h℀/mcp": "DF2221",
        "http://me:[hidden]@here/mcp": "DF2221",
    }
    cases: list[Any] = [(command, "", "DF2217") for command in commands]
    cases += [((), url, code) for url, code in addresses.items()]
    for name in ("", "served"):
        for command, url, code in cases:
            with pytest.raises(FlowInvalid, match=code) as caught:
                mcp(*command, url=url, name=name)
            assert "hidden" not in "".join(traceback.format_exception(caught.value))


def test_of_a_command_that_is_refused_the_program_alone_is_told() -> None:
    url = "https://h/mcp?key=hidden"
    for command in (("npx", "mcp-remote", url), (f"npx mcp-remote {url}",)):
        with pytest.raises(FlowInvalid, match=r"^tool server 'npx' has 1 problem") as caught:
            mcp(*command, deadline=-1)
        assert "hidden" not in str(caught.value)


async def test_a_value_in_place_of_a_name_is_not_told() -> None:
    cases: list[Any] = ["sk_live_abc", Secret("sk_live_abc"), Secret("sk_live_abc", "short")]
    for value in cases:
        with pytest.raises(SecretMissing, match="DF2230 secret 'TOKEN':") as caught:
            await listed(mcp(sys.executable, SERVER, env={"TOKEN": value}, name="served"))
        assert "sk_live_abc" not in str(caught.value)


async def test_of_a_server_that_does_not_answer_the_last_lines_are_told() -> None:
    await to_thread.run_sync(load, "served")  # the library, which counts as the time of a server
    waits = "echo no disk >&2; exec sleep 60"
    with pytest.raises(ServerFailed, match=r"DF2233 .*its last lines: no disk$"):
        await listed(mcp("sh", "-c", waits, name="served", connect_deadline=5))
