"""Agents that ask: the tool by which one does, and the node that then waits for the reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from dataflow.context import ExecutionContext
from dataflow.declare import node
from dataflow.node_output import NodeOutput
from dataflow.ports import Ports

__all__ = ["request_user_help", "wait"]

#: What the model is told of its call. The turn ends with its next answer, which the reply takes the place of.
ASKED: Final = "The user is asked when this turn has ended. End it now."
MOST_OPTIONS: Final = 50

Options = Annotated[list[str], Field(max_length=MOST_OPTIONS)]
#: A reply that is not blank.
Reply = Annotated[str, StringConstraints(pattern=r"\S")]


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


@node(ports=Ports({"text": str}, {"text": Reply, "is_reply": bool}))
async def wait(inputs: Mapping[str, Any], context: ExecutionContext) -> NodeOutput:
    """Wait for a reply where the agent has asked for one in its turn; else pass its text on."""
    asked = _asked_in(context)
    if asked is None:
        return NodeOutput({"text": inputs["text"], "is_reply": False})
    question = asked.pop("question")
    asking = {"prompt": question, "show": asked}
    return NodeOutput({"is_reply": True}, status="paused", metadata={"ask": asking})


def _asked_in(context: ExecutionContext) -> dict[str, Any] | None:
    """Return the arguments of the last call by which the last turn asked, and that was made."""
    turn = context.turns()[-1]
    results = [message for message in turn if message.role == "tool" and ASKED in str(message.content)]
    made = {message.tool_call_id for message in results}
    calls = [call for message in turn for call in message.tool_calls]
    asking = [call for call in calls if call.name == request_user_help.__name__ and call.id in made]
    return dict(json.loads(asking[-1].arguments)) if asking else None
