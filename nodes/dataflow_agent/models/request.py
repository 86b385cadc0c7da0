"""Requests to models and their answers, common to all providers, and model names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from dataflow import ArgumentInvalid, ExecutionContext, Message, ProviderParts, Secret, ToolCall
from dataflow_agent.diagnostics.models import MODEL_NAME_INVALID, MODEL_NOT_NAMED
from dataflow_agent.models.errors import ModelUnknown

__all__ = [
    "Effort",
    "Emit",
    "FinishReason",
    "ModelAnswer",
    "ModelName",
    "ModelRequest",
    "Options",
    "Provider",
    "ToolSpec",
    "Usage",
    "model_name",
    "model_of",
]

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high"]
FinishReason: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter"]
Emit: TypeAlias = Callable[[str], None]
"""Receives each piece of the text of an answer as it arrives."""
_NAME: Final = re.compile(r"([\w.-]+)[/:](\S+)")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a request; None or False leaves an option to the provider.

    `max_tokens` limits the answer; `reasoning_effort` is `none`, `minimal`, `low`, `medium` or `high`. With
    `stream` false the answer arrives in one piece. `base_url` is the address of a server in place of the
    provider's own, `key` a secret in place of the provider's own variable. With `accept_cut` the text of an
    answer that reached a limit or a filter counts as the answer, unless it has calls or a type.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    reasoning_effort: Effort | None = None
    web_search: bool = False
    stream: bool = True
    base_url: str = ""
    key: Secret | None = None
    accept_cut: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model, named `provider/model`: the whole conversation, the system text first.

    With a `schema` the answer is JSON by it; `is_wrapped` says that this is the schema of an object which has
    the value in its field `answer`. `session_id` identifies the conversation for providers that cache it.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: Mapping[str, Any] | None = None
    options: Options = field(default_factory=Options)
    session_id: str = ""
    is_wrapped: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a request and of its answer, and the cost in US dollars, None if unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A complete answer. `model` is the provider's name of the model that answered.

    `finish_reason` is `stop`, or `tool_calls` if the model asks for calls of tools; `length` and
    `content_filter` are those of an accepted cut answer. The answer of a script is never cached by the `memo`
    of a node. `provider_parts` are what the provider wants back with the message.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: FinishReason = "stop"
    model: str = ""
    is_scripted: bool = False
    provider_parts: ProviderParts | None = None

    @property
    def message(self) -> Message:
        """The answer as a message of a conversation."""
        return Message("assistant", self.text, self.tool_calls, provider_parts=self.provider_parts)


class Provider(Protocol):
    """A service that answers requests, or a script in its place."""

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        """Return a complete answer, or raise ModelFailed; passes each piece of its text to `emit` first."""
        ...


class ModelName(NamedTuple):
    """A provider, and its name of the model."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@lru_cache(maxsize=256)  # calls name the same few models
def model_name(text: str) -> ModelName:
    """Parse `provider/model` or `provider:model`, which are equivalent (S10.2); raises ValueError."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise ArgumentInvalid(MODEL_NAME_INVALID(found=repr(text)))
    return ModelName(found[1], found[2])


def model_of(own: str, context: ExecutionContext) -> ModelName:
    """Return the model that a node calls: its own, else that of the context; raises ModelUnknown."""
    named = own or context.model
    if not own and context.provider and named and "/" not in named:
        return ModelName(context.provider, named)
    if not named:
        raise ModelUnknown("", MODEL_NOT_NAMED())
    try:
        return model_name(named)
    except ArgumentInvalid as error:
        raise ModelUnknown(named, error.problem) from None
