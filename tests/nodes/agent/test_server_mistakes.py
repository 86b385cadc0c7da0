"""What is said of servers that are described or given wrongly, or do not answer (S10.6)."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any, Final

import pytest
from anyio import to_thread

from dataflow import FlowInvalid, Secret, SecretMissing
from dataflow_agent import ServerFailed, listed, mcp
from dataflow_agent.servers.connection import load

SERVER: Final = str(Path(__file__).with_name("mcp_server.py"))


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
    cases: list[Any] = [
        ("npx", "mcp-remote", "https://h/mcp?key=hidden"),
        ("npx mcp-remote https://h/mcp?key=hidden",),
    ]
    for command in cases:
        with pytest.raises(FlowInvalid, match=r"^tool server 'npx' has 1 problem") as caught:
            mcp(*command, deadline=-1)
        assert "hidden" not in str(caught.value)


async def test_a_value_in_place_of_a_name_is_not_told() -> None:
    cases: list[Any] = ["sk_live_abc", Secret("sk_live_abc"), Secret("sk_live_abc", "short")]
    for value in cases:
        with pytest.raises(SecretMissing, match="DF2230 secret 'TOKEN':") as caught:
            await listed(mcp(sys.executable, SERVER, env={"TOKEN": value}, name="served"))
        assert "sk_live_abc" not in str(caught.value)


async def test_of_a_server_that_does_not_answer_its_end_is_not_told_which_is_ours() -> None:
    with pytest.raises(ServerFailed, match=r"DF2233 .* within 0\.3 s$"):
        await listed(mcp("sleep", "60", connect_deadline=0.3))


async def test_of_a_server_that_does_not_answer_the_last_lines_are_told() -> None:
    await to_thread.run_sync(load, "served")  # the library, which counts as the time of a server
    waits = "echo no disk >&2; exec sleep 60"
    with pytest.raises(ServerFailed, match=r"DF2233 .*its last lines: no disk$"):
        await listed(mcp("sh", "-c", waits, name="served", connect_deadline=5))


async def test_a_server_that_is_not_there_is_told_with_its_address_and_without_its_key() -> None:
    with pytest.raises(ServerFailed, match=r"DF2232 .* at http://127\.0\.0\.1:9/mcp: ConnectError") as caught:
        await listed(mcp(url="http://127.0.0.1:9/mcp?key=hidden", name="far"))
    assert "hidden" not in str(caught.value)
