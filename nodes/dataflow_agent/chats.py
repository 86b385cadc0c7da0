"""The node types `agent.chat`, one turn of a conversation, and `agent.intent_router`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from dataflow import (
    ArgumentInvalid,
    ExecutionContext,
    Message,
    NodeOutput,
    Port,
    Ports,
    node,
    this_firing,
)
from dataflow_agent.diagnostics.chats import NAME_INVALID, NAME_TAKEN
from dataflow_agent.diagnostics.models import ANSWER_IS_CALL
from dataflow_agent.models.calls import AnswerField, AnswerType, answer_metadata, request_for
from dataflow_agent.models.config import ModelConfig
from dataflow_agent.models.errors import AnswerUnfit
from dataflow_agent.models.providers.selection import provider_of
from dataflow_agent.models.request import ModelAnswer, ModelRequest, model_of

__all__ = ["Chat", "Router", "chat", "intent_router"]

TEXT: Final = "text"
ANSWER: Final = "answer"
FINISH: Final = "finish_reason"
CONTEXT: Final = "context"
#: The name of the port of a route that has the conversation.
CONVERSATION: Final = "{}_context"


class Chat(ModelConfig):
    """Config of `agent.chat`."""

    answer: AnswerField | None = Field(
        default=None, description="the type of a port `answer`: a JSON Schema, or the name of a JSON type"
    )

    @property
    def typed(self) -> AnswerType | None:
        """The type of the port `answer`, if there is one."""
        found: AnswerType | None = self.answer
        return found


def _ports(config: Chat) -> Ports:
    typed = {} if config.typed is None else {ANSWER: config.typed.type}
    reason = {FINISH: str} if config.accept_cut else {}
    return Ports({"prompt": str}, {TEXT: str, **typed, **reason})


@node(ports=_ports)
async def chat(
    inputs: Mapping[str, Any],
    context: ExecutionContext | None,
    config: Chat = Chat(),  # noqa: B008 - frozen
) -> NodeOutput:
    """Ask a model, in a conversation if one is wired to `context`, else in a new one.

    `text` is the answer, and streams its pieces. `context` is the conversation with the whole turn, prompt
    and answer, and has a value only when the answer is complete. With a type as `answer` in the config the
    model answers by its JSON Schema, and a port `answer` has the value. With `accept_cut` the text of an
    answer that a limit or a filter has cut counts as the answer, and a port `finish_reason` has `stop`,
    `length` or `content_filter`. The metadata of the firing record the model, its tokens and the cost in US
    dollars.

    Raises ModelFailed, in particular AnswerCut, ModelRefused, AnswerEmpty, and AnswerUnfit for an answer
    that is not of the type, and ConversationInvalid for a conversation that has calls without results.
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
        raise _call_found(request, answer, "an answer")
    typed = {} if config.typed is None else {ANSWER: config.typed.read(request.model, answer.text)}
    reason = {FINISH: answer.finish_reason} if config.accept_cut else {}
    turn = (prompt, answer.message)
    return NodeOutput(
        {TEXT: answer.text, **typed, **reason},
        context=replace(conversation.append_turn(*turn), current_output=answer.text),
        metadata=answer_metadata(answer, request),
        remembered=not answer.is_scripted,
    )


def _check_routes(routes: dict[str, str]) -> dict[str, str]:
    for name in routes:
        if not name.isidentifier() or name == CONTEXT:
            expected = f"letters, digits and _, other than {CONTEXT}"
            raise ArgumentInvalid(NAME_INVALID(name=name, what="a route", expected=expected))
        if (other := CONVERSATION.format(name)) in routes:
            raise ArgumentInvalid(NAME_TAKEN(name=other, by=f"a port of the route {name!r}"))
    return routes


class Router(ModelConfig):
    """Config of `agent.intent_router`."""

    routes: Annotated[dict[str, str], AfterValidator(_check_routes)] = Field(
        min_length=1, description="the routes by name, each with a description of what belongs to it"
    )

    @property
    def answer(self) -> AnswerType:
        """The type of the answer: the name of one route."""
        names = [*self.routes]
        return AnswerType(Literal[tuple(names)], {"type": "string", "enum": names})

    @property
    def with_instructions(self) -> Router:
        """The config with the list of routes appended to its instructions."""
        lines = [f"- {name}: {text}" if text else f"- {name}" for name, text in self.routes.items()]
        listed = "\n".join(["Name the route that the last message belongs to. The routes:", *lines])
        return self.model_copy(update={"system": f"{self.system}\n\n{listed}" if self.system else listed})


def _router_ports(config: Router) -> Ports:
    outputs: dict[str, Port] = {}
    for name in config.routes:
        outputs[name] = Port(str, exit=name)
        outputs[CONVERSATION.format(name)] = Port(ExecutionContext, exit=name)
    return Ports({"prompt": str}, outputs)


@node(ports=_router_ports)
async def intent_router(
    inputs: Mapping[str, Any], context: ExecutionContext | None, config: Router
) -> NodeOutput:
    """Ask a model which route a prompt belongs to, and pass it on there.

    Each route is a branch output: the port of its name has the prompt, and the port with the suffix
    `_context` the conversation, or a new one if none is wired; the ports of all other routes are skipped. The
    question and the answer are not part of the conversation, which is on `context` too, for any route. The
    metadata of the firing record the route, the model, its tokens and the cost in US dollars.

    Raises ModelFailed, in particular AnswerUnfit, which lists the routes, for an answer that is not a route,
    and ConversationInvalid for a conversation that has calls without results.
    """
    conversation = context or ExecutionContext(this_firing().key or "intent_router")
    conversation.check()
    prompt = inputs["prompt"]
    request, answer = await _asked(conversation, prompt, config)
    route = str(config.answer.read(request.model, answer.text))
    return NodeOutput(
        {route: prompt, CONVERSATION.format(route): conversation},
        context=conversation,
        metadata={"route": route, **answer_metadata(answer, request)},
        remembered=not answer.is_scripted,
    )


async def _asked(
    conversation: ExecutionContext, prompt: str, config: Router
) -> tuple[ModelRequest, ModelAnswer]:
    name = model_of(config.model, conversation)
    said = (Message("user", prompt),)
    request = request_for(name, conversation, said, config.with_instructions, typed=config.answer)
    provider = await provider_of(name)
    answer = await provider.answer(request, lambda _: None)  # pieces of a name are not streamed
    if answer.tool_calls:
        raise _call_found(request, answer, "a route")
    return request, answer


def _call_found(request: ModelRequest, answer: ModelAnswer, expected: str) -> AnswerUnfit:
    found = f"a call of {answer.tool_calls[0].name!r}"
    return AnswerUnfit(request.model, ANSWER_IS_CALL(expected=expected, found=found))
