"""Agents that ask: the tool by which one does, and the node that then waits for the reply."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, RootModel, StringConstraints

from dataflow import Config, ExecutionContext, NodeOutput, Ports, node
from dataflow.authoring import json_schema
from dataflow_formats.agentron.calls import made_in

__all__ = ["Reply", "Wait", "request_user_help", "wait"]

#: What the model is told of its call. The turn ends with its next answer, which the reply takes the place of.
ASKED: Final = "The user is asked when this turn has ended. End it now."
MOST_OPTIONS: Final = 50

Options = Annotated[list[str], Field(max_length=MOST_OPTIONS)]


class Reply(RootModel[Annotated[str, StringConstraints(pattern=r"\S")]]):
    """What somebody replied, which is not blank."""

    model_config = ConfigDict(frozen=True)


class Wait(Config):
    """Config of `agentron.wait`: what is asked in any case, if not empty."""

    question: str = ""


async def request_user_help(
    question: str,
    message: str = "",
    type: str = "",
    reason: str = "",
    options: Options | None = None,
    suggestions: Options | None = None,
) -> str:
    """Ask the user a question; the reply goes to the next agent."""
    _ = question, message, type, reason, options, suggestions  # they are read from the call (`wait`)
    return ASKED


@node(ports=Ports({}, {"reply": Reply | None}))
async def wait(
    context: ExecutionContext | None,
    config: Wait = Wait(),  # noqa: B008 - frozen
) -> NodeOutput:
    """Wait for a reply if the agent has asked for one in its turn, or the node itself asks."""
    asked = {"question": config.question} if context is None else _asked_in(context)
    if asked is None:
        return NodeOutput({"reply": None})
    question = asked.pop("question")
    asking = {"prompt": question, "show": asked or None, "schema": json_schema(Reply)}
    return NodeOutput(status="paused", metadata={"ask": asking})


def _asked_in(context: ExecutionContext) -> dict[str, Any] | None:
    """Return the arguments of the last call by which the last turn asked, and that was made."""
    asking = [
        call
        for call, result in made_in(context)
        if call.name == request_user_help.__name__ and ASKED in str(result.content)
    ]
    return dict(json.loads(asking[-1].arguments)) if asking else None
