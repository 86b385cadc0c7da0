"""The node types of a cache: one finds what was kept, another keeps what comes where that is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import time
from typing import Any, Final

from pydantic import Field

from dataflow import ExecutionContext, Node, NodeOutput, Port, Ports, node
from dataflow_formats.hifide.caching import Entry, is_fresh
from dataflow_formats.hifide.kinds import MISSING
from dataflow_formats.hifide.nodes import CONVERSATION, Inputs, context_of

__all__ = ["Cache", "Keep", "cache", "cache_by", "keep", "keep_by"]

#: The exit of a cache that has a value.
KEPT: Final = "kept"

#: Tells the time of the day, in seconds.
Clock = Callable[[], float]


class Cache(Inputs):
    """Config of `hifide.cache`."""

    name: str = Field(description="the node whose value is kept")
    ttl: float = Field(default=300, ge=0, description="for how many seconds; 0 keeps nothing")
    invalidate: float | None = Field(
        default=None, description="what was kept before this time does not count"
    )


class Keep(Inputs):
    """Config of `hifide.keep`."""

    name: str = Field(description="the node whose value is kept")
    is_kept: bool = Field(default=True, description="whether it is kept at all")


def _place(name: str) -> str:
    """Return the variable of the conversation that has what was kept for a node."""
    return f"hifide.cache/{name}"


def _found(config: Cache) -> Ports:
    kept = {CONVERSATION: Port(ExecutionContext, exit=KEPT), "data": Port(Any, exit=KEPT)}
    return Ports(config.inputs, {**kept, MISSING: Port(ExecutionContext, exit=MISSING)})


def cache_by(clock: Clock) -> Node[..., Any]:
    """Make `hifide.cache`, which looks at a clock."""

    @node(name="cache", ports=_found)
    async def cache(inputs: Mapping[str, Any], config: Cache) -> NodeOutput:
        """Give the value that was kept while it is fresh, else go on where it is made anew.

        What is kept travels on the conversation. The metadata tell whether there is a value.
        """
        context = context_of(inputs)
        entry: Entry | None = context.variables.get(_place(config.name))
        if entry is None or not is_fresh(entry, config.ttl, config.invalidate, clock()):
            return NodeOutput({MISSING: context}, metadata={"cached": False})
        return NodeOutput({CONVERSATION: context, "data": entry["value"]}, metadata={"cached": True})

    return cache


def _kept(config: Keep) -> Ports:
    data = {"data": Port(Any, lazy=True)} if "data" in config.wired else {}
    given = {"data": Any} if data else {}
    return Ports({MISSING: ExecutionContext, **data}, {CONVERSATION: ExecutionContext, **given})


def keep_by(clock: Clock) -> Node[..., Any]:
    """Make `hifide.keep`, which looks at a clock."""

    @node(name="keep", ports=_kept)
    async def keep(inputs: Mapping[str, Any], config: Keep) -> NodeOutput:
        """Keep what comes in on the conversation, and pass it on; it is asked for where nothing was kept."""
        context: ExecutionContext = inputs[MISSING]
        if "data" not in inputs:
            return NodeOutput({CONVERSATION: context})
        if config.is_kept:
            entry: Entry = {"value": inputs["data"], "at": clock()}
            context = replace(context, variables={**context.variables, _place(config.name): entry})
        return NodeOutput({CONVERSATION: context, "data": inputs["data"]})

    return keep


cache: Final = cache_by(time)
keep: Final = keep_by(time)
