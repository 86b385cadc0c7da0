"""One call of a tool: whatever comes of it, the model gets a result."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from dataflow import ToolCall
from dataflow_agent.python_tools import ArgumentsInvalid, tool_of
from dataflow_agent.toolboxes import Toolbox

__all__ = ["result_of"]


async def result_of(call: ToolCall, tools: Toolbox, allowed: list[str] | None) -> str:
    """Call a tool and return what the model is told: the value as text or JSON, or what went wrong."""
    found = tools.tool(call.name)
    known = [name for name in tools.names if allowed is None or name in allowed]
    if found is None or call.name not in known:
        return f"error: there is no tool {call.name!r}; those that there are: {', '.join(known) or 'none'}"
    tool = tool_of(found.reference)
    try:
        arguments = tool.read(call.arguments)
    except ArgumentsInvalid as error:
        return f"error: {error}; {call.name} was not called"
    try:
        value = await tool.node(**arguments)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and the model is to know
        return f"error: {type(error).__name__}: {error}".removesuffix(": ")
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return to_json(value).decode()
    except PydanticSerializationError:
        return f"error: the tool gave a value of type {type(value).__name__}, which JSON cannot carry"
