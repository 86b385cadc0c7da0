"""Spans of agents and of their calls of tools, by the conventions of OpenTelemetry for generative AI (S19).

The turn of an agent is the span of its flow node, told from inside; a call of a tool has one of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from dataflow import Message, Span, ToolCall, this_firing
from dataflow_agent.agent_turns import Turn
from dataflow_agent.config import AgentConfig
from dataflow_agent.models.model_names import ModelName
from dataflow_agent.models.requests import ModelRequest
from dataflow_agent.models.spans import conventional, written_message

__all__ = ["tell_answer", "tell_asked", "tool_span"]

INVOKE = "invoke_agent"


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
