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


@pytest.mark.parametrize(
    ("command", "url", "text"),
    [
        (([sys.executable, SERVER],), "", "expected words, each an argument of its own, as in"),
        ((sys.executable, 3), "", "its command has something of class int; expected words"),
        ((), "127.0.0.1:8765/mcp?key=hidden", "its address has no protocol; expected http:// or https://"),
        ((), "localhost:8765/mcp", "its address has no protocol; expected http:// or https://"),
        ((), "http:///mcp", "its address has no host"),
        (
            (),
            "http://me:hidden@host/mcp",
            "its address has a user or password, which would be stored; expected `h",
        ),
        ((), "https://hidden@host/mcp", "its address has a user or password"),
        ((), "http://me:hi/dden@host/mcp", "its address has a port that is none; expected a number"),
        (
            ("https://host/mcp?key=hidden",),
            "",
            "its command is an address; expected a command, or the address as",
        ),
        ((" https://me:hidden@host/",), "", "its command is an address; expected a command"),
        ((["npx", "https://host/mcp?key=hidden"],), "", "its command has something of class list; expected"),
        (
            (),
            "http://[::1/mcp",
            "its address cannot be read; expected http:// or https://, a host and a path",
        ),
        ((), "http://me:hidden@h℀/mcp", "its address cannot be read; expected"),
        ((), "http://me:[hidden]@here/mcp", "its address cannot be read; expected"),
    ],
)
@pytest.mark.parametrize("name", ["", "served"])
def test_what_is_no_command_and_no_address_is_refused(command: Any, url: str, text: str, name: str) -> None:
    with pytest.raises(FlowInvalid, match=text) as caught:
        mcp(*command, url=url, name=name)
    assert "hidden" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "command",
    [
        ("npx", "mcp-remote", "https://h/mcp?key=hidden"),
        ("npx mcp-remote https://h/mcp?key=hidden",),
    ],
)
def test_of_a_command_that_is_refused_the_program_alone_is_told(command: tuple[str, ...]) -> None:
    with pytest.raises(FlowInvalid, match=r"^tool server 'npx' has 1 problem") as caught:
        mcp(*command, deadline=-1)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("value", ["sk_live_abc", Secret("sk_live_abc"), Secret("sk_live_abc", "short")])
async def test_a_value_in_place_of_a_name_is_not_told(value: str | Secret) -> None:
    with pytest.raises(SecretMissing, match="'TOKEN' of tool server 'served' has no value") as caught:
        await listed(mcp(sys.executable, SERVER, env={"TOKEN": value}, name="served"))
    assert "sk_live_abc" not in str(caught.value)


async def test_of_a_server_that_does_not_answer_its_end_is_not_told_which_is_ours() -> None:
    with pytest.raises(ServerFailed) as caught:
        await listed(mcp("sleep", "60", connect_deadline=0.3))
    assert str(caught.value) == "tool server 'sleep' has not answered within 0.3 s"


async def test_of_a_server_that_does_not_answer_the_last_lines_are_told() -> None:
    await to_thread.run_sync(load, "served")  # the library, which counts as the time of a server
    waits = "echo no disk >&2; exec sleep 60"
    with pytest.raises(ServerFailed, match=r"within 5 s; its last lines: no disk$"):
        await listed(mcp("sh", "-c", waits, name="served", connect_deadline=5))


async def test_a_server_that_is_not_there_is_told_with_its_address_and_without_its_key() -> None:
    told = r"tool server 'far' could not be reached at http://127\.0\.0\.1:9/mcp: ConnectError.*\(3 starts\)"
    with pytest.raises(ServerFailed, match=told) as caught:
        await listed(mcp(url="http://127.0.0.1:9/mcp?key=hidden", name="far"))
    assert "hidden" not in str(caught.value)
