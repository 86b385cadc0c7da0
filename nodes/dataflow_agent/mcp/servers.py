"""Tool servers as they are described: a command or an address, and what may be called of them (S10.6)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import Final

from dataflow import Secret, SecretMissing
from dataflow_agent.mcp.server_addresses import host_of, is_address, problems_of_address, shown_address
from dataflow_agent.mcp.server_headers import Header, problems_of_headers
from dataflow_agent.models.requests import ToolSpec
from dataflow_agent.tools.policies import Policy

__all__ = [
    "CALL_SECONDS",
    "CONNECT_SECONDS",
    "Server",
    "ServerTool",
    "environment_of",
    "marks_of",
    "problems_of",
    "secrets_of",
]

#: How long one call may take, and how long a server may take to be there, unless it is said.
CALL_SECONDS: Final = 60.0
CONNECT_SECONDS: Final = 30.0
#: How much of a digest tells two servers apart whose tools would have one name.
DIGITS: Final = 8
#: Shorter values, and lines of values, stand in any text by chance.
SHORTEST_HIDDEN: Final = 8

_WORD: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Server:
    """A server of tools that speaks MCP: its command, or its address, with what is allowed of its tools.

    `env` are pairs of a variable of the server's process and the secret that it is set to; in JSON, and in
    what is stored, a secret is its name. `name` is what errors call it. `deadline` bounds each call,
    `connect_deadline` the start, in seconds. `headers` are sent to its address with each request.
    """

    command: tuple[str, ...] = ()
    url: str = field(default="", repr=False)  # its query may be a key
    env: tuple[tuple[str, Secret], ...] = ()
    name: str = ""
    policy: Policy = Policy()
    deadline: float = CALL_SECONDS
    connect_deadline: float = CONNECT_SECONDS
    headers: tuple[Header, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What two descriptions have in common that share a session."""
        return ("dataflow_agent.servers", self.command, self.url, self.env, self.headers)

    @property
    def label(self) -> str:
        """The name, or what command or address make of one."""
        if self.name:
            return self.name
        if self.url:
            return host_of(self.url)
        words = [PurePath(word).stem for word in self.command if not word.startswith("-")]
        first, *words = words or ["server"]
        return next((word for word in words if _WORD.fullmatch(word) and not word.isdigit()), first)

    @property
    def address(self) -> str:
        """The address as it is shown."""
        return shown_address(self.url)

    @property
    def digest(self) -> str:
        """Tell it from other servers, the same in each process."""
        named = [(variable, secret.name) for variable, secret in self.env]
        sent = [(header.name.lower(), header.text) for header in self.headers]
        told = (self.command, self.url, named, *([sent] if sent else []))
        return sha256(repr(told).encode()).hexdigest()[:DIGITS]

    @property
    def place(self) -> str:
        """Where its tools are found; two descriptions that differ in policy or deadlines have one."""
        return f"{self.label} {self.digest}"


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server, by the name that it has there."""

    server: Server
    own_name: str
    description: str
    schema: str  # as JSON, so that two are known to be equal

    @property
    def reference(self) -> str:
        """Where it is found: the server, told from all others, and the name."""
        return f"{self.server.place}:{self.own_name}"

    def spec(self, name: str) -> ToolSpec:
        """Describe the tool to a model, under a name."""
        return ToolSpec(name, self.description, json.loads(self.schema))


def problems_of(server: Server) -> list[str]:
    """List what is wrong with a description."""
    problems = [
        f"its command has something of class {type(word).__name__}; expected words, each an argument of its "
        "own, as in mcp(*command)"
        for word in server.command
        if not isinstance(word, str)  # type: ignore[redundant-expr]  # as who calls it may know no types
    ]
    if server.command and is_address(server.command[0]):
        problems.append("its command is an address; expected a command, or the address as `url`")
    if not server.command and not server.url:
        problems.append("it has neither a command nor an address; expected one of them")
    if server.command and server.url:
        problems.append("it has both a command and an address; expected one of them")
    problems += problems_of_address(server.url) if server.url else []
    if server.url and server.env:
        problems.append("it has an address and env; variables are for a command")
    if server.command and server.headers:
        problems.append("it has a command and headers; headers are for an address")
    problems += problems_of_headers(server.headers)
    problems += [
        f"the variable {variable!r} is set to no name; expected the name of a variable of this process"
        for variable, secret in server.env
        if not secret.name.isidentifier()
    ]
    problems += [
        f"its {what} is {seconds:g}; expected seconds above 0"
        for what, seconds in (("deadline", server.deadline), ("connect_deadline", server.connect_deadline))
        if not 0 < seconds < float("inf")
    ]
    return problems


def environment_of(server: Server) -> dict[str, str]:
    """Return the variables that are given to the process of a server; raises SecretMissing.

    What is too short to be kept out of sight is given too: such as a display, which is none to keep.
    """
    return {variable: _revealed(server, variable, secret) for variable, secret in server.env}


def marks_of(server: Server, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is not to be shown of the secrets of a server, and the mark of each: all, and each line.

    A server may write one line of a secret, of which what redacts whole secrets knows nothing.
    """
    return {
        part: f"[secret:{secret.name}]"
        for variable, secret in server.env
        for part in (environment[variable], *map(str.strip, environment[variable].splitlines()))
        if len(part) >= SHORTEST_HIDDEN
    }


def _revealed(server: Server, variable: str, secret: Secret) -> str:
    """Return the value of a secret; the error does not have its name, which could be a value by mistake."""
    try:
        return secret.reveal()
    except SecretMissing:
        given = os.environ.get(secret.name)
        if given is not None:
            return given
    expected = "the name of a variable that is set in this process, or a Secret of at least 8 characters"
    reason = f"of tool server {server.label!r} has no value; expected in `env` {expected}"
    raise SecretMissing(variable, reason)


def secrets_of(env: Mapping[str, str | Secret] | Sequence[str]) -> tuple[tuple[str, Secret], ...]:
    """Read the variables of a server: each with a secret or the name of one, or only its name.

    Raises ValueError, which does not tell what was found: it could be a value.
    """
    if isinstance(env, str):
        raise ValueError("expected the names of variables in a list or a mapping, found a text")
    given = env if isinstance(env, Mapping) else dict(zip(env, env, strict=True))
    return tuple(
        (variable, value if isinstance(value, Secret) else Secret(value)) for variable, value in given.items()
    )
