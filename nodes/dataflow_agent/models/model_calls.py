"""What node types that call a model have in common: what they send, and what they tell of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dataflow import ExecutionContext, Message
from dataflow_agent.models.configs import ModelConfig
from dataflow_agent.models.model_names import ModelName
from dataflow_agent.models.request_bounds import sent_of
from dataflow_agent.models.requests import ModelAnswer, ModelRequest, ToolSpec
from dataflow_agent.models.typed_answers import AnswerType

__all__ = ["request_for", "told_of"]


def request_for(
    name: ModelName,
    conversation: ExecutionContext,
    new: Sequence[Message],
    config: ModelConfig,
    *,
    tools: Sequence[ToolSpec] = (),
    typed: AnswerType | None = None,
) -> ModelRequest:
    """Say the whole conversation and what is new, with the instructions once, at its head (S10.2).

    Of images and long results only so much is sent as the config allows.
    """
    instructions = [text for text in (conversation.system_instructions, config.system) if text]
    system = [Message("system", "\n\n".join(instructions))] if instructions else []
    return ModelRequest(
        str(name),
        (*system, *sent_of((*conversation.messages, *new), config)),
        tools=tuple(tools),
        schema=None if typed is None else typed.asked,
        is_wrapped=typed is not None and typed.is_wrapped,
        options=config.options,
        session_id=conversation.session_id,
    )


def told_of(answer: ModelAnswer, request: ModelRequest) -> dict[str, Any]:
    """Return the metadata of a firing that had this answer."""
    usage = answer.usage
    return {
        "model": answer.model or request.model,
        "finish_reason": answer.finish_reason,
        "usage": {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost": usage.cost,
        },
    }  # fmt: skip
