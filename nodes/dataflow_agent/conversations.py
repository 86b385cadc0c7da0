"""Node types that begin, extend, merge and trim conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from dataflow import (
    ArgumentInvalid,
    ExecutionContext,
    Message,
    Port,
    Ports,
    ValueMismatch,
    merged_context,
    node,
    this_firing,
)
from dataflow.authoring import check_json
from dataflow_agent.diagnostics.chats import NAME_INVALID, NAME_TAKEN
from dataflow_agent.models.config import StrictConfig

__all__ = [
    "Conversation",
    "Inject",
    "Merge",
    "Trim",
    "checked_names",
    "context",
    "inject_messages",
    "merge_conversations",
    "trim_context",
    "with_clean_tail",
]


class Conversation(StrictConfig):
    """Config of `agent.context`: what the conversation begins with."""

    system: str | None = Field(
        default=None, description="the system text, where the input of that name has none"
    )
    model: str = Field(default="", description="the model, as provider/model")
    provider: str = Field(default="", description="the provider, where the model does not name it")
    session_id: str = Field(
        default="", description="what the provider knows the conversation by; the context_id unless set"
    )
    variables: dict[str, Any] = Field(default={}, description="the variables of the conversation")
    clean_tail: bool = Field(
        default=False, description="whether what ends the messages and is no whole turn is left out"
    )


class Inject(StrictConfig):
    """Config of `agent.inject_messages`."""

    pin: str = Field(min_length=1, description="the name of what is put in: a name stands for it once")


def _names(branches: list[str]) -> list[str]:
    return [*checked_names(branches, "config")]


class Merge(StrictConfig):
    """Config of `agent.merge_conversations`."""

    how: Literal["pick", "append", "results"] = Field(description="what becomes of the conversations")
    branches: Annotated[list[str], AfterValidator(_names)] = Field(
        min_length=1, description="the names of the inputs, in the order in which they count"
    )


class Trim(StrictConfig):
    """Config of `agent.trim_context`."""

    max_tokens: int = Field(ge=1, description="the most tokens that the messages may have, estimated")


async def context(
    system: str | None = None,
    messages: list[dict[str, Any]] | None = None,
    config: Conversation = Conversation(),  # noqa: B008 - frozen
) -> ExecutionContext:
    """Begin an isolated conversation with the given messages.

    A message is a mapping with `role` and `content`, a string; and `tool_calls`, `tool_call_id` and `pin`
    where it has any. Raises ValueMismatch for an invalid message, ConversationInvalid where calls and results
    do not match.

    With `clean_tail` in the config an incomplete turn at the end is left out: a user message without an
    answer, a blank answer, an answer without a user message, calls without a following answer.

    Its id is made of the run and the path of the node, so that each iteration and item has its own; it is
    empty if the function is called outside a run.
    """
    said = _read(messages) if messages else []
    begun = ExecutionContext(
        this_firing().key,
        message_history=with_clean_tail(said) if config.clean_tail else said,
        provider=config.provider,
        model=config.model,
        system_instructions=config.system if system is None else system,
        session_id=config.session_id,
        variables=config.variables,
    )
    begun.check()
    return begun


def _read(given: list[dict[str, Any]]) -> list[Message]:
    """Read messages from JSON."""
    messages: Any = check_json(given, list[Message])
    for number, message in enumerate(messages):
        if not isinstance(message.content, str):
            raise ValueMismatch(type(message.content).__name__, "a string", f"[{number}].content")
    return list(messages)


async def inject_messages(
    context: ExecutionContext, user: str, config: Inject, assistant: str = ""
) -> ExecutionContext:
    """Pin a user message, and an answer if there is one, at the head of a conversation.

    Pinned messages precede all turns and are never trimmed. Messages with the same `pin` are replaced in
    place, so that the node is idempotent.
    """
    messages = [Message("user", user, pin=config.pin)]
    if assistant:
        messages.append(Message("assistant", assistant, pin=config.pin))
    return context.append(*messages)


def _branches(config: Merge) -> Ports:
    return Ports(inputs={name: Port(ExecutionContext, default=None) for name in config.branches})


@node(ports=_branches)
async def merge_conversations(config: Merge, **branches: Any) -> ExecutionContext:
    """Merge the conversations that have a value into one.

    `pick` takes the first, `append` appends the new messages of the others to the first, `results` only their
    last answers. This is the node type, mainly for documents; in Python `dataflow.merge_contexts` merges
    ports, and `dataflow.merged_context` values.
    """
    came = [one for name in config.branches if (one := branches[name]) is not None]
    return merged_context(came, config.how)


async def trim_context(context: ExecutionContext, config: Trim) -> ExecutionContext:
    """Trim the messages of a conversation that a model is sent to `max_tokens`, system text included.

    Whole turns are dropped, the oldest first; system text, pinned messages and the last user message are
    kept, and no call is separated from its result. A token is estimated as four characters. Raises
    BudgetExceeded if the kept messages do not fit, ConversationInvalid where calls and results do not match.
    """
    return context.trimmed(config.max_tokens)


def with_clean_tail(messages: Sequence[Message]) -> Sequence[Message]:
    """Drop messages from the end until the last one completes a turn, or belongs to none.

    A turn is complete if it ends with an answer to a user message that is not blank and asks for no calls.
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


def checked_names(names: Sequence[str], *taken: str) -> Sequence[str]:
    """Return the names if each is unique, valid as a port and not taken; raises ValueError otherwise."""
    seen: set[str] = set()
    for name in names:
        if not name.isidentifier() or name in taken:
            expected = f"letters, digits and _, other than {', '.join(taken)}"
            raise ArgumentInvalid(NAME_INVALID(name=name, what="an input", expected=expected))
        if name in seen:
            raise ArgumentInvalid(NAME_TAKEN(name=name, by="another input"))
        seen.add(name)
    return names
