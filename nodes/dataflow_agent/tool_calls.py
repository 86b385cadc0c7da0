"""Calls of tools: by a model, by `agent.call_tool`, and by nodes of other packs."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import anyio
from pydantic import Field
from pydantic_core import PydanticSerializationError, to_json

from dataflow import (
    DataflowError,
    FlowInvalid,
    Image,
    Message,
    NodeOutput,
    Ports,
    SecretMissing,
    ToolCall,
    Tools,
    node,
)
from dataflow_agent.config import AgentConfig
from dataflow_agent.diagnostics.servers import ARGUMENTS_UNFIT
from dataflow_agent.diagnostics.tools import CALL_NOT_ALLOWED, NOT_A_TOOLBOX, TOOL_UNKNOWN
from dataflow_agent.models.calls import answer_metadata
from dataflow_agent.models.config import StrictConfig, sent_of, with_newest_images
from dataflow_agent.models.providers.selection import provider_of
from dataflow_agent.models.request import ModelName, ModelRequest, Options, model_name
from dataflow_agent.models.spans import brief
from dataflow_agent.servers.results import Content, ServerDied, ServerFailed, ToolFailed, joined, shown
from dataflow_agent.servers.sessions import called, listed
from dataflow_agent.toolkit.functions import ArgumentsInvalid, arguments_in, tool_of
from dataflow_agent.toolkit.policies import Verdict
from dataflow_agent.toolkit.toolboxes import Tool, Toolbox
from dataflow_agent.turns import ToolResult, Turn, tool_span

__all__ = [
    "CallTool",
    "CallUnfit",
    "ToolOutput",
    "call_server_tool",
    "call_tool",
    "describe",
    "read_call",
    "result_of",
]

PORTS: Final = Ports({"arguments": dict[str, Any], "tools": Tools}, {"text": str, "images": list[Image]})
INSTRUCTIONS: Final = (
    "Describe the images for somebody who cannot see them and has to go on with what they show: "
    "whole, exact, with all text that is in them."
)
NO_TIME: Final = "[images, for which no time was left]"


class CallUnfit(Exception):
    """Raised for a call that cannot be made; the message is for the model."""


class ReadCall(NamedTuple):
    """The tool of a call, and its arguments: as the model wrote them, and as the tool takes them."""

    tool: Tool
    written: Mapping[str, Any]
    arguments: Mapping[str, Any]


async def read_call(call: ToolCall, toolbox: Toolbox, allowed: list[str] | None) -> ReadCall:
    """Find the tool of a call and read its arguments; raises CallUnfit.

    `allowed` are the names of the tools that may be called; None allows all. Raises ServerFailed, and
    SecretMissing, for a server that is not available, before any call was sent.
    """
    tools = await listed(toolbox)
    found = tools.tool(call.name)
    if found is None or (allowed is not None and call.name not in allowed):
        known = [name for name in tools.names if allowed is None or name in allowed]
        raise CallUnfit(f"error: {TOOL_UNKNOWN(name=call.name, available=known).text}")
    try:
        written = arguments_in(call.arguments)
        return ReadCall(found, written, found.read(written))
    except ArgumentsInvalid as error:
        raise CallUnfit(f"error: {error}; {call.name} was not called") from None


async def result_of(call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> Content:
    """Call a tool and return the result for the model: texts and images, JSON, or a message on a failure.

    Raises ServerFailed, and SecretMissing, for a server that is not available: the call was not sent.
    """
    try:
        with tool_span(call, tool.spec(call.name).description) as span:
            content = await content_of_call(tool, arguments)
            if span.tells_content:
                span.note({"gen_ai.tool.call.result": brief(shown(content))})
    except (ServerDied, ToolFailed) as error:
        return f"error: {_plain(error)}"
    except (ServerFailed, SecretMissing) as error:
        if tool.at_server is not None:
            raise
        return f"error: {_plain(error)}"
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and the model gets the message
        return f"error: {type(error).__name__}: {_plain(error)}".removesuffix(": ")
    return content


def _plain(error: Exception) -> str:
    """Return the message of an exception for a model, without the codes of problems."""
    found = error.diagnostics if isinstance(error, DataflowError) else ()
    return "; ".join(one.text for one in found) or str(error)


async def content_of_call(tool: Tool, arguments: Mapping[str, Any]) -> Content:
    """Call a tool and return its result as content; raises what the tool raises."""
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
            value.close()  # else Python warns of it later, at an unrelated place
            return "error: the tool gave a coroutine; its function has an `await` too few"
        return f"error: the tool gave a value of type {type(value).__name__}, which JSON cannot carry"


class CallTool(StrictConfig):
    """Config of `agent.call_tool`."""

    tool: str = Field(min_length=1, description="the name of the tool")


@node(ports=PORTS, effect=True)
async def call_tool(inputs: Mapping[str, Any], config: CallTool) -> NodeOutput:
    """Call a tool by its name and return the result: its texts, joined, and its images.

    The metadata of the firing record the tool and the arguments. Raises what `call_server_tool` raises.
    """
    arguments = inputs["arguments"]
    output = await call_server_tool(inputs["tools"], config.tool, arguments)
    return NodeOutput(output._asdict(), metadata={"tool": config.tool, "arguments": arguments})


class ToolOutput(NamedTuple):
    """The result of a tool: its texts, joined by line breaks, and its images."""

    text: str
    images: list[Image]


async def call_server_tool(tools: Tools, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
    """Call a tool of a server that `mcp` describes once, and return its texts and images.

    `tool` is the name that the tool has in the toolbox. Within a run, and within a block of `sessions`, the
    call uses the session that all nodes share; elsewhere the server is started for this call. A function of
    the toolbox can be called as well. Declare a node that makes such a call with `effect=True`.

    Raises FlowInvalid for a name that no tool has and for tools that are not a toolbox; ToolFailed for a
    result that is an error, for a call without an answer in time, for arguments that do not fit the schema of
    the tool, and for a call that its policy does not allow or allows only after an approval; ServerFailed for
    a server that does not start or has ended; SecretMissing for a variable or a header without a value; and
    what a function raises.
    """
    found = await _found(tools, tool)
    place = found.at_server.server.label if found.at_server is not None else "functions"
    if found.verdict(arguments) is not Verdict.ALLOW:
        raise ToolFailed(place, found.own_name, CALL_NOT_ALLOWED())
    try:
        read = found.read(arguments)
    except ArgumentsInvalid as error:
        raise ToolFailed(place, found.own_name, ARGUMENTS_UNFIT(error=error)) from None
    content = await content_of_call(found, read)
    parts = [content] if isinstance(content, str) else [*content]
    texts = [part for part in parts if isinstance(part, str)]
    return ToolOutput("\n".join(texts), [part for part in parts if isinstance(part, Image)])


async def _found(tools: Tools, name: str) -> Tool:
    if not isinstance(tools, Toolbox):
        raise FlowInvalid("tools", [NOT_A_TOOLBOX(found=type(tools).__name__)], "input")
    toolbox = await listed(tools)
    found = toolbox.tool(name)
    if found is None or found.subagent is not None:
        known = [one for one in toolbox.names if (tool := toolbox.tool(one)) and not tool.subagent]
        raise FlowInvalid("tools", [TOOL_UNKNOWN(name=name, available=known)], "input")
    return found


@node(name="describe", ports=Ports({"result": ToolResult, "turn": Turn}, {"result": ToolResult}))
async def describe(inputs: Mapping[str, Any], config: AgentConfig) -> NodeOutput:
    """Replace the images of a result by a description; calls no model if there are none.

    A model of the same provider as the agent's is called at the same server with the same key. It is sent as
    much of the result as the agent's model is; the text names the images that are not described. The metadata
    describe the answer. Raises ModelFailed.
    """
    result: ToolResult = inputs["result"]
    turn: Turn = inputs["turn"]
    if not _images(result.message):
        return NodeOutput({"result": result})
    [kept] = with_newest_images([result.message], config.max_images)
    [sent] = sent_of([result.message], config)
    if not _images(sent):
        return NodeOutput({"result": _described(result, _texts(kept))})
    name = model_name(config.vision_summary)
    request = ModelRequest(
        str(name),
        (Message("system", INSTRUCTIONS), Message("user", (*_texts(sent), *_images(sent)))),
        options=_options(name, turn, config),
    )
    begun, text, metadata = anyio.current_time(), NO_TIME, {}
    with anyio.move_on_after(turn.left(config) - result.seconds):
        answer = await (await provider_of(name)).answer(request, lambda _: None)
        text, metadata = f"[images: {answer.text}]", answer_metadata(answer, request)
    seconds = anyio.current_time() - begun
    return NodeOutput({"result": _described(result, [*_texts(kept), text], seconds)}, metadata=metadata)


def _described(result: ToolResult, texts: list[str], seconds: float = 0) -> ToolResult:
    """Return a result with texts only, and with more seconds of work."""
    message = replace(result.message, content="\n".join(texts))
    return replace(result, message=message, seconds=result.seconds + seconds)


def _options(name: ModelName, turn: Turn, config: AgentConfig) -> Options:
    """Return the options of the describing model; a key is passed to its own provider only."""
    if name.provider != model_name(turn.model).provider:
        return Options()
    return Options(base_url=config.base_url, key=config.key)


def _images(message: Message) -> list[Image]:
    return [part for part in message.content if isinstance(part, Image)]


def _texts(message: Message) -> list[str]:
    parts = [message.content] if isinstance(message.content, str) else message.content
    return [part for part in parts if isinstance(part, str) and part]
