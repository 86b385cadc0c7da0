"""The nodes of an agent: begin a turn, call the model, make a call of a tool, and end the turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import anyio

from dataflow import (
    ExecutionContext,
    FlowInvalid,
    Message,
    NodeOutput,
    Port,
    Ports,
    ToolCall,
    node,
    this_firing,
)
from dataflow_agent.approvals import About, Answer, Unfit, agent_name, decision_of
from dataflow_agent.config import AgentConfig
from dataflow_agent.diagnostics.chats import AGENT_FROM_PORT
from dataflow_agent.models.calls import answer_metadata, request_for
from dataflow_agent.models.providers.selection import provider_of
from dataflow_agent.models.request import model_of
from dataflow_agent.servers.results import Content
from dataflow_agent.servers.sessions import listed
from dataflow_agent.subagents import RESULT, Begun, SubagentTask, conversation_id, task_for
from dataflow_agent.tool_calls import CallUnfit, read_call, result_of
from dataflow_agent.toolkit.functions import is_same_tool
from dataflow_agent.toolkit.toolboxes import Toolbox
from dataflow_agent.turns import (
    Grant,
    StoppedBy,
    ToolResult,
    Turn,
    answered,
    begun_with,
    note_answer,
    note_request,
)

__all__ = ["Reply", "ask", "begin", "finish", "go_on", "make"]

TEXT: Final = "text"
#: The prefix of the variables of a conversation that record grants, followed by the run and the tool. Each
#: grant is a separate variable, so that a merged conversation has the grants of all (S10.4).
GRANTED: Final = "agent.granted/"


class Reply(NamedTuple):
    """The outputs of an agent: its text, the conversation with the turn, and what has ended the turn."""

    text: str
    context: ExecutionContext
    stopped_by: StoppedBy


@node(name="begin")
async def begin(prompt: str, context: ExecutionContext) -> Begun:
    """Begin a turn with a prompt; raises ConversationInvalid for calls without results."""
    context.check()
    firing = this_firing()
    if not context.context_id:
        key = conversation_id()
        context = replace(context, context_id=key, session_id=context.session_id or key)
    grants = _grants_in(context.variables, firing.run_id)
    return Begun(Turn(begun_with(prompt), granted=grants), context)


def _grants_in(variables: Mapping[str, Any], run: str) -> tuple[Grant, ...]:
    """Return the grants of a run."""
    begin = f"{GRANTED}{run}/"
    names = [name for name in variables if name.startswith(begin) and variables[name] is True]
    return tuple(Grant(run, name.removeprefix(begin)) for name in names)


def _with_grants(context: ExecutionContext, grants: Sequence[Grant]) -> ExecutionContext:
    """Return the conversation with these grants in place of those that it has."""
    variables = context.variables
    others = {name: variables[name] for name in variables if not name.startswith(GRANTED)}
    granted = {f"{GRANTED}{grant.run}/{grant.tool}": True for grant in grants}
    return replace(context, variables={**others, **granted})


@node(
    name="ask",
    ports=Ports({"turn": Turn, "tools": Toolbox}, {TEXT: str, "turn": Turn, "calls": list[ToolCall]}),
)
async def ask(inputs: Mapping[str, Any], context: ExecutionContext, config: AgentConfig) -> NodeOutput:
    """Call the model once, with the messages of the turn so far; the metadata describe the answer."""
    turn: Turn = inputs["turn"]
    _check(inputs["tools"])
    limit = turn.limit_reached(config)
    if limit is not None:
        return _given(turn.ended(limit), [])
    toolbox = await listed(config.offered(inputs["tools"]))
    name = model_of(config.model, context)
    request = request_for(name, context, turn.said, config, tools=toolbox.specs(config.allowed_tools))
    note_request(config, name, request, turn.said[0])
    firing, begun = this_firing(), anyio.current_time()
    provider = await provider_of(name)
    with anyio.move_on_after(turn.left(config)) as bound:
        answer = await provider.answer(request, lambda piece: firing.emit(piece, port=TEXT))
    turn = replace(turn, model=str(name)).longer(anyio.current_time() - begun)
    if bound.cancelled_caught:
        return _given(turn.ended("time_limit"), [])
    return _given(*answered(turn, answer, config), **answer_metadata(answer, request))


def _given(turn: Turn, calls: list[ToolCall], **metadata: Any) -> NodeOutput:
    return NodeOutput({TEXT: turn.text, "turn": turn, "calls": calls}, metadata=metadata)


def _check(toolbox: Toolbox) -> None:
    problems = [AGENT_FROM_PORT(name=one.name) for one in toolbox.subagents]
    if problems:
        raise FlowInvalid("tools", problems, "input")


def _made(config: AgentConfig) -> Ports:
    below = {one.name: Port(SubagentTask, exit=one.name) for one in config.subagents}
    result = Port(ToolResult, exit=RESULT) if below else ToolResult
    inputs = {"call": ToolCall, "answer": Answer, "about": About, "turn": Turn, "tools": Toolbox}
    return Ports(inputs, {RESULT: result, **below})


@node(name="make", ports=_made, effect=True)
async def make(inputs: Mapping[str, Any], config: AgentConfig) -> NodeOutput:
    """Make an allowed call, or pass it to a subagent; a failure of the tool becomes the result of the call.

    Raises ServerFailed, and SecretMissing, for a server that is not available: the call was not sent, so a
    resumed run makes it without another approval.
    """
    call: ToolCall = inputs["call"]
    turn: Turn = inputs["turn"]
    about: About = inputs["about"]
    if isinstance(about, Unfit):
        return _result(call, about.text)
    decision = decision_of(inputs["answer"])
    if decision.decision == "deny":
        denied = f"error: the call of {call.name} was denied"
        return _result(call, ": ".join(filter(None, (denied, decision.reason))))
    try:
        tool, _, arguments = await read_call(call, config.offered(inputs["tools"]), config.allowed_tools)
    except CallUnfit as unfit:
        return _result(call, str(unfit))
    if not is_same_tool(tool.reference, about.tool):
        return _result(call, f"error: {call.name} is another tool by now; it was not called")
    is_granted = decision.decision == "allow_for_run"
    granted = (Grant(this_firing().run_id, tool.reference),) if is_granted else ()
    if tool.subagent is not None:
        name, prompt = tool.subagent.name, str(arguments["prompt"])
        task = task_for(call, prompt, turn, config, agent_name(config), granted)
        return NodeOutput({name: task}, metadata=task.event("start", name, prompt))
    begun = anyio.current_time()
    content: Content = "error: there was no time left for this call to end"
    with anyio.move_on_after(turn.left(config)):
        content = await result_of(call, tool, arguments)
    return _result(call, content, anyio.current_time() - begun, granted)


def _result(
    call: ToolCall, content: Content, seconds: float = 0.0, granted: tuple[Grant, ...] = ()
) -> NodeOutput:
    return NodeOutput({RESULT: ToolResult(Message("tool", content, tool_call_id=call.id), seconds, granted)})


@node(name="go_on")
async def go_on(turn: Turn, results: list[ToolResult]) -> Turn:
    """Append the results of the calls, in the order of the calls."""
    return turn.with_results(results)


@node(name="finish")
async def finish(turn: Turn, context: ExecutionContext, config: AgentConfig) -> Reply:
    """Append the whole turn to the conversation (S10.3), and record the grants of the run in it."""
    text = turn.text
    note_answer(config, turn)
    if turn.granted:
        context = _with_grants(context, turn.granted)
    return Reply(text, replace(context.append_turn(*turn.said), current_output=text), turn.stopped_by)
