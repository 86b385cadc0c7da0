"""`mcp`, which describes a tool server, and the node type `agent.tools`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from dataflow import ArgumentInvalid, Diagnostic, FlowInvalid, Secret
from dataflow_agent.diagnostics.tools import NOT_A_FUNCTION
from dataflow_agent.models.config import Patterns, StrictConfig
from dataflow_agent.servers.server import (
    CALL_SECONDS,
    CONNECT_SECONDS,
    MAX_MESSAGE,
    Server,
    headers_of,
    is_address,
    problems_of,
    secrets_of,
)
from dataflow_agent.servers.sessions import listed
from dataflow_agent.toolkit.functions import tool_of
from dataflow_agent.toolkit.policies import Policy, arguments_named, exactly, policy_of
from dataflow_agent.toolkit.toolboxes import Functions, Source, Tool, Toolbox, misspelt, without_arguments

__all__ = ["Offer", "OfferedServer", "mcp", "tools"]

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


def _references(given: list[str]) -> list[str]:
    for one in given:
        module, colon, qualname = one.partition(":")
        if not (colon and all(part.isidentifier() for part in (*module.split("."), *qualname.split(".")))):
            expected = "a function, written module:qualname"
            raise ArgumentInvalid(NOT_A_FUNCTION(expected=expected, found=repr(one), advice=""))
    return given


class OfferedServer(StrictConfig):
    """A server of tools, as `mcp` describes it."""

    model_config = ConfigDict(hide_input_in_errors=True)  # which may be a value of env

    command: list[str] = Field(default=[], description="what starts it, and its arguments")
    url: str = Field(default="", repr=False, description="its address, of one that runs already")
    env: dict[str, Secret] = Field(
        default={}, description="variables of its process, each with the name of one that is set here"
    )
    headers: dict[str, str] = Field(
        default={}, description="headers of each request, in which `${NAME}` is a variable that is set here"
    )
    name: str = Field(default="", description="what errors call it, and what tells its tools from others")
    allow: Patterns | None = Field(default=None, description="patterns of the calls that are made")
    ask: Patterns = Field(default=[], description="patterns of the calls that somebody is asked about")
    deny: Patterns = Field(default=[], description="patterns of the calls that are not made")
    deadline: float = Field(default=CALL_SECONDS, description="how many seconds a call may take")
    connect_deadline: float = Field(default=CONNECT_SECONDS, description="how many its start may take")
    max_message: int = Field(
        default=MAX_MESSAGE,
        description="how many bytes a message that it sends may have",
        exclude_if=MAX_MESSAGE.__eq__,  # so that flows from before it was added are the same
    )

    @model_validator(mode="after")
    def _check(self) -> OfferedServer:
        problems = problems_of(self.described)
        if problems:
            raise ArgumentInvalid(problems[0])
        return self

    @property
    def described(self) -> Server:
        """The server as a description."""
        return Server(
            (*self.command,), self.url, (*self.env.items(),), self.name,
            policy_of(self.allow, self.ask, self.deny), self.deadline, self.connect_deadline,
            headers_of(self.headers), self.max_message,
        )  # fmt: skip


class Offer(StrictConfig):
    """Config of `agent.tools`; `allow`, `ask` and `deny` are of the functions."""

    functions: Annotated[list[str], AfterValidator(_references)] = Field(
        default=[], description="functions, each as module:qualname"
    )
    servers: list[OfferedServer] = Field(default=[], description="servers of tools, by command or address")
    tools: Literal["auto"] | list[str] = Field(
        default="auto", description="the names of the tools that are offered; auto are all"
    )
    allow: Patterns | None = Field(default=None, description="patterns of the calls that are made")
    ask: Patterns = Field(default=[], description="patterns of the calls that somebody is asked about")
    deny: Patterns = Field(default=[], description="patterns of the calls that are not made")

    @model_validator(mode="after")
    def _check(self) -> Offer:
        problems = misspelt(self.policy, self.functions) or self._without_arguments()
        if problems:
            raise ArgumentInvalid(problems[0])
        return self

    def _without_arguments(self) -> Sequence[Diagnostic]:
        """List patterns that fit no call; functions are imported only if patterns name arguments."""
        if not arguments_named(self.policy):
            return []
        try:
            return without_arguments(self.policy, self.functions)
        except FlowInvalid as invalid:
            return [problem.within(f"function {invalid.flow}") for problem in invalid.diagnostics]

    @property
    def policy(self) -> Policy:
        """The policy of calls of the functions."""
        return policy_of(self.allow, self.ask, self.deny)


class Offered(NamedTuple):
    """Tools, and the names that they have for models."""

    tools: Toolbox
    tool_names: list[str]


async def tools(config: Offer = Offer()) -> Offered:  # noqa: B008 - frozen
    """Offer functions and the tools of servers, all of them or those with the given names.

    The servers are started to list their tools. Raises FlowInvalid for a function that cannot be found or
    that no model can call, and for a name that no tool has; ServerFailed for a server that does not start,
    and SecretMissing.
    """
    for reference in config.functions:
        tool_of(reference)
    functions = Functions(tuple(dict.fromkeys(config.functions)), config.policy)
    servers = dict.fromkeys(one.described for one in config.servers)
    box = Toolbox((functions, *servers) if config.functions else (*servers,))
    known = await listed(box)
    if config.tools == "auto":
        return Offered(box, [*known.names])
    picked = Toolbox((*box.sources, *_hiding(known, config.tools)))
    return Offered(picked, [*(await listed(picked)).names])


def _hiding(known: Toolbox, names: Sequence[str]) -> list[Source]:
    """Return sources that hide all tools but the named ones: the same servers with stricter policies."""
    known.check_names(names, "tools")
    picked = {name: tool for name in names if (tool := known.tool(name)) is not None}
    others = [tool for name in known.names if (tool := known.tool(name)) is not None and name not in picked]
    functions = [Functions((tool.reference,), Policy(allow=())) for tool in others if tool.at_server is None]
    return [*functions, *(_allowing(server, picked) for server in known.servers)]


def _allowing(server: Server, picked: Mapping[str, Tool]) -> Server:
    own = [
        tool.own_name
        for tool in picked.values()
        if tool.at_server and tool.at_server.server.place == server.place
    ]
    return replace(server, policy=Policy(allow=tuple(map(exactly, own))))


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
    max_message: int = MAX_MESSAGE,
) -> Toolbox:
    """Describe a server of tools that speaks MCP: by its command, or by its address for streamable HTTP.

    `allow`, `ask` and `deny` are patterns of its tools, by their names at the server, as in a `Policy`. `env`
    are additional variables of its process: a mapping to secrets, or to the names of variables of this
    process, or only names. `headers` are sent to an address with each request: each is a secret, or a string
    in which `${NAME}` is replaced by the secret of that name, such as `Bearer ${TOKEN}`. `name` is the name
    of the server in errors, and distinguishes its tools from those of others. A call has `deadline` seconds,
    the start `connect_deadline`; a message that the server sends has `max_message` bytes at most. Nothing is
    started here.

    Raises FlowInvalid for an invalid description, and ValueError for a malformed pattern.
    """
    policy = policy_of(allow, ask, deny)
    try:
        sent = headers_of(headers)
        server = Server(
            command, url, secrets_of(env), name, policy, deadline, connect_deadline, sent, max_message
        )  # fmt: skip
    except ArgumentInvalid as error:
        raise FlowInvalid(name or ("headers" if url else "env"), [error.problem], "tool server") from None
    problems = problems_of(server)
    if problems:
        raise FlowInvalid(name or _program_of(server) or "url", problems, "tool server")
    return Toolbox((server,))


def _program_of(server: Server) -> str:
    """Return the name of the program alone: other parts of the command may be an address with a key."""
    first = server.command[0] if server.command else ""
    if not isinstance(first, str) or is_address(first):  # type: ignore[redundant-expr]  # as in `problems_of`
        return ""
    return next(iter(first.split()), "")
