"""A call of a tool that is an agent: what that is handed, and what the agent above gets of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from dataflow import ExecutionContext, Failure, Message, NodeOutput, Ports, ToolCall, node, this_firing
from dataflow_agent.config import AgentConfig, Subagent
from dataflow_agent.models.providers.scripted import script_failure
from dataflow_agent.turns import Grant, ToolResult, Turn, notice_of, tell_answer

__all__ = ["RESULT", "Begun", "SubagentTask", "begin_below", "conversation_id", "handed_on", "report", "told"]

RESULT: Final = "result"


class Begun(NamedTuple):
    """A turn that has begun, and the conversation that it is to be part of."""

    turn: Turn
    context: ExecutionContext


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """What a subagent is handed: its task, whose it is, and what it has of the agent above.

    That is the grants so far, the seconds left, and the model, for one that has none of its own. `depth` is 1
    below the outermost agent.
    """

    prompt: str
    call_id: str
    parent: str
    depth: int
    granted: tuple[Grant, ...]
    left: float | None
    model: str

    def event(self, kind: Literal["start", "end", "error"], subagent: str, message: str) -> dict[str, Any]:
        """Tell of the call, as the metadata of a firing."""
        return {
            "type": f"subagent_call_{kind}",
            "parent": self.parent,
            "subagent": subagent,
            "call_id": self.call_id,
            "depth": self.depth,
            "message": message,
        }

    def result(self, text: str, turn: Turn | None = None) -> ToolResult:
        """Make a result of the call; without a turn nothing of one is known."""
        message = Message("tool", text, tool_call_id=self.call_id)
        return ToolResult(message) if turn is None else ToolResult(message, turn.seconds, turn.granted)


def handed_on(
    call: ToolCall, prompt: str, turn: Turn, config: AgentConfig, parent: str, granted: tuple[Grant, ...]
) -> SubagentTask:
    """Hand a task on to a subagent, with the grants that there are now."""
    has_limit = config.time_limit is not None or turn.within is not None
    left = max(turn.left(config), 0.0) if has_limit else None
    return SubagentTask(prompt, call.id, parent, turn.depth + 1, (*turn.granted, *granted), left, turn.model)


def conversation_id() -> str:
    """Return the id of a conversation that the node begins: where its agent is placed, in the run."""
    return this_firing().key.removesuffix("/begin")


@node(name="begin")
async def begin_below(task: SubagentTask) -> Begun:
    """Begin a turn of a subagent, in a conversation of its own."""
    turn = Turn(
        (Message("user", task.prompt),),
        granted=task.granted,
        depth=task.depth,
        within=task.left,
    )
    return Begun(turn, ExecutionContext(conversation_id(), model=task.model))


@node(name="report", ports=Ports({"turn": Turn, "task": SubagentTask}, {RESULT: ToolResult}))
async def report(inputs: Mapping[str, Any], config: Subagent) -> NodeOutput:
    """Make the turn of a subagent the result of the call; the metadata tell of its end."""
    turn: Turn = inputs["turn"]
    task: SubagentTask = inputs["task"]
    tell_answer(config, turn)
    text = "\n\n".join(filter(None, (turn.text, notice_of(turn.stopped_by))))
    return NodeOutput({RESULT: task.result(text, turn)}, metadata=task.event("end", config.name, text))


@node(name="told", ports=Ports({"failure": Failure, "task": SubagentTask}, {RESULT: ToolResult}))
async def told(inputs: Mapping[str, Any], config: Subagent) -> NodeOutput:
    """Make the failure of a subagent the result of the call; the metadata tell of it.

    Raises ScriptFailed for one of a script: a test is to fail with it.
    """
    failure: Failure = inputs["failure"]
    mistake = script_failure(failure)
    if mistake is not None:
        raise mistake
    task: SubagentTask = inputs["task"]
    text = f"error: {failure.type}: {failure.message}"
    return NodeOutput({RESULT: task.result(text)}, metadata=task.event("error", config.name, text))
