"""How an agent is wired: a loop of calls of the model, with a map over the calls of tools (S10.6)."""

from __future__ import annotations

from dataflow import Flow, ToolCall, collect, each, merge
from dataflow_agent.agent_turns import Turn
from dataflow_agent.approvals import approve
from dataflow_agent.config import AgentConfig, Subagent
from dataflow_agent.describing import describe
from dataflow_agent.steps import ask, go_on, make
from dataflow_agent.subagents import RESULT, Begun, SubagentTask, begin_below, report, told
from dataflow_agent.tools.toolboxes import Toolbox

__all__ = ["call_flow", "wire_turn"]


def wire_turn(f: Flow, begun: Begun, tools: Toolbox, config: AgentConfig) -> Turn:
    """Wire the rounds of a turn, from its beginning to the whole turn."""
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
    """Wire one call: a decision, the call itself, and each subagent that it may be of."""
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
    """Wire an agent as a tool; it has a conversation of its own."""
    with Flow(config.name) as f:
        task = f.input("task", SubagentTask)
        begun = f.add(begin_below, task=task)
        whole = wire_turn(f, begun.out, Toolbox(), config)
        f.output(RESULT, f.add(report, turn=whole, task=task, config=config).out.result)
    return f
