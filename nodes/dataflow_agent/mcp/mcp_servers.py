"""Describing tool servers that speak MCP (S10.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from dataflow import FlowInvalid, Secret
from dataflow_agent.mcp.server_addresses import is_address
from dataflow_agent.mcp.server_headers import headers_of
from dataflow_agent.mcp.servers import CALL_SECONDS, CONNECT_SECONDS, Server, problems_of, secrets_of
from dataflow_agent.tools.policies import policy_of
from dataflow_agent.tools.toolboxes import Toolbox

__all__ = ["mcp"]

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


def mcp(
    *command: str,
    url: str = "",
    allow: Sequence[str] | None = None,
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
    env: Mapping[str, str | Secret] | Sequence[str] = (),
    headers: Mapping[str, str | Secret] = NO_HEADERS,
    name: str = "",
    deadline: float = CALL_SECONDS,
    connect_deadline: float = CONNECT_SECONDS,
) -> Toolbox:
    """Describe a server of tools that speaks MCP: by its command, or by its address for streamable HTTP.

    `allow`, `ask` and `deny` are patterns of its tools, by their names there, as in a `Policy`. `env` are the
    variables of its process besides the few that each has: a mapping to secrets, or to the names of variables
    of this process, or only names. `headers` go to an address with each request: each is a secret, or a text
    in which `${NAME}` stands for the secret of that name, such as `Bearer ${TOKEN}`. `name` is what errors
    call the server, and what tells its tools from those of others. A call has `deadline` seconds, the start
    `connect_deadline`. Nothing is started here.

    Raises FlowInvalid for what describes no server, and ValueError for a pattern that cannot be read.
    """
    policy = policy_of(allow, ask, deny)
    try:
        sent = headers_of(headers)
        server = Server(command, url, secrets_of(env), name, policy, deadline, connect_deadline, sent)
    except ValueError as error:
        raise FlowInvalid(name or ("headers" if url else "env"), [str(error)], "tool server") from None
    problems = problems_of(server)
    if problems:
        raise FlowInvalid(name or _program_of(server) or "url", problems, "tool server")
    return Toolbox((server,))


def _program_of(server: Server) -> str:
    """Return the name of the program alone; what else is in a command may be an address with a key."""
    first = server.command[0] if server.command else ""
    if not isinstance(first, str) or is_address(first):  # type: ignore[redundant-expr]  # as in `problems_of`
        return ""
    return next(iter(first.split()), "")
