"""What a conversation is made of: messages, with the calls and images in them (S10.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

__all__ = ["ROLES", "Image", "Message", "ToolCall"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[str, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; `arguments` is JSON as the model wrote it, which may be invalid."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a message: its media type, as `image/png`, and the bytes of the file."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. What it holds is shared by all who read it: change nothing in it.

    `content` is a text, or a sequence of texts and images. An assistant's message may have `tool_calls`; the
    message of a tool says in `tool_call_id` which call it answers. A message with a `pin`, the name under
    which it was put into the conversation, stays when the conversation is trimmed (S10.5).
    """

    role: Role
    content: Any
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    pin: str = ""
