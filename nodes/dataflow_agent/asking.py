"""One call of a model in a conversation: what it is asked, and what is told of its answer (S10.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dataflow import ExecutionContext, Message
from dataflow_agent.configs import ModelConfig
from dataflow_agent.model_errors import AnswerUnfit
from dataflow_agent.model_names import model_of
from dataflow_agent.providers import provider_of
from dataflow_agent.requests import ModelAnswer, ModelRequest, Piece
from dataflow_agent.typed_answers import AnswerType

__all__ = ["ask_model", "told_of"]


async def ask_model(
    conversation: ExecutionContext,
    prompt: Message,
    config: ModelConfig,
    piece: Piece,
    *,
    typed: AnswerType | None = None,
    instructions: str = "",
) -> tuple[ModelRequest, ModelAnswer]:
    """Ask the model of a config or of a conversation, which is left as it is.

    `instructions` stand behind those of the conversation and of the config. Raises ModelFailed, also for an
    answer that is a call, and ConversationInvalid for a conversation that has calls without results.
    """
    conversation.check()
    name = model_of(config.model, conversation)
    told = [text for text in (conversation.system_instructions, config.system, instructions) if text]
    system = [Message("system", "\n\n".join(told))] if told else []
    request = ModelRequest(
        str(name),
        (*system, *conversation.messages, prompt),
        schema=None if typed is None else typed.asked,
        options=config.options,
        session_id=conversation.session_id,
    )
    provider = await provider_of(name)
    answer = await provider.answer(request, piece)
    if answer.tool_calls:
        raise AnswerUnfit(request.model, f"expected an answer, found a call of {answer.tool_calls[0].name!r}")
    return request, answer


def told_of(request: ModelRequest, answer: ModelAnswer) -> Mapping[str, Any]:
    """Tell what a call has used, for the metadata of its firing."""
    model = answer.model or request.model
    return {"model": model, "finish_reason": answer.finish_reason, "usage": asdict(answer.usage)}
