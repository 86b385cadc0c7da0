# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is reported about workflows of Agentron Studio that cannot be read, and about their runs."""

from __future__ import annotations

from typing import Any, Final

from dataflow_agent import scripted
from tests.messages.telling import Row, Stimulus, foreign, later
from tests.nodes.formats.agentron.walking import agent, edge, flow_of, workflow

A: Final = {"id": "a", "type": "agent", "parameters": {"agentName": "Ada"}}
WATCH: Final = {"id": "w", "nodes": [], "executionMode": "interval", "schedule": "60"}


loaded, reported = foreign("agentron", model="openai/gpt-5")
unmodelled, _ = foreign("agentron")


def nodes(*parts: Any, **more: Any) -> Stimulus:
    return loaded({"nodes": parts, **more})


def agents(*parts: Any, **more: Any) -> Stimulus:
    return loaded({"nodes": [A], "agents": parts, **more})


@later
def warned(data: Any) -> list[str]:
    with scripted("no", "no"):
        return [*flow_of(data).run_sync().warnings]


# fmt: off
ROWS: Final = [
    Row("remark: a loop without a limit", reported(workflow("ab", "ab", "ba"))),
    Row("remark: an edge after one that is always followed", reported(workflow("abc", "ab", "ac"))),
    Row("remark: a node that never runs", reported(workflow("abc", "ab", "cb"))),
    Row("remark: a condition alone", reported(workflow("ab", edge("a", "b", "yes")))),
    Row("remark: an unknown condition", reported(workflow("ab", edge("a", "b", condition={"type": "mood", "value": "x"})))),
    Row("remark: an order of nodes", reported(workflow("ab", "ab", executionOrder=["b", "a"]))),
    Row("remark: only branches", reported(workflow("", branches=[{"id": "w", "nodes": [agent("w")]}]))),
    Row("remark: a loop with two entries", reported(workflow("abc", edge("a", "b", "b"), "ac", "bc", "cb", maxRounds=2))),
    Row("remark: a schedule beside branches", reported(workflow("a", branches=[{"id": "w", "nodes": [], "executionMode": "one_time"}]) | {"executionMode": "interval", "schedule": "60"})),
    Row("remark: a branch that starts by itself", reported(workflow("a", branches=[{"id": "n", "nodes": [agent("a")], "executionMode": "interval", "schedule": "daily@02:30"}]), branch="n")),
    Row("remark: a workflow that starts by itself", reported(workflow("a", executionMode="continuous"))),
    Row("no mapping", loaded([1])),
    Row("a file of agents that is none", loaded({"nodes": [A], "agents": [1, {"name": "B", "model": "x"}]}, agents="flow.json")),
    Row("an agent that is not named", nodes({"id": "a", "type": "agent", "config": {}})),
    Row("an id that means something", nodes({**A, "id": "$in"})),
    Row("an edge twice", nodes(A, edges=[{"id": "e", "from": "a", "to": "a"}] * 2)),
    Row("an unknown mode", nodes(A, executionMode="manual")),
    Row("an interval without a schedule", nodes(A, executionMode="interval")),
    Row("a branch at intervals without a schedule", nodes(A, executionMode="interval", schedule="60", branches=[{"id": "w", "nodes": []}])),
    Row("a schedule that is none", nodes(A, branches=[{**WATCH, "schedule": "5s"}])),
    Row("a delay that is none", nodes(A, branches=[{**WATCH, "executionMode": "continuous", "schedule": "daily@09:00"}])),
    Row("a branch twice", nodes(A, branches=[WATCH, WATCH])),
    Row("an unknown branch", loaded({"nodes": [A], "branches": [WATCH]}, branch="x")),
    Row("agents that nobody defines", unmodelled({"nodes": [A, {"id": "b", "type": "agent", "config": {"agentId": "1"}}]})),
    Row("a model for all that is none", loaded({"nodes": [A]}, model="x")),
    Row("an agent without a name, and one that is none", agents({}, 1)),
    Row("an agent with an unknown model", agents({"name": "Ada", "model": "house"})),
    Row("an unknown tool", agents({"name": "Ada", "tools": ["std-http"]})),
    Row("no condition that holds", warned(workflow("ab", edge("a", "b", "yes")))),
    Row("no file of agents", unmodelled({"nodes": [A]}, agents="nowhere.json")),
]
# fmt: on
