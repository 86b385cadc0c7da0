"""What of a conversation a model is sent: the newest images, and the ends of long results. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dataflow import Image, Message
from dataflow.authoring import shortened
from dataflow_agent.models.configs import ModelConfig

__all__ = ["sent_of", "with_newest_images"]


def sent_of(messages: Sequence[Message], config: ModelConfig) -> tuple[Message, ...]:
    """Return messages as they are sent; what is left out is told, and stays in the conversation."""
    short = [_with_short_result(message, config.max_result) for message in messages]
    return tuple(with_newest_images(short, config.max_images))


def _with_short_result(message: Message, most: int | None) -> Message:
    """Leave out the middle of a long result; of one in several texts, those for which there is no room."""
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
    """Put a text in the place of each image but the newest."""
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
            told = f"[image, {part.media_type}: only the newest {most} are sent]" if is_old else part
            content.append(told)
        yield replace(message, content=tuple(content))


def _parts(message: Message) -> Sequence[Any]:
    return [message.content] if isinstance(message.content, str) else message.content


def _length(parts: Sequence[Any]) -> int:
    return sum(len(part) for part in parts if isinstance(part, str))


def _images(message: Message) -> int:
    return sum(isinstance(part, Image) for part in _parts(message))
