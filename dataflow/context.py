"""Conversation contexts and tools, the values that context and tools edges carry (S10.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from dataflow.history import History
from dataflow.separation import separate

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CONTEXT_ID", "ExecutionContext", "Image", "Message", "ToolCall", "Tools", "history_of"]

#: The id of the node type that begins a conversation.
CONTEXT_ID: Final = "control.context"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; `arguments` is JSON as the model wrote it, which may be invalid."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a message: its media type, as `image/png`, and the bytes of the file."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. What it holds is shared by all who read it: change nothing in it.

    `content` is a text, or a sequence of texts and images. An assistant's message may have `tool_calls`; the
    message of a tool says in `tool_call_id` which call it answers. A message with a `pin`, the name under
    which it was put into the conversation, stays when the conversation is trimmed (S10.5).
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: Any
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    pin: str = ""


class Variables(Mapping[str, Any]):
    """Read-only variables. Lists, dicts and sets in them are given to each reader as copies (S3.4)."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values: Any = separate(dict(values))

    def __getitem__(self, name: str) -> Any:
        return separate(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """An immutable conversation; `append` makes a new one and leaves this one as it is.

    Contexts with different `context_id` have nothing in common when they are merged (S10.5). `variables` can
    only be read; lists, dicts and sets in them are given out as copies. The other fields are for nodes, and
    kept as they are given.
    """

    context_id: str
    provider: str = ""
    model: str = ""
    system_instructions: str | None = None
    message_history: Sequence[Message] = ()
    session_id: str = ""
    current_output: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.message_history, History):
            object.__setattr__(self, "message_history", History(self.message_history))
        if not isinstance(self.variables, Variables):
            object.__setattr__(self, "variables", Variables(self.variables))

    def append(self, *messages: Message) -> ExecutionContext:
        """Return a context whose history goes on with these messages; the history so far is shared."""
        return replace(self, message_history=history_of(self).extended(messages))


def history_of(context: ExecutionContext) -> History[Message]:
    """Return the history of a context as what it is."""
    history = context.message_history
    assert isinstance(history, History), "a context keeps its messages as a history"
    return history


class Tools:
    """A description of tools; the base class that gives a port the kind tools, which makes it lazy (S8.3)."""

    __slots__ = ()
