"""The node types of HiFide flows: messages, conversations, and caches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import time
from typing import Any, Final, Literal, TypedDict

from pydantic import ConfigDict, Field

from dataflow import (
    Config,
    DataflowError,
    ExecutionContext,
    Message,
    Node,
    NodeOutput,
    Port,
    Ports,
    node,
    this_firing,
)
from dataflow_formats.hifide.diagnostics import MESSAGE_BLANK
from dataflow_formats.hifide.file import MISSING

__all__ = [
    "CONVERSATION",
    "Cache",
    "Keep",
    "NoMessage",
    "Told",
    "cache",
    "cache_by",
    "inject_messages",
    "is_fresh",
    "keep",
    "keep_by",
    "latest",
    "manual_input",
    "message",
    "new_context",
    "said",
]

#: The port of conversations, since every raw node has an optional port `context`.
CONVERSATION: Final = "conversation"
#: The exit of a cache with a value.
KEPT: Final = "kept"
#: Returns the time in seconds since the epoch.
Clock = Callable[[], float]


class NoMessage(DataflowError):
    """Raised for a blank message; `chat` is the node that was to get it."""

    def __init__(self, wanted: str, chat: str = "", advice: str = "") -> None:
        self.wanted = wanted
        self.chat = chat
        self.advice = advice
        place = f"node {chat!r}" if chat else ""
        super().__init__(MESSAGE_BLANK(place, wanted=wanted, advice=advice))


class Inputs(Config):
    """Config of a node type that waits for all of its connected inputs."""

    model_config = ConfigDict(strict=True)

    wired: list[Literal["conversation", "data", "message", "system", "user", "assistant"]] = Field(
        default=[], description="the inputs that edges lead to: the node waits for all of them"
    )

    @property
    def inputs(self) -> dict[str, Any]:
        """The connected inputs, all of which need a value."""
        return {name: ExecutionContext if name == CONVERSATION else Any for name in self.wired}


class Told(Inputs):
    """Config of `hifide.message`."""

    chat: str = Field(default="", description="the node that is told the message, for errors")


def _message_ports(config: Told) -> Ports:
    context = {CONVERSATION: ExecutionContext} if CONVERSATION in config.wired else {}
    return Ports(config.inputs, {"prompt": str, **context})


@node(ports=_message_ports)
async def message(inputs: Mapping[str, Any], config: Told) -> NodeOutput:
    """Return the prompt of a model: `message`, else `data`, else the current output of the conversation.

    A value that is not a string is written as JSON. Raises NoMessage if all of them are blank.
    """
    context: ExecutionContext | None = inputs.get(CONVERSATION)
    given = (inputs.get("message"), inputs.get("data"), context.current_output if context else None)
    found = next((text for one in given if one is not None and (text := _text(one)).strip()), None)
    if found is None:
        is_wired = not {"data", "message"}.isdisjoint(config.wired)
        advice = "" if is_wired else "connect data or message to it"
        raise NoMessage(" and ".join(config.wired), config.chat, advice)
    return NodeOutput({"prompt": found, **({CONVERSATION: context} if context else {})})


@node
async def said(context: ExecutionContext, text: str) -> ExecutionContext:
    """Make the message of the user the current output of a conversation."""
    return replace(context, current_output=text)


@node
async def latest(context: ExecutionContext) -> ExecutionContext:
    """Pass on the last state of a conversation that several nodes share."""
    return context


class NewContext(Inputs):
    """Config of `hifide.new_context`."""

    model: str = Field(default="", description="the model, as provider/model")
    system: str = Field(default="", description="the system text, where the input has none")


def _both(config: Inputs) -> Ports:
    return Ports(config.inputs, {CONVERSATION: ExecutionContext, "data": Port(Any, conditional=True)})


@node(ports=_both)
async def new_context(inputs: Mapping[str, Any], config: NewContext) -> NodeOutput:
    """Begin an isolated conversation; `data` is passed on."""
    given = inputs.get("system")
    context = ExecutionContext(
        this_firing().key or "isolated",
        model=config.model,
        system_instructions=(given if isinstance(given, str) else config.system) or None,
    )
    return NodeOutput({CONVERSATION: context, **({"data": inputs["data"]} if "data" in inputs else {})})


class Inject(Inputs):
    """Config of `hifide.inject_messages`."""

    id: str = Field(min_length=1, description="the name of the pair")
    user: str = Field(default="", description="the user's message, where the input has none")
    assistant: str = Field(default="", description="the answer, where the input has none")


@node(ports=lambda config: Ports(config.inputs, {CONVERSATION: ExecutionContext}))
async def inject_messages(inputs: Mapping[str, Any], config: Inject) -> NodeOutput:
    """Pin a pair of messages in a conversation; pinning it again replaces the pair."""
    context = context_of(inputs)
    texts = {"user": inputs.get("user", config.user), "assistant": inputs.get("assistant", config.assistant)}
    roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
    pair = [Message(role, _text(texts[role]), pin=f"{config.id}-{role}") for role in roles if texts[role]]
    return NodeOutput({CONVERSATION: context.append(*pair) if pair else context})


class Manual(Inputs):
    """Config of `hifide.manual_input`."""

    message: str = Field(default="", description="the message; without one what comes in")


@node(ports=lambda config: Ports(config.inputs, {CONVERSATION: ExecutionContext, "data": str}))
async def manual_input(inputs: Mapping[str, Any], config: Manual) -> NodeOutput:
    """Return the message of the file, else the input, without blanks around it; raise NoMessage."""
    found = config.message.strip() or _text(inputs.get("data", "")).strip()
    if not found:
        raise NoMessage("message")
    return NodeOutput({CONVERSATION: context_of(inputs), "data": found})


def context_of(inputs: Mapping[str, Any]) -> ExecutionContext:
    """Return the conversation of the inputs, else a new one."""
    given: ExecutionContext | None = inputs.get(CONVERSATION)
    return given or ExecutionContext(this_firing().key or "main")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Cache(Inputs):
    """Config of `hifide.cache`."""

    name: str = Field(description="the node whose value is kept")
    ttl: float = Field(default=300, ge=0, description="for how many seconds; 0 keeps nothing")
    invalidate: float | None = Field(
        default=None, description="what was kept before this time does not count"
    )


def _found(config: Cache) -> Ports:
    kept = {CONVERSATION: Port(ExecutionContext, exit=KEPT), "data": Port(Any, exit=KEPT)}
    return Ports(config.inputs, {**kept, MISSING: Port(ExecutionContext, exit=MISSING)})


def cache_by(clock: Clock) -> Node[..., Any]:
    """Return `hifide.cache` with a clock."""

    @node(name="cache", ports=_found)
    async def cache(inputs: Mapping[str, Any], config: Cache) -> NodeOutput:
        """Return the cached value while it is fresh, else continue where it is computed.

        Cached values are variables of the conversation. The metadata have whether it was a hit.
        """
        context = context_of(inputs)
        entry: Entry | None = context.variables.get(_place(config.name))
        if entry is None or not is_fresh(entry, config.ttl, config.invalidate, clock()):
            return NodeOutput({MISSING: context}, metadata={"cached": False})
        return NodeOutput({CONVERSATION: context, "data": entry["value"]}, metadata={"cached": True})

    return cache


class Keep(Inputs):
    """Config of `hifide.keep`."""

    name: str = Field(description="the node whose value is kept")
    is_kept: bool = Field(default=True, description="whether it is kept at all")


def _kept(config: Keep) -> Ports:
    data = {"data": Port(Any, lazy=True)} if "data" in config.wired else {}
    given = {"data": Any} if data else {}
    return Ports({MISSING: ExecutionContext, **data}, {CONVERSATION: ExecutionContext, **given})


def keep_by(clock: Clock) -> Node[..., Any]:
    """Return `hifide.keep` with a clock."""

    @node(name="keep", ports=_kept)
    async def keep(inputs: Mapping[str, Any], config: Keep) -> NodeOutput:
        """Cache the data in the conversation, and pass it on; it is pulled only on a miss."""
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


class Entry(TypedDict):
    """A cached value, and its time in seconds since the epoch."""

    value: Any
    at: float


def is_fresh(entry: Entry, ttl: float, invalidate: float | None, now: float) -> bool:
    """Return whether an entry is younger than `ttl` and not older than `invalidate`."""
    return now - entry["at"] < ttl and not (invalidate is not None and invalidate > entry["at"])


def _place(name: str) -> str:
    """Return the variable of the conversation with the cached value of a node."""
    return f"hifide.cache/{name}"
