"""The calls of tools in a conversation: those of its last turn, as the trail of a run tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.authoring import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow import ExecutionContext, Message, ToolCall

__all__ = ["made_in", "summaries"]

#: How many characters of arguments and of a result a summary has.
MOST_CHARACTERS: Final = 200


def made_in(context: ExecutionContext) -> Iterator[tuple[ToolCall, Message]]:
    """Go through the calls of the last turn, each with its result."""
    turn = context.turns()[-1]
    results = {message.tool_call_id: message for message in turn if message.role == "tool"}
    calls = (call for message in turn for call in message.tool_calls)
    return ((call, results[call.id]) for call in calls if call.id in results)


def summaries(context: ExecutionContext | None) -> list[dict[str, str]]:
    """Tell of each call its tool, its arguments and its result, shortened."""
    if context is None:
        return []
    return [
        {
            "name": call.name,
            "arguments": shortened(call.arguments, MOST_CHARACTERS),
            "result": shortened(str(result.content), MOST_CHARACTERS),
        }
        for call, result in made_in(context)
    ]
