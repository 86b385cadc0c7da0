"""The turn of an agent: its messages, limits and spans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import Literal, TypeAlias

from dataflow import ExecutionContext, Message, Span, ToolCall, this_firing
from dataflow_agent.config import AgentConfig
from dataflow_agent.models.request import ModelAnswer, ModelName, ModelRequest
from dataflow_agent.models.spans import brief, conventional, written_message

__all__ = [
    "Grant",
    "StoppedBy",
    "ToolResult",
    "Turn",
    "answered",
    "begun_with",
    "note_answer",
    "note_request",
    "notice_of",
    "tool_span",
]

#: What has ended a turn: the answer of the model, a limit, or the cut of an answer that is accepted (S10.3).
StoppedBy: TypeAlias = Literal[
    "answer", "max_tool_calls", "max_turns", "time_limit", "length", "content_filter"
]
INVOKE = "invoke_agent"


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission to call a tool, given by its reference, for the rest of a run."""

    run: str
    tool: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one call, its duration in seconds, and the grants that came with its approval."""

    message: Message
    seconds: float = 0.0
    granted: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages so far, beginning with the prompt, the number of calls, and the seconds of work.

    `depth` is the number of agents above this one, and `within` the seconds that they have left for it.
    `model` is the model that has answered. `has_notice` says that the last message is a notice in place of an
    answer. The messages are the history of a conversation, of which a journal stores each part once.
    """

    said: Sequence[Message]
    calls: int = 0
    rounds: int = 0
    seconds: float = 0.0
    stopped_by: StoppedBy = "answer"
    granted: tuple[Grant, ...] = ()
    depth: int = 0
    within: float | None = None
    model: str = ""
    has_notice: bool = False

    def saying(self, *messages: Message) -> Sequence[Message]:
        """Return the messages so far with further ones, sharing the former."""
        return ExecutionContext("turn", message_history=self.said).append(*messages).message_history

    @property
    def text(self) -> str:
        """The answer; where a limit has ended the turn, the texts of all answers so far."""
        if self.stopped_by == "answer":
            return str(self.said[-1].content)
        answers = self.said[:-1] if self.has_notice else self.said
        return "\n\n".join(str(one.content) for one in answers if one.role == "assistant" and one.content)

    def left(self, config: AgentConfig) -> float:
        """Return the seconds of work that are left to the turn."""
        limits = [limit for limit in (config.time_limit, self.within) if limit is not None]
        return min(limits, default=inf) - self.seconds

    def longer(self, seconds: float) -> Turn:
        """Return the turn with this many more seconds of work."""
        return replace(self, seconds=self.seconds + seconds)

    def limit_reached(self, config: AgentConfig) -> StoppedBy | None:
        """Return the limit that forbids another call of the model, None if it is allowed."""
        if self.left(config) <= 0:
            return "time_limit"
        if config.may_overshoot and self.calls >= config.max_tool_calls:
            return "max_tool_calls"
        return None

    def ended(self, stopped_by: StoppedBy) -> Turn:
        """Return the turn as ended by a limit before a further answer."""
        notice = Message("assistant", notice_of(stopped_by))
        return replace(self, said=self.saying(notice), stopped_by=stopped_by, has_notice=True)

    def with_results(self, results: Sequence[ToolResult]) -> Turn:
        """Return the turn with the results of all calls of its last answer, which were made concurrently."""
        said = self.saying(*(result.message for result in results))
        granted = dict.fromkeys(chain(self.granted, *(result.granted for result in results)))
        longest = max(result.seconds for result in results)
        calls = self.calls + len(results)
        return replace(self, said=said, calls=calls, granted=tuple(granted)).longer(longest)


def begun_with(prompt: str) -> Sequence[Message]:
    """Return the messages of a turn that begins with a prompt."""
    return ExecutionContext("turn", message_history=(Message("user", prompt),)).message_history


def answered(turn: Turn, answer: ModelAnswer, config: AgentConfig) -> tuple[Turn, list[ToolCall]]:
    """Return the turn with an answer, and the calls that must be made before the next answer.

    An answer that asks for more calls than are left ends the turn without any of them, unless it may
    overshoot.
    """
    calls = _with_unique_ids(answer.tool_calls)
    rounds = turn.rounds + 1
    stopped_by: StoppedBy = "answer"
    if answer.finish_reason in ("length", "content_filter"):
        stopped_by = answer.finish_reason
    elif calls and not config.may_overshoot and turn.calls + len(calls) > config.max_tool_calls:
        stopped_by = "max_tool_calls"
    elif calls and config.max_turns is not None and rounds >= config.max_turns:
        stopped_by = "max_turns"
    if stopped_by != "answer":
        calls = ()
    has_notice = not answer.text and stopped_by != "answer"
    text = notice_of(stopped_by) if has_notice else answer.text
    said = turn.saying(replace(answer.message, content=text, tool_calls=calls))
    return replace(turn, said=said, rounds=rounds, stopped_by=stopped_by, has_notice=has_notice), [*calls]


def notice_of(stopped_by: StoppedBy) -> str:
    """Return the notice in place of an answer that a limit prevented: a turn ends with an answer (S10.3)."""
    return "" if stopped_by == "answer" else f"[stopped by {stopped_by}]"


def _with_unique_ids(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Replace the ids of calls where the model gave none or the same twice."""
    ids = [call.id for call in calls]
    if all(ids) and len({*ids}) == len(ids):
        return tuple(calls)
    return tuple(replace(call, id=f"call_{number}") for number, call in enumerate(calls, start=1))


def note_request(config: AgentConfig, name: ModelName, request: ModelRequest, prompt: Message) -> None:
    """Record the model and conversation of an agent on its span; the prompt is content."""
    span = _agent_span(config)
    span.note(
        {
            "gen_ai.provider.name": conventional(name.provider),
            "gen_ai.request.model": name.model,
            "gen_ai.conversation.id": request.session_id or None,
        }
    )
    if span.tells_content:
        span.note({"gen_ai.input.messages": _written(written_message(prompt))})


def note_answer(config: AgentConfig, turn: Turn) -> None:
    """Record the answer of an agent and its finish reason on its span, as content."""
    span = _agent_span(config)
    if span.tells_content:
        message = written_message(Message("assistant", turn.text))
        reason = "stop" if turn.stopped_by == "answer" else turn.stopped_by
        span.note({"gen_ai.output.messages": _written({**message, "finish_reason": reason})})


@contextmanager
def tool_span(call: ToolCall, description: str) -> Iterator[Span]:
    """Open the span of a call of a tool inside that of its node; an exception is recorded."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.description": description or None,
        "gen_ai.tool.type": "function",
    }
    with this_firing().span(f"execute_tool {call.name}", attributes) as span:
        if span.tells_content:
            span.note({"gen_ai.tool.call.arguments": brief(call.arguments)})
        yield span


def _agent_span(config: AgentConfig) -> Span:
    """Mark the span of the subflow around this firing as that of an agent, and return it.

    Done for each firing, since a resumed run may begin in the middle of a turn.
    """
    span = this_firing().flow_span
    name = config.name or span.name
    span.rename(f"{INVOKE} {name}")
    span.note({"gen_ai.operation.name": INVOKE, "gen_ai.agent.name": name})
    return span


def _written(message: object) -> str:
    return json.dumps([message], ensure_ascii=False)
