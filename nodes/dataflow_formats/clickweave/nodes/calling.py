"""`clickweave.call`: one call of a tool, as most nodes are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from dataflow import ExecutionContext, Flow, Tools, flow, node
from dataflow_formats.clickweave.nodes.action import Action, Arguments, Noted, call_tool, noted
from dataflow_formats.clickweave.nodes.evidence import watched
from dataflow_formats.clickweave.nodes.results import value_of
from dataflow_formats.clickweave.nodes.state import is_repeated, lookups_of, with_lookups

__all__ = ["Call", "call"]


class Call(Action):
    """Config of `clickweave.call`."""

    tool: str = Field(min_length=1, description="the name of the tool")
    arguments: Arguments = Field(default={}, description="what it is given")
    unfocuses: bool = Field(default=False, description="whether a further attempt forgets the focused app")


@flow
def call(f: Flow, walk: ExecutionContext, tools: Tools, *, config: Call) -> Noted:
    """Call a tool, and set variables of its result."""
    asked = f.add(request, walk=walk, config=config).out
    called = call_tool(f, "call", config.tool, asked, tools)
    done = f.add(note, walk=walk, text=called.text, config=config).out
    return watched(f, done, tools, config, called.text)


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
