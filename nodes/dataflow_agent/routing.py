"""The node type `agent.intent_router`: a model says which way a prompt goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from dataflow import ExecutionContext, Message, NodeOutput, Port, Ports, node, this_firing
from dataflow_agent.models.configs import ModelConfig
from dataflow_agent.models.errors import AnswerUnfit
from dataflow_agent.models.model_calls import request_for, told_of
from dataflow_agent.models.model_names import model_of
from dataflow_agent.models.providers.selection import provider_of
from dataflow_agent.models.requests import ModelAnswer, ModelRequest
from dataflow_agent.models.typed_answers import AnswerType

__all__ = ["Router", "intent_router"]

CONTEXT: Final = "context"
#: What the port of a route is called that has the conversation.
CONVERSATION: Final = "{}_context"


def _check_routes(routes: dict[str, str]) -> dict[str, str]:
    for name in routes:
        if not name.isidentifier() or name == CONTEXT:
            expected = f"letters, digits and _, and not {CONTEXT}"
            raise ValueError(f"{name!r} is no name of a route; expected {expected}")
        if (other := CONVERSATION.format(name)) in routes:
            told = f"the port {other!r} is of the route {name!r} already"
            raise ValueError(f"{told}; call the other route otherwise")
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
    def telling_routes(self) -> Router:
        """The config with what the model is told of the routes behind its instructions."""
        lines = [f"- {name}: {text}" if text else f"- {name}" for name, text in self.routes.items()]
        told = "\n".join(["Name the route that the last message belongs to. The routes:", *lines])
        return self.model_copy(update={"system": f"{self.system}\n\n{told}" if self.system else told})


def _ports(config: Router) -> Ports:
    outputs: dict[str, Port] = {}
    for name in config.routes:
        outputs[name] = Port(str, exit=name)
        outputs[CONVERSATION.format(name)] = Port(ExecutionContext, exit=name)
    return Ports({"prompt": str}, outputs)


@node(ports=_ports)
async def intent_router(
    inputs: Mapping[str, Any], context: ExecutionContext | None, config: Router
) -> NodeOutput:
    """Ask a model which route a prompt belongs to, and pass it on there.

    Each route is an exit: the port of its name has the prompt, and one with `_context` behind it the
    conversation, or a new one if none is wired; the ports of all other routes are skips. The question and the
    answer are not in the conversation, which is on `context` too, whatever the route. The metadata of the
    firing tell the route, the model, its tokens and the cost in US dollars.

    Raises ModelFailed, as AnswerUnfit, which names the routes, for an answer that is none of them, and
    ConversationInvalid for a conversation that has calls without results.
    """
    conversation = context or ExecutionContext(this_firing().key or "intent_router")
    conversation.check()
    prompt = inputs["prompt"]
    request, answer = await _asked(conversation, prompt, config)
    route = str(config.answer.read(request.model, answer.text))
    return NodeOutput(
        {route: prompt, CONVERSATION.format(route): conversation},
        context=conversation,
        metadata={"route": route, **told_of(answer, request)},
        remembered=not answer.is_scripted,
    )


async def _asked(
    conversation: ExecutionContext, prompt: str, config: Router
) -> tuple[ModelRequest, ModelAnswer]:
    name = model_of(config.model, conversation)
    said = (Message("user", prompt),)
    request = request_for(name, conversation, said, config.telling_routes, typed=config.answer)
    provider = await provider_of(name)
    answer = await provider.answer(request, lambda _: None)  # a piece of a name is no use to anyone
    if answer.tool_calls:
        raise AnswerUnfit(request.model, f"expected a route, found a call of {answer.tool_calls[0].name!r}")
    return request, answer
