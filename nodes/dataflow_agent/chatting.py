"""The node type `agent.chat`: one turn of a conversation with a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import Field

from dataflow import ExecutionContext, Message, NodeOutput, Ports, node, this_firing
from dataflow_agent.models.configs import ModelConfig
from dataflow_agent.models.errors import AnswerUnfit
from dataflow_agent.models.model_calls import request_for, told_of
from dataflow_agent.models.model_names import model_of
from dataflow_agent.models.providers.selection import provider_of
from dataflow_agent.models.typed_answers import AnswerField, AnswerType

__all__ = ["Chat", "chat"]

TEXT: Final = "text"
ANSWER: Final = "answer"


class Chat(ModelConfig):
    """Config of `agent.chat`."""

    answer: AnswerField | None = Field(
        default=None, description="the type of a port `answer`: a JSON Schema, or the name of a JSON type"
    )

    @property
    def typed(self) -> AnswerType | None:
        """The type of the port `answer`, if there is to be one."""
        found: AnswerType | None = self.answer
        return found


def _ports(config: Chat) -> Ports:
    typed = {} if config.typed is None else {ANSWER: config.typed.type}
    return Ports({"prompt": str}, {TEXT: str, **typed})


@node(ports=_ports)
async def chat(
    inputs: Mapping[str, Any],
    context: ExecutionContext | None,
    config: Chat = Chat(),  # noqa: B008 - frozen
) -> NodeOutput:
    """Ask a model, in a conversation if one is wired to `context`, else in a new one.

    `text` is the answer, and passes on the pieces of it as they come. `context` is the conversation with
    the whole turn, prompt and answer, which is there only when the answer is whole (S10.3). With a type as
    `answer` in the config the model is to answer by its JSON Schema, and a port `answer` has the value. The
    metadata of the firing tell the model, its tokens and the cost in US dollars.

    Raises ModelFailed, as AnswerUnfit for an answer that is not of the type, and ConversationInvalid for a
    conversation that has calls without results.
    """
    firing = this_firing()
    conversation = context or ExecutionContext(firing.key or "chat")
    conversation.check()
    name = model_of(config.model, conversation)
    prompt = Message("user", inputs["prompt"])
    request = request_for(name, conversation, (prompt,), config, typed=config.typed)
    provider = await provider_of(name)
    answer = await provider.answer(request, lambda piece: firing.emit(piece, port=TEXT))
    if answer.tool_calls:
        raise AnswerUnfit(request.model, f"expected an answer, found a call of {answer.tool_calls[0].name!r}")
    typed = {} if config.typed is None else {ANSWER: config.typed.read(request.model, answer.text)}
    turn = (prompt, Message("assistant", answer.text))
    return NodeOutput(
        {TEXT: answer.text, **typed},
        context=replace(conversation.append_turn(*turn), current_output=answer.text),
        metadata=told_of(answer, request),
        remembered=not answer.is_scripted,
    )
