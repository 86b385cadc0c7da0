# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type"
"""What is said of tool servers: how they are described, and that they are not there or let nobody in."""

from __future__ import annotations

import sys
from typing import Any, Final

import anyio

from dataflow import Secret
from dataflow_agent import listed, mcp
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.servers.sessions import unmet_of
from dataflow_agent.toolkit.policies import Policy
from tests.messages.telling import Row, Stimulus
from tests.nodes.agent.far_server import serving_far

__all__ = ["ROWS"]

DENYING: Final = Server(("serve",), name="shelf", policy=Policy(deny=("burn(titel=*)", "brun")))


def listing(**server: Any) -> Stimulus:
    return lambda: anyio.run(listed, mcp(*server.pop("command", ()), **server))


def refused() -> None:
    with serving_far("Bearer right") as server:
        listing(url=server.url, name="far", headers={"X-Reader": "me"})()


ROWS: Final = [
    Row(
        "a server of nothing",
        lambda: mcp(),
        "it has neither a command nor an address; expected one of them",
    ),
    Row(
        "a server with all that it may not have",
        lambda: mcp("serve", url="ftp://here", env={"KEY": "sk-12"}, deadline=0),
        "it has both a command and an address; expected one of them\n"
        "its address begins with 'ftp'; expected http or https\n"
        "it has an address and env; variables are for a command\n"
        "the variable 'KEY' is set to no name; expected the name of a variable of this process\n"
        "its deadline is 0; expected seconds above 0",
    ),
    Row(
        "a server whose command is one list",
        lambda: mcp(["serve", "here"]),
        "its command has something of class list; expected words, each an argument of its own, as in mcp(*command)",
    ),
    Row(
        "an address without a protocol",
        lambda: mcp(url="127.0.0.1:8765/mcp"),
        "its address has no protocol; expected http:// or https:// before it",
    ),
    Row(
        "an address without a host",
        lambda: mcp(url="http:///mcp"),
        "its address has no host; expected one behind //",
    ),
    Row(
        "an address with a user",
        lambda: mcp(url="http://me:sk-12@here/mcp"),
        "its address has a user or password, which would be stored; expected `headers` with `${NAME}` in them, by the name of a variable of this process",
    ),
    Row(
        "an address with a password in which there is a mark",
        lambda: mcp(url="http://me:sk/12@here/mcp"),
        "its address has a port that is none; expected a number up to 65535",
    ),
    Row(
        "an address in place of a command",
        lambda: mcp("https://here/mcp?key=sk-12"),
        "its command is an address; expected a command, or the address as `url`",
    ),
    Row(
        "an address that is none",
        lambda: mcp(url="http://[::1"),
        "its address cannot be read; expected http:// or https://, a host and a path",
    ),
    Row(
        "a value in place of a variable",
        listing(command=("serve",), name="files", env={"TOKEN": "sk_live"}),
        "secret 'TOKEN' of tool server 'files' has no value; expected in `env` the name of a variable that is set in this process, or a Secret of at least 8 characters",
    ),
    Row(
        "a server that is not there",
        listing(url="http://127.0.0.1:9/mcp", name="far"),
        "tool server 'far' could not be reached at http://127.0.0.1:9/mcp: … (3 starts)",
    ),
    Row(
        "variables in a text",
        lambda: mcp("serve", env="HOME"),
        "expected the names of variables in a list or a mapping, found a text",
    ),
    Row(
        "headers that cannot be",
        lambda: mcp(
            "serve",
            headers={
                "Authorization": "Bearer sk-12",
                "X Y": "a",
                "X-A": "a\nb",
                "x-a": "${a-b}",
                "Accept": "a",
            },
        ),
        "it has a command and headers; headers are for an address\n"
        "the header 'Authorization' could show a secret; expected `${NAME}` in it, by the name of a variable of this process, or a Secret\n"
        "header 2 has no name that a header may have; expected such as X-Key\n"
        "the header 'X-A' is there 2 times; expected once\n"
        "the header 'X-A' has what no header may; expected ASCII in one line\n"
        "the header 'x-a' is there 2 times; expected once\n"
        "the header 'x-a' names no variable; expected the name of one of this process\n"
        "the header 'Accept' is set by the protocol; expected others",
    ),
    Row(
        "a header that is no text",
        lambda: mcp(url="http://here", headers={"X-A": 3}),  # type: ignore[dict-item]
        "the header 'X-A' has a value of type int; expected a text or a Secret",
    ),
    Row(
        "headers in a text",
        lambda: mcp(url="http://here", headers="X-A: a"),
        "expected headers in a mapping, found str",
    ),
    Row(
        "a header without a value",
        listing(url="http://127.0.0.1:9/mcp", name="far", headers={"X-Key": "${NOT_SET_AT_ALL}"}),
        "secret 'X-Key' of tool server 'far' has no value; expected in `headers` the name of a variable that is set in this process, or a Secret, of at least 8 characters",
    ),
    Row(
        "a header whose value has lines",
        listing(
            url="http://127.0.0.1:9/mcp", name="far", headers={"X-Key": Secret("LINES", "two of\nthe lines")}
        ),
        "tool server 'far' cannot be sent its header 'X-Key': its value is not ASCII in one line",
    ),
    Row(
        "a server that lets nobody in",
        refused,
        "tool server 'far' answers 401 Unauthorized at http://127.0.0.1:…/mcp; the headers that it was sent: X-Reader",
    ),
    Row(
        "patterns that fit no call of a server",
        lambda: unmet_of(DENYING, (ServerTool(DENYING, "burn", "", '{"type": "object", "properties": {}}'),)),
        "tool server 'shelf': the pattern 'burn(titel=*)' of `deny` names arguments that no tool of its name has, and so it denies nothing; choices: burn\n"
        "tool server 'shelf': the pattern 'brun' of `deny` means none of its tools, and so it denies nothing; choices: burn",
    ),
    Row(
        "a server whose command is not there",
        listing(command=("no-such-command",), name="files"),
        "tool server 'files' cannot be started: No such file or directory: 'no-such-command'",
    ),
    Row(
        "a server that ends at once",
        listing(command=(sys.executable, "-c", "import sys; sys.exit('no library')"), name="files"),
        "tool server 'files' could not be started: exit code 1; its last lines: no library (3 starts)",
    ),
    Row(
        "a server that does not answer",
        listing(command=("sleep", "60"), name="files", connect_deadline=0.2),
        "tool server 'files' has not answered within 0.2 s",
    ),
]
