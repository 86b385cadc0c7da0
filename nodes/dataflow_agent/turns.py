"""The turn of an agent: its messages, limits and spans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import Literal, TypeAlias

from dataflow import Message, Span, ToolCall, this_firing
from dataflow_agent.config import AgentConfig
from dataflow_agent.models.request import ModelAnswer, ModelName, ModelRequest
from dataflow_agent.models.spans import conventional, written_message

__all__ = [
    "Grant",
    "StoppedBy",
    "ToolResult",
    "Turn",
    "answered",
    "notice_of",
    "tell_answer",
    "tell_asked",
    "tool_span",
]

#: What has ended a turn: the answer of the model, or a limit.
StoppedBy: TypeAlias = Literal["answer", "max_tool_calls", "max_turns", "time_limit"]
INVOKE = "invoke_agent"


@dataclass(frozen=True, slots=True)
class Grant:
    """A tool that may be called for the rest of a run, by where it is found."""

    run: str
    tool: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call gave, how many seconds it took, and the tools that it has brought grants for."""

    message: Message
    seconds: float = 0.0
    granted: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said so far, from the prompt on; how many calls were made, and in how many seconds of work.

    `depth` is how many agents are above this one, and `within` are the seconds that they have left it.
    `model` is the one that has answered. `has_notice` says that a notice stands at the end, for an answer.
    """

    said: tuple[Message, ...]
    calls: int = 0
    rounds: int = 0
    seconds: float = 0.0
    stopped_by: StoppedBy = "answer"
    granted: tuple[Grant, ...] = ()
    depth: int = 0
    within: float | None = None
    model: str = ""
    has_notice: bool = False

    @property
    def text(self) -> str:
        """The answer; where a limit has ended the turn, the texts of all answers so far."""
        if self.stopped_by == "answer":
            return str(self.said[-1].content)
        answers = self.said[:-1] if self.has_notice else self.said
        return "\n\n".join(str(one.content) for one in answers if one.role == "assistant" and one.content)

    def left(self, config: AgentConfig) -> float:
        """Return the seconds that the turn may still work."""
        limits = [limit for limit in (config.time_limit, self.within) if limit is not None]
        return min(limits, default=inf) - self.seconds

    def longer(self, seconds: float) -> Turn:
        """Return the turn after this much more work."""
        return replace(self, seconds=self.seconds + seconds)

    def limit_reached(self, config: AgentConfig) -> StoppedBy | None:
        """Return the limit that keeps the model from being called once more, None if it may be."""
        if self.left(config) <= 0:
            return "time_limit"
        if config.may_overshoot and self.calls >= config.max_tool_calls:
            return "max_tool_calls"
        return None

    def ended(self, stopped_by: StoppedBy) -> Turn:
        """Return the turn as one that a limit has ended before a further answer."""
        notice = Message("assistant", notice_of(stopped_by))
        return replace(self, said=(*self.said, notice), stopped_by=stopped_by, has_notice=True)

    def with_results(self, results: Sequence[ToolResult]) -> Turn:
        """Return the turn with the results of all calls of its last answer, which were made at once."""
        said = (*self.said, *(result.message for result in results))
        granted = dict.fromkeys(chain(self.granted, *(result.granted for result in results)))
        longest = max(result.seconds for result in results)
        calls = self.calls + len(results)
        return replace(self, said=said, calls=calls, granted=tuple(granted)).longer(longest)


def answered(turn: Turn, answer: ModelAnswer, config: AgentConfig) -> tuple[Turn, list[ToolCall]]:
    """Go on with an answer: return the turn with it, and the calls that are to be made before the next.

    None are made of an answer that asks for more than are left; it ends the turn, without them, unless it may
    overshoot.
    """
    calls = _told_apart(answer.tool_calls)
    rounds = turn.rounds + 1
    stopped_by: StoppedBy = "answer"
    if calls and not config.may_overshoot and turn.calls + len(calls) > config.max_tool_calls:
        stopped_by = "max_tool_calls"
    elif calls and config.max_turns is not None and rounds >= config.max_turns:
        stopped_by = "max_turns"
    if stopped_by != "answer":
        calls = ()
    has_notice = not answer.text and stopped_by != "answer"
    text = notice_of(stopped_by) if has_notice else answer.text
    said = (*turn.said, Message("assistant", text, calls))
    return replace(turn, said=said, rounds=rounds, stopped_by=stopped_by, has_notice=has_notice), [*calls]


def notice_of(stopped_by: StoppedBy) -> str:
    """Return what stands for the answer that a limit kept from coming: a turn ends with one (S10.3)."""
    return "" if stopped_by == "answer" else f"[stopped by {stopped_by}]"


def _told_apart(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Give calls ids that differ, where a model gave none or the same twice."""
    ids = [call.id for call in calls]
    if all(ids) and len({*ids}) == len(ids):
        return tuple(calls)
    return tuple(replace(call, id=f"call_{number}") for number, call in enumerate(calls, start=1))


def tell_asked(config: AgentConfig, name: ModelName, request: ModelRequest, prompt: Message) -> None:
    """Tell of an agent which model it asks, in which conversation; the prompt is content."""
    span = _tell_agent(config)
    span.note(
        {
            "gen_ai.provider.name": conventional(name.provider),
            "gen_ai.request.model": name.model,
            "gen_ai.conversation.id": request.session_id or None,
        }
    )
    if span.tells_content:
        span.note({"gen_ai.input.messages": _written(written_message(prompt))})


def tell_answer(config: AgentConfig, turn: Turn) -> None:
    """Tell the answer of an agent and what it ends by, which is content."""
    span = _tell_agent(config)
    if span.tells_content:
        message = written_message(Message("assistant", turn.text))
        reason = "stop" if turn.stopped_by == "answer" else turn.stopped_by
        span.note({"gen_ai.output.messages": _written({**message, "finish_reason": reason})})


@contextmanager
def tool_span(call: ToolCall, description: str) -> Iterator[Span]:
    """Open the span of a call of a tool, inside that of the node that makes it; what it raises is noted."""
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.description": description or None,
        "gen_ai.tool.type": "function",
    }
    with this_firing().span(f"execute_tool {call.name}", told) as span:
        if span.tells_content:
            span.note({"gen_ai.tool.call.arguments": call.arguments})
        yield span


def _tell_agent(config: AgentConfig) -> Span:
    """Tell that the flow node around this firing is an agent, by its name, and return its span.

    It is told each time, since a run that goes on may begin in the midst of a turn.
    """
    span = this_firing().flow_span
    name = config.name or span.name
    span.rename(f"{INVOKE} {name}")
    span.note({"gen_ai.operation.name": INVOKE, "gen_ai.agent.name": name})
    return span


def _written(message: object) -> str:
    return json.dumps([message], ensure_ascii=False)
