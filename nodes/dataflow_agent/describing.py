"""Images that tools return, described by a model for one that is not shown them (S10.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import anyio

from dataflow import Image, Message, NodeOutput, Ports, node
from dataflow_agent.agent_turns import ToolResult, Turn
from dataflow_agent.config import AgentConfig
from dataflow_agent.models.model_calls import told_of
from dataflow_agent.models.model_names import ModelName, model_name
from dataflow_agent.models.providers.selection import provider_of
from dataflow_agent.models.request_bounds import sent_of, with_newest_images
from dataflow_agent.models.requests import ModelRequest, Options

__all__ = ["describe"]

INSTRUCTIONS: Final = (
    "Describe the images for somebody who cannot see them and has to go on with what they show: "
    "whole, exact, with all text that is in them."
)
NO_TIME: Final = "[images, for which no time was left]"


@node(name="describe", ports=Ports({"result": ToolResult, "turn": Turn}, {"result": ToolResult}))
async def describe(inputs: Mapping[str, Any], config: AgentConfig) -> NodeOutput:
    """Put a description in the place of the images of a result; without any nothing is called.

    The model is asked at the server and with the key of the agent's own, if it is of the same provider. It is
    sent as much of the result as that is: what is not described of the images is told. The metadata tell of
    the answer. Raises ModelFailed.
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
    begun, text, told = anyio.current_time(), NO_TIME, {}
    with anyio.move_on_after(turn.left(config) - result.seconds):
        answer = await (await provider_of(name)).answer(request, lambda _: None)
        text, told = f"[images: {answer.text}]", told_of(answer, request)
    seconds = anyio.current_time() - begun
    return NodeOutput({"result": _described(result, [*_texts(kept), text], seconds)}, metadata=told)


def _described(result: ToolResult, texts: list[str], seconds: float = 0) -> ToolResult:
    """Return a result that has texts alone, after some more seconds."""
    message = replace(result.message, content="\n".join(texts))
    return replace(result, message=message, seconds=result.seconds + seconds)


def _options(name: ModelName, turn: Turn, config: AgentConfig) -> Options:
    """Return the options of the describing model; no key is shown to a provider that it is not of."""
    if name.provider != model_name(turn.model).provider:
        return Options()
    return Options(base_url=config.base_url, key=config.key)


def _images(message: Message) -> list[Image]:
    return [part for part in message.content if isinstance(part, Image)]


def _texts(message: Message) -> list[str]:
    parts = [message.content] if isinstance(message.content, str) else message.content
    return [part for part in parts if isinstance(part, str) and part]
