"""Messages, images and tool calls; the turns of a conversation, their validation and trimming."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

from dataflow.diagnostics.conversations import (
    CALL_ID_INVALID,
    PIN_IN_TURN,
    RESULT_MISSING,
    RESULT_TWICE,
    RESULT_WITHOUT_CALL,
    ROLE_UNKNOWN,
    ROLE_UNSUITABLE,
    TURN_INCOMPLETE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "Fault",
    "Image",
    "Message",
    "ProviderParts",
    "TooLarge",
    "ToolCall",
    "choose",
    "estimated_tokens",
    "fault_in",
    "fault_in_turn",
    "turns_of",
]

#: For estimates: characters per token, extra tokens per message, tokens per image.
CHARACTERS: Final = 4
AROUND: Final = 4
IMAGE: Final = 1_500
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[str, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model requests; `arguments` is JSON as the model wrote it, which may be invalid."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a message: its media type, such as `image/png`, and the bytes of the file."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ProviderParts:
    """Parts of an answer that only the provider that gave them can read, such as signed thinking.

    `provider` is the service that gave them, `data` is JSON. They are sent back to this service with their
    message, and to no other.
    """

    provider: str
    data: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. It is shared by all its readers: do not modify its content.

    `content` is a string, or a sequence of strings and images. An assistant's message may have `tool_calls`;
    the message of a tool names the call that it answers in `tool_call_id`. A message with a `pin`, the name
    under which it was added to the conversation, is kept when the conversation is trimmed. `provider_parts`
    are what the provider of an answer wants back with it.
    """

    role: Role
    content: Any
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    pin: str = ""
    provider_parts: ProviderParts | None = None


class Fault(NamedTuple):
    """An error in a conversation, and the index of the message at fault."""

    position: int
    problem: Diagnostic


class TooLarge(NamedTuple):
    """The messages that must be kept exceed the budget; `needed` is their size."""

    needed: int


def turns_of(messages: Iterable[Message]) -> list[tuple[Message, ...]]:
    """Group messages by turn; system and pinned messages, which do not belong to a turn, are left out."""
    found = [message for message in messages if _is_of_a_turn(message)]
    return [tuple(part) for part in _split(found, lambda message: message.role == "user")]


def choose(messages: Sequence[Message], budget: int, size: Callable[[Message], int]) -> list[bool] | TooLarge:
    """Return for each message whether it is kept: those outside turns, and the newest turns that fit.

    If the last turn alone does not fit, its user message is kept and the newest answers that fit, each with
    the results of its calls, and at least one; TooLarge if that does not fit either.
    """
    room = budget - sum(size(message) for message in messages if not _is_of_a_turn(message))
    places = [place for place, message in enumerate(messages) if _is_of_a_turn(message)]
    turns = _split(places, lambda place: messages[place].role == "user")
    newest = _newest(turns, messages, room, size, budget)
    if isinstance(newest, TooLarge):
        return newest
    staying = set(newest)
    return [not _is_of_a_turn(message) or place in staying for place, message in enumerate(messages)]


def _newest(
    turns: list[list[int]],
    messages: Sequence[Message],
    room: int,
    size: Callable[[Message], int],
    budget: int,
) -> list[int] | TooLarge:
    """List the indices of the messages of the turns that are kept, the newest turn first."""

    def sizes(parts: Iterable[list[int]]) -> Iterator[int]:
        return accumulate(sum(size(messages[place]) for place in part) for part in parts)

    newest = turns[::-1]
    fitting = sum(1 for total in sizes(newest) if total <= room)
    if fitting or (not newest and room >= 0):
        return [place for turn in newest[:fitting] for place in turn]
    asked, *answers = _exchanges(newest[0], messages) if newest else [[]]
    tried = [asked + answers[-1] if answers else asked, *answers[-2::-1]]
    totals = list(sizes(tried))
    if totals[0] > room:
        return TooLarge(totals[0] + budget - room)
    fitting = sum(1 for total in totals if total <= room)
    return [place for part in tried[:fitting] for place in part]


def _exchanges(turn: list[int], messages: Sequence[Message]) -> list[list[int]]:
    """Split a turn into the user message, and each answer with the results of its calls."""
    parts = _split(turn, lambda place: messages[place].role == "assistant")
    return parts if messages[turn[0]].role == "user" else [[], *parts]


def _split(items: Sequence[Any], begins: Callable[[Any], bool]) -> list[list[Any]]:
    """Split a sequence before each item that begins a part."""
    parts: list[list[Any]] = []
    for item in items:
        if not parts or begins(item):
            parts.append([])
        parts[-1].append(item)
    return parts


def _is_of_a_turn(message: Message) -> bool:
    return message.role != "system" and not message.pin


def estimated_tokens(message: Message) -> int:
    """Estimate the tokens of a message: a quarter of its characters, plus 4, and 1,500 for each image.

    What only its provider can read counts as well, since it is sent.
    """
    content = message.content
    parts = content if isinstance(content, list | tuple) else [content]
    images = sum(1 for part in parts if isinstance(part, Image))
    characters = sum(len(str(part)) for part in parts if not isinstance(part, Image))
    characters += sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    characters += len(message.provider_parts.data) if message.provider_parts else 0
    return AROUND + -(-characters // CHARACTERS) + IMAGE * images


def fault_in(messages: Sequence[Message]) -> Fault | None:
    """Return the first violation of the rule that exactly one result follows each tool call (S10.2)."""
    waiting: dict[str, None] = {}
    answered: set[str] = set()
    calling = 0
    for position, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                return Fault(position, _orphan(message.tool_call_id, waiting, answered))
            del waiting[message.tool_call_id]
            answered.add(message.tool_call_id)
            continue
        if waiting:
            return Fault(calling, RESULT_MISSING(call=next(iter(waiting)), before=f"message {position}"))
        problem = _misplaced(message)
        if problem is not None:
            return Fault(position, problem)
        calling, waiting, answered = position, dict.fromkeys(call.id for call in message.tool_calls), set()
    return Fault(calling, RESULT_MISSING(call=next(iter(waiting)), before="the end")) if waiting else None


def _orphan(call: str, waiting: Iterable[str], answered: set[str]) -> Diagnostic:
    if call in answered:
        return RESULT_TWICE(call=call)
    return RESULT_WITHOUT_CALL(call=call, available=list(waiting) or None)


def _misplaced(message: Message) -> Diagnostic | None:
    """Return what is wrong with a message that is not a result, taken alone."""
    if message.role not in ROLES:
        return ROLE_UNKNOWN(found=repr(message.role), available=ROLES)
    if message.tool_call_id:
        return ROLE_UNSUITABLE(what="has a result", expected="'tool'", found=repr(message.role))
    if message.tool_calls and message.role != "assistant":
        return ROLE_UNSUITABLE(what="has tool calls", expected="'assistant'", found=repr(message.role))
    seen = {""}
    for call in message.tool_calls:
        if call.id in seen:
            return CALL_ID_INVALID(found=f"{call.id!r} twice" if call.id else "''")
        seen.add(call.id)
    return None


def fault_in_turn(messages: Sequence[Message]) -> Fault | None:
    """Return why messages are not one complete turn, a user message and then answers; or None (S10.3)."""
    for position, message in enumerate(messages):
        if message.pin:
            return Fault(position, PIN_IN_TURN(pin=message.pin))
        expected = ("user",) if position == 0 else ("assistant", "tool")
        if message.role not in expected:
            what, roles = (
                "continues a turn" if position else "begins a turn",
                " or ".join(map(repr, expected)),
            )
            return Fault(position, ROLE_UNSUITABLE(what=what, expected=roles, found=repr(message.role)))
    if not messages:
        return Fault(0, TURN_INCOMPLETE(expected="a user message"))
    if messages[-1].role != "assistant":
        return Fault(len(messages) - 1, TURN_INCOMPLETE(expected="an answer of the assistant after it"))
    return fault_in(messages)
