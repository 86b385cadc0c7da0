"""The node types of HiFide that no pack has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from time import time
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from dataflow.config import Config
from dataflow.context import ExecutionContext
from dataflow.current import this_firing
from dataflow.declare import node
from dataflow.errors import DataflowError
from dataflow.formats.hifide.caching import Entry, is_fresh
from dataflow.messages import Message
from dataflow.node_output import NodeOutput
from dataflow.ports import Port, Ports

__all__ = ["NoMessage", "cache", "inject_messages", "manual_input", "message", "new_context", "said"]

#: The port of conversations; each raw node has one called `context` besides, which need not have a value.
CONVERSATION: Final = "conversation"


class NoMessage(DataflowError):
    """Raised by a node that has nothing to say."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        super().__init__(f"no message: {wanted} is blank")


class _Wired(Config):
    model_config = ConfigDict(strict=True)

    wired: list[Literal["conversation", "data", "message", "system", "user", "assistant"]] = Field(
        default=[], description="the inputs that edges lead to: the node waits for all of them"
    )

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs, each of which has to have a value."""
        return {name: ExecutionContext if name == CONVERSATION else Any for name in self.wired}


class Told(_Wired):
    """Config of `hifide.message`."""


class NewContext(_Wired):
    """Config of `hifide.new_context`."""

    model: str = Field(default="", description="the model, as provider/model")
    system: str = Field(default="", description="the system text, where the input has none")


class Inject(_Wired):
    """Config of `hifide.inject_messages`."""

    id: str = Field(min_length=1, description="the name of the pair")
    user: str = Field(default="", description="the user's message, where the input has none")
    assistant: str = Field(default="", description="the answer, where the input has none")


class Manual(_Wired):
    """Config of `hifide.manual_input`."""

    message: str = Field(default="", description="the message; without one what comes in")


class Cache(_Wired):
    """Config of `hifide.cache`."""

    name: str = Field(description="the node whose value is kept")
    ttl: float = Field(default=300, ge=0, description="for how many seconds; 0 keeps nothing")
    invalidate: float | None = Field(
        default=None, description="what was kept before this time does not count"
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _context(inputs: Mapping[str, Any]) -> ExecutionContext:
    given: ExecutionContext | None = inputs.get(CONVERSATION)
    return given or ExecutionContext(this_firing().key or "main")


def _message_ports(config: Told) -> Ports:
    context = {CONVERSATION: ExecutionContext} if CONVERSATION in config.wired else {}
    return Ports(config.inputs, {"prompt": str, **context})


@node(ports=_message_ports)
async def message(inputs: Mapping[str, Any], config: Told) -> NodeOutput:
    """Find what a model is told: `message`, else `data`, else the current output of the conversation.

    What is no text is written as JSON. Raises NoMessage where all of that is blank.
    """
    context: ExecutionContext | None = inputs.get(CONVERSATION)
    given = (inputs.get("message"), inputs.get("data"), context.current_output if context else None)
    found = next((text for one in given if one is not None and (text := _text(one)).strip()), None)
    if found is None:
        raise NoMessage(" and ".join(config.wired))
    return NodeOutput({"prompt": found, **({CONVERSATION: context} if context else {})})


@node
async def said(context: ExecutionContext, text: str) -> ExecutionContext:
    """Make what somebody has said the current output of a conversation."""
    return replace(context, current_output=text)


def _both(config: _Wired) -> Ports:
    return Ports(config.inputs, {CONVERSATION: ExecutionContext, "data": Port(Any, conditional=True)})


@node(ports=_both)
async def new_context(inputs: Mapping[str, Any], config: NewContext) -> NodeOutput:
    """Begin a conversation that has nothing in common with any other; `data` is passed on."""
    given = inputs.get("system")
    context = ExecutionContext(
        this_firing().key or "isolated",
        model=config.model,
        system_instructions=(given if isinstance(given, str) else config.system) or None,
    )
    return NodeOutput({CONVERSATION: context, **({"data": inputs["data"]} if "data" in inputs else {})})


@node(ports=lambda config: Ports(config.inputs, {CONVERSATION: ExecutionContext}))
async def inject_messages(inputs: Mapping[str, Any], config: Inject) -> NodeOutput:
    """Put a pair of messages into a conversation to stay; doing it again replaces the pair."""
    context = _context(inputs)
    texts = {"user": inputs.get("user", config.user), "assistant": inputs.get("assistant", config.assistant)}
    roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
    pair = [Message(role, _text(texts[role]), pin=f"{config.id}-{role}") for role in roles if texts[role]]
    return NodeOutput({CONVERSATION: context.append(*pair) if pair else context})


@node(ports=lambda config: Ports(config.inputs, {CONVERSATION: ExecutionContext, "data": str}))
async def manual_input(inputs: Mapping[str, Any], config: Manual) -> NodeOutput:
    """Give the message of the file, or what comes in, without blanks around it; raises NoMessage."""
    found = config.message.strip() or _text(inputs.get("data", "")).strip()
    if not found:
        raise NoMessage("message")
    return NodeOutput({CONVERSATION: _context(inputs), "data": found})


@node(ports=_both)
async def cache(inputs: Mapping[str, Any], config: Cache) -> NodeOutput:
    """Give the value that was kept while it is fresh, else what comes in, and keep that.

    What is kept travels on the conversation. The metadata tell whether the value was kept.
    """
    context, key, now = _context(inputs), f"hifide.cache/{config.name}", time()
    kept: Entry | None = context.variables.get(key)
    if kept is not None and is_fresh(kept, config.ttl, config.invalidate, now):
        return NodeOutput({CONVERSATION: context, "data": kept["value"]}, metadata={"cached": True})
    if "data" not in inputs:
        return NodeOutput({CONVERSATION: context})
    if config.ttl:
        entry: Entry = {"value": inputs["data"], "at": now}
        context = replace(context, variables={**context.variables, key: entry})
    return NodeOutput({CONVERSATION: context, "data": inputs["data"]}, metadata={"cached": False})
