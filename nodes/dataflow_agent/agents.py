"""`agent.agent` and `Agent`: a model that calls tools until it has its answer, as a flow node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import anyio

from dataflow import (
    ExecutionContext,
    Flow,
    Message,
    NodeOutput,
    Ports,
    ToolCall,
    TypedFlow,
    collect,
    each,
    flow,
    node,
    this_firing,
)
from dataflow_agent.agent_spans import tell_answer, tell_asked
from dataflow_agent.agent_turns import AgentConfig, StoppedBy, Turn, answered
from dataflow_agent.model_calls import request_for, told_of
from dataflow_agent.model_names import model_of
from dataflow_agent.providers import provider_of
from dataflow_agent.tool_calls import result_of
from dataflow_agent.toolboxes import Toolbox

__all__ = ["Agent", "Reply", "agent"]

#: Stands for a conversation of its own, which begins in the run.
NEW: Final = ExecutionContext("")
NO_TOOLS: Final = Toolbox()
TEXT: Final = "text"


class Reply(NamedTuple):
    """What an agent gives: its text, the conversation with the whole turn, and what has ended the turn."""

    text: str
    context: ExecutionContext
    stopped_by: StoppedBy


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call gave, and how many seconds it took."""

    message: Message
    seconds: float


class Begun(NamedTuple):
    """A turn that has begun, and the conversation that it is to be part of."""

    turn: Turn
    context: ExecutionContext


@node(name="begin")
async def _begin(prompt: str, context: ExecutionContext) -> Begun:
    """Begin a turn with a prompt; raises ConversationInvalid for calls without results."""
    context.check()
    if not context.context_id:
        key = this_firing().key.removesuffix("/begin")
        context = replace(context, context_id=key, session_id=context.session_id or key)
    return Begun(Turn((Message("user", prompt),)), context)


def _asked(config: AgentConfig) -> Ports:  # noqa: ARG001 - the ports are the same for each config
    return Ports({"turn": Turn, "tools": Toolbox}, {TEXT: str, "turn": Turn, "calls": list[ToolCall]})


@node(name="ask", ports=_asked)
async def _ask(inputs: Mapping[str, Any], context: ExecutionContext, config: AgentConfig) -> NodeOutput:
    """Call the model once, with what was said so far in the turn; the metadata tell of the answer."""
    turn: Turn = inputs["turn"]
    toolbox: Toolbox = inputs["tools"]
    if turn.left(config) <= 0:
        return _given(turn.out_of_time(), [])
    name = model_of(config.model, context)
    request = request_for(name, context, turn.said, config, tools=toolbox.specs(config.allowed_tools))
    tell_asked(name, request, turn.said[0])
    firing, begun = this_firing(), anyio.current_time()
    provider = await provider_of(name)
    with anyio.move_on_after(turn.left(config)) as bound:
        answer = await provider.answer(request, lambda piece: firing.emit(piece, port=TEXT))
    turn = turn.longer(anyio.current_time() - begun)
    if bound.cancelled_caught:
        return _given(turn.out_of_time(), [])
    return _given(*answered(turn, answer, config), **told_of(answer, request))


def _given(turn: Turn, calls: list[ToolCall], **told: Any) -> NodeOutput:
    return NodeOutput({TEXT: turn.text, "turn": turn, "calls": calls}, metadata=told)


@node(name="call", effect=True)
async def _call(call: ToolCall, turn: Turn, tools: Toolbox, config: AgentConfig) -> ToolResult:
    """Call one tool; what went wrong is its result."""
    begun = anyio.current_time()
    text = "error: there was no time left for this call to end"
    with anyio.move_on_after(turn.left(config)):
        text = await result_of(call, tools, config.allowed_tools)
    return ToolResult(Message("tool", text, tool_call_id=call.id), anyio.current_time() - begun)


@node(name="go_on")
async def _go_on(turn: Turn, results: list[ToolResult]) -> Turn:
    """Put the results behind the calls, in their order; the calls ran at once, so the longest counts."""
    longest = max(result.seconds for result in results)
    return turn.with_results([result.message for result in results]).longer(longest)


@node(name="finish")
async def _finish(turn: Turn, context: ExecutionContext) -> Reply:
    """Append the whole turn to the conversation (S10.3)."""
    text = turn.text
    tell_answer(text)
    return Reply(text, replace(context.append_turn(*turn.said), current_output=text), turn.stopped_by)


def _is_empty(calls: list[ToolCall]) -> bool:
    return not calls


@flow
def agent(
    f: Flow,
    prompt: str,
    context: ExecutionContext = NEW,
    tools: Toolbox = NO_TOOLS,
    *,
    config: AgentConfig = AgentConfig(),  # noqa: B008 - frozen
) -> Reply:
    """Let a model answer a prompt, and call tools until it has its answer.

    Each call of the model and of a tool is a firing of its own, so a run that goes on repeats none of those
    that stand. `context` is the conversation with the whole turn, and is there only when the turn has ended
    (S10.3). A tool that fails, and arguments that do not fit, are told to the model as results. `stopped_by`
    is `answer`, or the limit that has ended the turn; `text` are then the texts so far.

    Raises ModelFailed, FlowInvalid for tools that cannot be found, and ConversationInvalid for a conversation
    that has calls without results.
    """
    begun = f.add(_begin, prompt=prompt, context=context).out
    main = begun.context
    with f.loop(name="turn", limit=None) as rounds:
        turn = rounds.carry(begun.turn)
        asking = _ask.with_(retries=config.retries) if config.retries else _ask
        asked = f.add(asking, turn=turn.out, tools=tools, context=main, config=config)
        rounds.until(asked.out.calls, _is_empty)
        calls = each(asked.out.calls)
        called = f.add(_call, call=calls, turn=asked.out.turn, tools=tools, config=config)
        gone_on = f.add(_go_on, turn=asked.out.turn, results=collect(called.out))
        turn.next(gone_on.out)
        whole = rounds.result(asked.out.turn)
    done = f.add(_finish, turn=whole, context=main)
    return Reply(done.out.text, done.out.context, done.out.stopped_by)


class Agent(TypedFlow[..., Reply]):
    """An agent with a name and settings: placed in a flow it is a node `agent.agent`, called it is a run.

    The settings are those of `AgentConfig`. Raises ValidationError, a ValueError, for one that cannot be.
    """

    def __init__(self, name: str, *, model: str = "", system: str = "", **settings: Any) -> None:
        self.config = AgentConfig(model=model, system=system, **settings)
        super().__init__(agent._fn, self.config)  # noqa: SLF001 - of its own class
        self.__name__ = self._name = name

    async def __call__(  # type: ignore[override]  # it names the parameters, which are any in its base
        self, /, prompt: str, *, context: ExecutionContext = NEW, tools: Toolbox = NO_TOOLS
    ) -> Reply:
        """Run the agent as a flow of its own; raises RunFailed, or Paused."""
        return await super().__call__(prompt, context=context, tools=tools)

    def place_in(self, block: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Place `agent.agent` with these settings, so that documents, drawings and forks see them."""
        placing = agent.with_()
        placing._name, placing._placed_as, placing._policy = self._name, self._placed_as, self._policy  # noqa: SLF001 - of its own class
        return placing.place_in(block, args, {**kwargs, "config": self.config})
