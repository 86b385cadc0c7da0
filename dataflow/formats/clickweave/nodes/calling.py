"""`clickweave.call`: one call of a tool, as most nodes are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import anyio
from pydantic import Field

from dataflow.config import Config
from dataflow.context import ExecutionContext, Tools
from dataflow.declare import node
from dataflow.flows import Flow
from dataflow.formats.clickweave.naming import prefix_of
from dataflow.formats.clickweave.nodes.named import Named
from dataflow.formats.clickweave.nodes.state import is_repeated, lookups_of, with_lookups, with_variables
from dataflow.formats.clickweave.results import matches_in, value_of, variables_of
from dataflow.typed_flows import flow

__all__ = ["Action", "Call", "Noted", "call", "call_tool", "note"]

FIND_TEXT: Final = "find_text"


class Action(Config):
    """What all nodes have that do something."""

    name: str = Field(description="what the node is called, which its variables begin with")
    alias: str = Field(default="", description="what a whole list is called besides `result`")
    settle: float = Field(default=0, ge=0, description="how many seconds it waits when it has succeeded")


class Call(Action):
    """Config of `clickweave.call`."""

    tool: str = Field(min_length=1, description="the name of the tool")
    arguments: dict[str, Any] = Field(default={}, description="what it is given")
    unfocuses: bool = Field(default=False, description="whether a further attempt forgets the focused app")


class Noted(NamedTuple):
    """The walk with what a node has found out, and the variables that it has set."""

    walk: ExecutionContext
    variables: dict[str, Any]


def call_tool(f: Flow, placed_as: str, tool: str, arguments: Any, tools: Any) -> Any:
    """Place a call of a tool; its ports are `text` and `images`."""
    calling = Named("agent.call_tool", placed_as)
    return f.add(calling, arguments=arguments, tools=tools, config=calling.config(tool=tool)).out


@flow
def call(f: Flow, walk: ExecutionContext, tools: Tools, *, config: Call) -> Noted:
    """Call a tool, and set variables of its result."""
    asked = f.add(request, walk=walk, config=config).out
    answer = call_tool(f, "call", config.tool, asked, tools)
    noted = f.add(note, walk=walk, text=answer.text, tool=config.tool, config=config).out
    return Noted(noted.walk, noted.variables)


@node(name="request")
async def request(walk: ExecutionContext, config: Call) -> dict[str, Any]:  # noqa: ARG001 - it is its turn
    """Give the arguments of the call."""
    return dict(config.arguments)


@node(name="note")
async def note(walk: ExecutionContext, text: str, tool: str, config: Action) -> Noted:
    """Set variables of an answer, wait for what it has changed to settle, and go on."""
    value = matches_in(text).found if tool == FIND_TEXT else value_of(text)
    if tool == FIND_TEXT and isinstance(whole := value_of(text), dict):
        value = whole
    variables = dict(variables_of(prefix_of(config.name), value, config.alias))
    if isinstance(config, Call) and config.unfocuses and is_repeated():
        lookups = lookups_of(walk)
        walk = with_lookups(walk, replace(lookups, focused=""))
    if config.settle:
        await anyio.sleep(config.settle)
    return Noted(with_variables(walk, variables), variables)
