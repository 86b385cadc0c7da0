"""`clickweave.call`: one call of a tool, as most nodes are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import anyio
from pydantic import Field

from dataflow.config import Config
from dataflow.context import ExecutionContext, Tools
from dataflow.declare import node
from dataflow.flows import Flow
from dataflow.formats.clickweave.naming import prefix_of
from dataflow.formats.clickweave.nodes.named import Named
from dataflow.formats.clickweave.nodes.state import is_repeated, lookups_of, with_lookups, with_variables
from dataflow.formats.clickweave.results import value_of, variables_of
from dataflow.typed_flows import flow

__all__ = ["Action", "Call", "Noted", "call", "call_tool", "noted"]


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


async def noted(walk: ExecutionContext, value: Any, config: Action) -> Noted:
    """Set the variables of a result, and wait for what the node has changed to settle."""
    variables = dict(variables_of(prefix_of(config.name), value, config.alias))
    if config.settle:
        await anyio.sleep(config.settle)
    return Noted(with_variables(walk, variables), variables)


@flow
def call(f: Flow, walk: ExecutionContext, tools: Tools, *, config: Call) -> Noted:
    """Call a tool, and set variables of its result."""
    asked = f.add(request, walk=walk, config=config).out
    called = call_tool(f, "call", config.tool, asked, tools)
    done = f.add(note, walk=walk, text=called.text, config=config).out
    return Noted(done.walk, done.variables)


@node(name="request")
async def request(walk: ExecutionContext, config: Call) -> dict[str, Any]:  # noqa: ARG001 - it is its turn
    """Give the arguments of the call."""
    return dict(config.arguments)


@node(name="note")
async def note(walk: ExecutionContext, text: str, config: Call) -> Noted:
    """Set variables of the answer, and go on."""
    if config.unfocuses and is_repeated():
        walk = with_lookups(walk, replace(lookups_of(walk), focused=""))
    return await noted(walk, value_of(text), config)
