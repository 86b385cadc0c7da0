"""`agent.agent` and `Agent`: a model that calls tools until it has an answer, as a subflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dataflow import (
    ArgumentInvalid,
    ExecutionContext,
    Flow,
    FlowInvalid,
    ToolCall,
    TypedFlow,
    collect,
    each,
    flow,
    merge,
)
from dataflow_agent.approvals import approve
from dataflow_agent.config import AgentConfig, Subagent
from dataflow_agent.diagnostics.chats import AGENT_SETTING_UNKNOWN
from dataflow_agent.diagnostics.tools import NOT_A_TOOLBOX
from dataflow_agent.steps import Reply, ask, begin, finish, go_on, make
from dataflow_agent.subagents import RESULT, Begun, SubagentTask, begin_below, report, told
from dataflow_agent.tool_calls import describe
from dataflow_agent.toolkit.policies import policy_of
from dataflow_agent.toolkit.toolboxes import Toolbox
from dataflow_agent.turns import Turn

__all__ = ["Agent", "agent", "call_flow"]

#: Means a new conversation, which begins in the run.
NEW: Final = ExecutionContext("")
NO_TOOLS: Final = Toolbox()
INPUTS: Final = ("prompt", "context", "tools")


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

    Each call of the model and of a tool is a separate firing, so a resumed run repeats none that is done.
    `context` is the conversation with the whole turn, and has a value only when the turn has ended. The
    policy of a tool decides whether a call is made, needs an approval, or is denied; a subagent is called as
    a tool. The model gets a failure of a tool, invalid arguments and a denied call as results of its calls.
    `stopped_by` is `answer`, or the limit that has ended the turn; `text` then has the texts so far. With
    `accept_cut` a cut answer ends the turn as well, by `length` or `content_filter`.

    Raises ModelFailed, FlowInvalid for tools that cannot be found, and ConversationInvalid for a conversation
    that has calls without results.
    """
    begun = f.add(begin, prompt=prompt, context=context).out
    whole = wire_turn(f, begun, tools, config)
    done = f.add(finish, turn=whole, context=begun.context, config=config)
    return Reply(done.out.text, done.out.context, done.out.stopped_by)


class Agent(TypedFlow[..., Reply]):
    """An agent with a name and settings: placed in a flow it is a node `agent.agent`, called it is a run.

    `tools` are added to the tools of its input. The settings are those of `AgentConfig`. Raises
    ArgumentInvalid for an unknown setting, ValidationError for an invalid one, and FlowInvalid for tools that
    are not a toolbox.
    """

    def __init__(
        self, name: str, *, model: str = "", system: str = "", tools: Toolbox = NO_TOOLS, **settings: Any
    ) -> None:
        for one in settings.keys() - AgentConfig.model_fields.keys():
            available = sorted(AgentConfig.model_fields)
            raise ArgumentInvalid(AGENT_SETTING_UNKNOWN(found=repr(one), available=available, near=one))
        _check_toolbox(tools)
        others = tools.without_subagents
        own = AgentConfig(
            name=name, model=model, system=system, tools=others if others.sources else None, **settings
        )
        self.config = own.with_subagents(tools.subagents)
        super().__init__(agent._fn, self.config)  # noqa: SLF001 - of its own class
        self.__name__ = self._name = name

    async def __call__(  # type: ignore[override]  # it names the parameters, which are any in its base
        self, /, prompt: str, *, context: ExecutionContext = NEW, tools: Toolbox = NO_TOOLS
    ) -> Reply:
        """Run the agent as a separate flow; raises RunFailed, or Paused."""
        _check_toolbox(tools)
        called = self.with_config(self.config.with_subagents(tools.subagents)) if tools.subagents else self
        return await TypedFlow.__call__(called, prompt, context=context, tools=tools.without_subagents)

    def place_in(self, block: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Place `agent.agent` with these settings, so that documents, drawings and forks include them.

        The agents in a toolbox become subagents of the node; those in the value of a port cannot.
        """
        placing = agent.with_()
        placing._name, placing._placed_as, placing._policy = self._name, self._placed_as, self._policy  # noqa: SLF001 - of its own class
        given = {**dict(zip(INPUTS, args, strict=False)), **kwargs, "config": self.config}
        found = given.get("tools")
        if isinstance(found, Toolbox):
            given["config"] = self.config.with_subagents(found.subagents)
            given["tools"] = found.without_subagents
        return placing.place_in(block, args[len(INPUTS) :], given)

    def as_tool(
        self,
        description: str,
        *,
        allow: Sequence[str] | None = None,
        ask: Sequence[str] = (),
        deny: Sequence[str] = (),
    ) -> Toolbox:
        """Describe the agent as a tool for another agent, which calls it by its name with a `prompt`.

        The policy applies to these calls. Raises ValidationError, a ValueError, for an agent that cannot be a
        tool.
        """
        policy = policy_of(allow, ask, deny)
        allowed = None if policy.allow is None else [*policy.allow]
        settings: dict[str, Any] = {**self.config.given, "description": description}
        below = Subagent(**settings, allow=allowed, ask=[*ask], deny=[*deny])
        return Toolbox((below.described,))


def _check_toolbox(given: object) -> None:
    """Raise FlowInvalid for a value that is not a toolbox; the message shows how to make one."""
    if not isinstance(given, Toolbox):
        raise FlowInvalid("tools", [NOT_A_TOOLBOX(found=type(given).__name__)], "setting")


def wire_turn(f: Flow, begun: Begun, tools: Toolbox, config: AgentConfig) -> Turn:
    """Wire the iterations of a turn: ask the model, call its tools, repeat until it has an answer."""
    with f.loop(name="turn", limit=None) as rounds:
        turn = rounds.carry(begun.turn)
        asking = ask.with_(retries=config.retries) if config.retries else ask
        asked = f.add(asking, turn=turn.out, tools=tools, context=begun.context, config=config)
        rounds.until(asked.out.calls, _is_empty)
        calls = each(asked.out.calls)
        called = f.add(call_flow(config), call=calls, turn=asked.out.turn, tools=tools)
        gone_on = f.add(go_on, turn=asked.out.turn, results=collect(called.out.result))
        turn.next(gone_on.out)
        whole: Turn = rounds.result(asked.out.turn)
    return whole


def _is_empty(calls: list[ToolCall]) -> bool:
    return not calls


def call_flow(config: AgentConfig) -> Flow:
    """Wire one call: the decision, the call itself, and each subagent that may be called."""
    with Flow("call") as f:
        call, turn = f.input("call", ToolCall), f.input("turn", Turn)
        toolbox = f.input("tools", Toolbox)
        decided = f.add(approve, call=call, turn=turn, tools=toolbox, config=config)
        answer, about = decided.out.answer, decided.out.about
        made = f.add(make, call=call, answer=answer, about=about, turn=turn, tools=toolbox, config=config)
        result = made.out.result
        if config.vision_summary:
            describing = describe.with_(retries=config.retries) if config.retries else describe
            result = f.add(describing, result=result, turn=turn, config=config).out.result
        results = [result]
        handed = [(below, getattr(made.out, below.name)) for below in config.subagents]
        steps = [f.add(_subagent_flow(below), task=task) for below, task in handed]
        for (below, task), step in zip(handed, steps, strict=True):
            failed = f.add(told, failure=step.error, task=task, config=below)
            results += [step.out.result, failed.out.result]
        f.output(RESULT, merge(*results) if config.subagents else results[0])
    return f


def _subagent_flow(config: Subagent) -> Flow:
    """Wire a subagent, with a separate conversation."""
    with Flow(config.name) as f:
        task = f.input("task", SubagentTask)
        begun = f.add(begin_below, task=task)
        whole = wire_turn(f, begun.out, Toolbox(), config)
        f.output(RESULT, f.add(report, turn=whole, task=task, config=config).out.result)
    return f
