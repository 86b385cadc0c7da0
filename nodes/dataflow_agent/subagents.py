"""Calls of subagents: the task that a subagent gets, and its turn as the result of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from dataflow import ExecutionContext, Failure, Message, NodeOutput, Ports, ToolCall, node, this_firing
from dataflow_agent.config import AgentConfig, Subagent
from dataflow_agent.models.providers.scripted import script_failure
from dataflow_agent.turns import Grant, ToolResult, Turn, begun_with, note_answer, notice_of

__all__ = ["RESULT", "Begun", "SubagentTask", "begin_below", "conversation_id", "report", "task_for", "told"]

RESULT: Final = "result"
#: The code in front of a message, which models are not shown.
_CODE: Final = re.compile(r"DF\d{4} ")


class Begun(NamedTuple):
    """A new turn, and the conversation that it is appended to."""

    turn: Turn
    context: ExecutionContext


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """The input of a subagent: its prompt, the call that it answers, and what it inherits of the agent above.

    It inherits the grants so far, the seconds that are left, and the model unless it has its own. `depth` is
    1 below the outermost agent.
    """

    prompt: str
    call_id: str
    parent: str
    depth: int
    granted: tuple[Grant, ...]
    left: float | None
    model: str

    def event(self, kind: Literal["start", "end", "error"], subagent: str, message: str) -> dict[str, Any]:
        """Describe the call in the metadata of a firing."""
        return {
            "type": f"subagent_call_{kind}",
            "parent": self.parent,
            "subagent": subagent,
            "call_id": self.call_id,
            "depth": self.depth,
            "message": message,
        }

    def result(self, text: str, turn: Turn | None = None) -> ToolResult:
        """Return a result of the call, with the seconds and grants of a turn."""
        message = Message("tool", text, tool_call_id=self.call_id)
        return ToolResult(message) if turn is None else ToolResult(message, turn.seconds, turn.granted)


def task_for(
    call: ToolCall, prompt: str, turn: Turn, config: AgentConfig, parent: str, granted: tuple[Grant, ...]
) -> SubagentTask:
    """Return the task of a subagent, with the grants so far."""
    has_limit = config.time_limit is not None or turn.within is not None
    left = max(turn.left(config), 0.0) if has_limit else None
    return SubagentTask(prompt, call.id, parent, turn.depth + 1, (*turn.granted, *granted), left, turn.model)


def conversation_id() -> str:
    """Return the id of a conversation that the node begins: the run and the path of its agent."""
    return this_firing().key.removesuffix("/begin")


@node(name="begin")
async def begin_below(task: SubagentTask) -> Begun:
    """Begin a turn of a subagent, in a separate conversation."""
    turn = Turn(
        begun_with(task.prompt),
        granted=task.granted,
        depth=task.depth,
        within=task.left,
    )
    return Begun(turn, ExecutionContext(conversation_id(), model=task.model))


@node(name="report", ports=Ports({"turn": Turn, "task": SubagentTask}, {RESULT: ToolResult}))
async def report(inputs: Mapping[str, Any], config: Subagent) -> NodeOutput:
    """Return the turn of a subagent as the result of the call; the metadata record its end."""
    turn: Turn = inputs["turn"]
    task: SubagentTask = inputs["task"]
    note_answer(config, turn)
    text = "\n\n".join(filter(None, (turn.text, notice_of(turn.stopped_by))))
    return NodeOutput({RESULT: task.result(text, turn)}, metadata=task.event("end", config.name, text))


@node(name="told", ports=Ports({"failure": Failure, "task": SubagentTask}, {RESULT: ToolResult}))
async def told(inputs: Mapping[str, Any], config: Subagent) -> NodeOutput:
    """Return the failure of a subagent as the result of the call; the metadata record it.

    Raises ScriptFailed for the failure of a script, so that a test fails with it.
    """
    failure: Failure = inputs["failure"]
    mistake = script_failure(failure)
    if mistake is not None:
        raise mistake
    task: SubagentTask = inputs["task"]
    text = f"error: {failure.type}: {_CODE.sub('', failure.message, count=1)}"
    return NodeOutput({RESULT: task.result(text)}, metadata=task.event("error", config.name, text))
