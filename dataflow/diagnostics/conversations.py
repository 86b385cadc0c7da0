"""Problems of conversations: their messages, tool calls and budgets (DF09)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

OVER_BUDGET: Final = Kind(
    "DF0901",
    "does not fit a budget of {budget}: its system text, pinned messages and last turn need {needed}",
    meaning="A conversation cannot be trimmed any further and is still larger than its budget.",
    example="context.trimmed(budget=100)   # the last turn alone has 400",
    cure="Raise the budget, shorten the system text, or pin fewer messages.",
)

RESULT_WITHOUT_CALL: Final = Kind(
    "DF0902",
    "is the result of the call {call!r}, which no message before it makes",
    meaning="A message with the result of a tool call does not follow the message that makes the call.",
    example='context.append(Message("tool", "found", tool_call_id="t1")).check()',
    cure="Append the message of the assistant with the call first, or correct the `tool_call_id`.",
)
RESULT_TWICE: Final = Kind(
    "DF0903",
    "is a second result of the call {call!r}",
    meaning="A tool call has two results, and models accept exactly one.",
    example="context.append(calls, result, result).check()   # the same result twice",
    cure="Append one message for each call; put several results into one message.",
)
RESULT_MISSING: Final = Kind(
    "DF0904",
    "the result of its call {call!r} is missing before {before}",
    meaning="The results of all tool calls of a message have to follow it, before any other message.",
    example='context.append(calls, Message("user", "go on")).check()   # calls has a call "t1"',
    cure='Append the result, or a message that says why there is none: `Message("tool", "stopped", ...)`.',
)
CALL_ID_INVALID: Final = Kind(
    "DF0905",
    "each of its calls needs an id of its own",
    meaning="The tool calls of one message have to have ids that differ and are not empty.",
    example='Message("assistant", "", (ToolCall("", "look", "{}"),))',
    cure="Give each call a unique id.",
)
ROLE_UNKNOWN: Final = Kind(
    "DF0906",
    "its role is not known",
    meaning="The role of a message is none of those that models know.",
    example='Message("bot", "hello")',
    cure="Use one of the available roles.",
)
ROLE_UNSUITABLE: Final = Kind(
    "DF0907",
    "a message that {what} cannot have this role",
    meaning="The role of a message does not fit its place in a turn, or the tool calls or results in it.",
    example='Message("user", "hello", (ToolCall("t1", "look", "{}"),))   # only an assistant calls tools',
    cure="Correct the role, or append the message elsewhere.",
)
PIN_IN_TURN: Final = Kind(
    "DF0908",
    "has the pin {pin!r}, and pinned messages do not belong to a turn",
    hint="append it by itself",
    meaning="Pinned messages are sent before all turns, so a turn cannot contain one.",
    example='context.append_turn(Message("user", "be brief", pin="rules"), answer)',
    cure="Use `append` for the pinned message, and `append_turn` for the others.",
)
TURN_INCOMPLETE: Final = Kind(
    "DF0909",
    "the turn is incomplete",
    meaning="A turn is a user message, and all that follows up to an answer of the assistant.",
    example='context.append_turn(Message("user", "hello"))',
    cure="Append the whole turn, or use `append` for a part of one.",
)
NOTHING_TO_MERGE: Final = Kind(
    "DF0910",
    "there is no conversation to merge",
    expected="at least one",
    meaning="Conversations are merged into a copy of the first one, so there has to be one.",
    example='merged_context([], "append")',
    cure="Merge only where there are conversations.",
)
