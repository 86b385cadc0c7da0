"""One call of a tool: whatever comes of it, the model gets a result."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from dataflow import Image, SecretMissing, ToolCall
from dataflow.authoring import choices
from dataflow_agent.agent_spans import tool_span
from dataflow_agent.mcp.server_errors import ServerDied, ServerFailed, ToolFailed
from dataflow_agent.mcp.server_results import Content, joined, shown
from dataflow_agent.mcp.server_sessions import called, listed
from dataflow_agent.tools.functions import ArgumentsInvalid, arguments_in, tool_of
from dataflow_agent.tools.toolboxes import Tool, Toolbox

__all__ = ["CallUnfit", "ReadCall", "content_of_call", "read_call", "result_of"]


class CallUnfit(Exception):
    """Raised for a call that cannot be made; the text is for the model."""


class ReadCall(NamedTuple):
    """The tool that a call is of, and its arguments: as a model wrote them, and as the tool takes them."""

    tool: Tool
    written: Mapping[str, Any]
    arguments: Mapping[str, Any]


async def read_call(call: ToolCall, toolbox: Toolbox, allowed: list[str] | None) -> ReadCall:
    """Find the tool that a call is of, and read its arguments; raises CallUnfit.

    `allowed` are the names of the tools that may be called, None stands for all. Raises ServerFailed, and
    SecretMissing, for a server that is not there: what it has is not known, and nothing was called.
    """
    tools = await listed(toolbox)
    found = tools.tool(call.name)
    if found is None or (allowed is not None and call.name not in allowed):
        known = [name for name in tools.names if allowed is None or name in allowed]
        raise CallUnfit(f"error: there is no tool {call.name!r}; {choices(known)}")
    try:
        written = arguments_in(call.arguments)
        return ReadCall(found, written, found.read(written))
    except ArgumentsInvalid as error:
        raise CallUnfit(f"error: {error}; {call.name} was not called") from None


async def result_of(call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> Content:
    """Call a tool and return what the model is told: texts and images, else JSON, or what went wrong.

    Raises ServerFailed, and SecretMissing, for a server that is not there: the call was not sent.
    """
    try:
        with tool_span(call, tool.spec(call.name).description) as span:
            content = await content_of_call(tool, arguments)
            if span.tells_content:
                span.note({"gen_ai.tool.call.result": shown(content)})
    except (ServerDied, ToolFailed) as error:
        return f"error: {error}"
    except (ServerFailed, SecretMissing) as error:
        if tool.at_server is not None:
            raise
        return f"error: {error}"
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and the model is to know
        return f"error: {type(error).__name__}: {error}".removesuffix(": ")
    return content


async def content_of_call(tool: Tool, arguments: Mapping[str, Any]) -> Content:
    """Call a tool and return what it says; raises what it raises."""
    if tool.at_server is not None:
        return await called(tool.at_server, arguments)
    value = await tool_of(tool.reference).node(**arguments)
    if isinstance(value, Image):
        return (value,)
    if isinstance(value, list | tuple) and any(isinstance(part, Image) for part in value):
        return joined([part if isinstance(part, Image) else _text(part) for part in value])
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return to_json(value).decode()
    except PydanticSerializationError:
        if isinstance(value, Coroutine):
            value.close()  # its warning would come later, from anywhere
            return "error: the tool gave a coroutine; its function has an `await` too few"
        return f"error: the tool gave a value of type {type(value).__name__}, which JSON cannot carry"
