"""Config fields shared by node types that call models, and the limits of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field

from dataflow import ArgumentInvalid, Config, Image, Message, Secret
from dataflow.authoring import shortened
from dataflow_agent.diagnostics.models import KEY_IN_CLEAR
from dataflow_agent.models.request import Effort, Options, model_name
from dataflow_agent.toolkit.policies import policy_of

__all__ = ["ModelConfig", "Patterns", "StrictConfig", "check_model", "sent_of", "with_newest_images"]


def check_model(text: str) -> str:
    """Validate the name of a model, or an empty string; raises ValueError."""
    if text:
        model_name(text)
    return text


def _check_key(key: Secret) -> Secret:
    if not key.name.isidentifier():
        raise ArgumentInvalid(KEY_IN_CLEAR())
    return key


def _check_patterns(given: list[str]) -> list[str]:
    policy_of(None, (), given)
    return given


#: Patterns of calls, as in a `Policy`.
Patterns: TypeAlias = Annotated[list[str], AfterValidator(_check_patterns)]


class StrictConfig(Config):
    """A config without conversions: no string becomes a number, nor the reverse."""

    model_config = ConfigDict(strict=True)


class ModelConfig(StrictConfig):
    """The settings of a call of a model: the model, its instructions, options and limits."""

    model_config = ConfigDict(hide_input_in_errors=True)  # the input may be a key

    model: Annotated[str, AfterValidator(check_model)] = Field(
        default="", description="the model, written provider/model; without one that of the context"
    )
    system: str = Field(default="", description="instructions, told behind those of the context")
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False, description="how free it is")
    max_tokens: int | None = Field(default=None, ge=1, description="the longest answer, in tokens")
    reasoning_effort: Effort | None = Field(default=None, description="how much it thinks beforehand")
    web_search: bool = Field(default=False, description="whether the provider may search the web")
    stream: bool = Field(default=True, description="whether the answer comes in pieces")
    base_url: str = Field(default="", description="the address of a server in place of the provider's own")
    key: Annotated[Secret, AfterValidator(_check_key)] | None = Field(
        default=None, description="the secret in place of the provider's own variable"
    )
    accept_cut: bool = Field(
        default=False,
        exclude_if=lambda given: not given,  # so that flows from before it was added are the same
        description="whether the text of an answer that a limit or a filter has cut counts as the answer",
    )
    max_images: int | None = Field(
        default=2, ge=0, description="the most images of the conversation that are sent, the newest"
    )
    max_result: int | None = Field(
        default=50_000,
        ge=100,
        description="the most characters that are sent of a result of a tool, of a longer one its ends",
    )

    @property
    def options(self) -> Options:
        """The options of requests."""
        return Options(
            self.temperature, self.max_tokens, self.reasoning_effort, self.web_search, self.stream,
            self.base_url, self.key, self.accept_cut,
        )  # fmt: skip


def sent_of(messages: Sequence[Message], config: ModelConfig) -> tuple[Message, ...]:
    """Return messages as they are sent, with omissions marked; the conversation is unchanged."""
    short = [_with_short_result(message, config.max_result) for message in messages]
    return tuple(with_newest_images(short, config.max_images))


def _with_short_result(message: Message, most: int | None) -> Message:
    """Omit the middle of a long result, and the last of several texts that exceed the limit."""
    parts = _parts(message)
    if most is None or message.role != "tool" or _length(parts) <= most:
        return message
    if isinstance(message.content, str):
        return replace(message, content=shortened(message.content, most, in_clear=True))
    room, left_out = most, 0
    kept: list[Any] = []
    for part in parts:
        if not isinstance(part, str):
            kept.append(part)
        elif room > 0:
            kept.append(shortened(part, room, in_clear=True))
            room -= len(part)
        else:
            left_out += len(part)
    return replace(message, content=(*kept, f"... {left_out:,} characters ...") if left_out else tuple(kept))


def with_newest_images(messages: Sequence[Message], most: int | None) -> Iterator[Message]:
    """Replace all images but the newest by a text."""
    old = 0 if most is None else max(sum(map(_images, messages)) - most, 0)
    for message in messages:
        here = min(_images(message), old)
        if not here:
            yield message
            continue
        old -= here
        content: list[Any] = []
        for part in _parts(message):
            is_old = isinstance(part, Image) and here > 0
            here -= is_old
            content.append(f"[image, {part.media_type}: only the newest {most} are sent]" if is_old else part)
        yield replace(message, content=tuple(content))


def _parts(message: Message) -> Sequence[Any]:
    return [message.content] if isinstance(message.content, str) else message.content


def _length(parts: Sequence[Any]) -> int:
    return sum(len(part) for part in parts if isinstance(part, str))


def _images(message: Message) -> int:
    return sum(isinstance(part, Image) for part in _parts(message))
