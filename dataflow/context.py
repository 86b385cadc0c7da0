"""Conversation contexts and tools, the values that context and tools edges carry (S10.1)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ExecutionContext", "Message", "Tools"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Any


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """An immutable conversation; `append` makes a new one and leaves this one as it is."""

    context_id: str
    provider: str = ""
    model: str = ""
    system_instructions: str | None = None
    message_history: Sequence[Message] = ()
    session_id: str = ""
    current_output: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)

    def append(self, *messages: Message) -> ExecutionContext:
        """Return a context whose history goes on with these messages."""
        return replace(self, message_history=(*self.message_history, *messages))


class Tools:
    """A description of tools; the base class that gives a port the kind tools."""

    __slots__ = ()
