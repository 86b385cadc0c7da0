"""The end of a conversation that was broken off: what of it is no whole turn. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dataflow import Message

__all__ = ["with_clean_tail"]


def with_clean_tail(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out the last messages until a whole turn is the end, or what is of no turn.

    A turn is whole if it ends with an answer to a user message that says something and asks for no calls.
    """
    count = len(messages)
    while count and not _is_whole(messages[:count]):
        count -= 1
    return messages[:count]


def _is_whole(messages: Sequence[Message]) -> bool:
    last = messages[-1]
    if last.role == "system" or last.pin:
        return True
    if last.role != "assistant" or last.tool_calls or _is_blank(last):
        return False
    before = [message for message in messages[:-1] if message.role != "tool" and not message.tool_calls]
    return bool(before) and before[-1].role == "user"


def _is_blank(message: Message) -> bool:
    parts = [message.content] if isinstance(message.content, str) else message.content
    return not any(part.strip() if isinstance(part, str) else part for part in parts)
