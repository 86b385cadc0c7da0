# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is told of workflows of Agentron Studio that cannot be read, and of their runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from dataflow_agent import scripted
from tests.messages.saving import files
from tests.messages.telling import Row, Stimulus
from tests.nodes.formats.agentron.walking import edge, flow_of, workflow

__all__ = ["ROWS"]

A: Final = {"id": "a", "type": "agent", "parameters": {"agentName": "Ada"}}
WATCH: Final = {"id": "w", "nodes": [], "executionMode": "interval", "schedule": "60"}


def loaded(data: Any, agents: Any = None, **options: str) -> Stimulus:
    """Load a workflow; `agents` is what a file beside it has."""

    def make(folder: Path) -> object:
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        (folder / "agents.json").write_text(json.dumps(agents), encoding="utf-8")
        given = {"model": "openai/gpt-5", **options} | (
            {"agents": "agents.json"} if agents is not None else {}
        )
        return Flow.load(folder / "flow.json", format="agentron", **given)

    return files(make)


def nodes(*parts: Any, **more: Any) -> Stimulus:
    return loaded({"nodes": parts, **more})


def agents(*parts: Any, **more: Any) -> Stimulus:
    return loaded({"nodes": [A], "agents": parts, **more})


def warned(data: Any) -> Stimulus:
    """Run a workflow with an answer for each agent, and return what the run warns of."""

    def make() -> list[str]:
        with scripted("no", "no"):
            return [*flow_of(data).run_sync().warnings]

    return make


def with_edges(*parts: Any) -> Stimulus:
    return nodes(A, edges=parts)


def unmodelled(data: Any, **options: str) -> Stimulus:
    def make(folder: Path) -> object:
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        return Flow.load(folder / "flow.json", **options)

    return files(make)


# fmt: off
ROWS: Final = [
    Row("no mapping", loaded([1]), '1:1 is no workflow: expected a mapping with `nodes`, found a list of 1'),
    Row("nodes that are no list", loaded({"nodes": 1}), '1:2 nodes: expected a list, found 1'),
    Row("a node that is no mapping", nodes(1), '1:12 nodes[0]: expected a mapping, found 1'),
    Row("a node without id and type", nodes({}), "1:12 nodes[0]: has no `id`\n1:12 nodes[0]: has no `type`; choices: agent, wait_for_user"),
    Row("an unknown type", nodes({"id": "a", "type": "http"}), "1:24 nodes[0].type: node 'a': there is no type 'http'; choices: agent, wait_for_user"),
    Row("parameters that are no mapping", nodes({**A, "parameters": 1}), "1:41 nodes[0].parameters: node 'a': expected a mapping, found 1"),
    Row("an agent that is not named", nodes({"id": "a", "type": "agent", "config": {}}), "1:12 nodes[0]: node 'a': names no agent; write `agentId` or `agentName` in `config`"),
    Row("a node twice", nodes(A, A), "1:79 nodes[1].id: node 'a': has the id 'a' of nodes[0]; each id stands once"),
    Row("an id that is no text", nodes({**A, "id": 1}), "1:13 nodes[0].id: expected text, found 1"),
    Row("an id that means something", nodes({**A, "id": "$in"}), "1:12 nodes.$in: no node can be called '$in', which stands for the inputs of the flow"),
    Row("an edge without ends", with_edges({"id": "e"}), "1:89 edges[0]: edge 'e': has no `source`\n1:89 edges[0]: edge 'e': has no `target`"),
    Row("an edge that leads nowhere", with_edges({"id": "e", "from": "x", "to": "a"}, {"id": "f", "from": "a", "to": "y"}), "1:101 edges[0].from: edge 'e': leads from 'x', which is no node; choices: a\n1:151 edges[1].to: edge 'f': leads to 'y', which is no node; choices: a"),
    Row("an edge twice", with_edges({"id": "e", "from": "a", "to": "a"}, {"id": "e", "from": "a", "to": "a"}), "1:127 edges[1].id: edge 'e': has the id 'e' of edges[0]; each id stands once"),
    Row("a condition that is no mapping", with_edges({"id": "e", "from": "a", "to": "a", "condition": "yes"}), "1:125 edges[0].condition: edge 'e': expected a mapping with `type` and `value`, found 'yes'"),
    Row("rounds that are no number", nodes(A, maxRounds="3"), "1:79 maxRounds: expected a whole number, found '3'"),
    Row("an unknown mode", nodes(A, executionMode="manual"), "1:79 executionMode: there is no executionMode 'manual'; choices: continuous, interval, one_time"),
    Row("an interval without a schedule", nodes(A, executionMode="interval"), '1:1 an interval needs a schedule: a number of seconds, as "60", "daily@09:00" or "weekly@1,3,5" with Sunday = 0'),
    Row("a branch at intervals without a schedule", nodes(A, executionMode="interval", schedule="60", branches=[{"id": "w", "nodes": []}]), '1:139 branches[0]: an interval needs a schedule of its own, as that of the workflow does not count for branches: a number of seconds, as "60", "daily@09:00" or "weekly@1,3,5" with Sunday = 0'),
    Row("a schedule that is none", nodes(A, branches=[{**WATCH, "schedule": "5s"}]), '1:146 branches[0].schedule: expected a number of seconds, as "60", "daily@09:00" or "weekly@1,3,5" with Sunday = 0, found \'5s\''),
    Row("a delay that is none", nodes(A, branches=[{**WATCH, "executionMode": "continuous", "schedule": "daily@09:00"}]), '1:148 branches[0].schedule: expected the delay between runs as a number of seconds, as "60", found \'daily@09:00\''),
    Row("a branch without an id", nodes(A, branches=[{"nodes": []}]), "1:92 branches[0]: has no `id`"),
    Row("a branch twice", nodes(A, branches=[WATCH, WATCH]), "1:166 branches[1].id: branch 'w': has the id 'w' of branches[0]; each id stands once"),
    Row("an unknown branch", loaded({"nodes": [A], "branches": [WATCH]}, branch="x"), "1:79 branches: there is no branch 'x'; choices: w"),
    Row("a branch of a file that has none", loaded({"nodes": [A]}, branch="night"), "1:1 branches: there is no branch 'night'; the file has no branches"),
    Row("agents that nobody defines", unmodelled({"nodes": [A, {"id": "b", "type": "agent", "config": {"agentId": "1"}}]}), "1:12 nodes[0]: agents without a model: Ada of node 'a', 1 of node 'b'; write them as `agents` into the file or into the file of the option agents=FILE, each as {id, name, model, instructions, tools}, or give one model to all with the option model=provider/name"),
    Row("a model for all that is none", loaded({"nodes": [A]}, model="x"), "1:1 option model: expected provider/name, found 'x'"),
    Row("agents that are no list", loaded({"nodes": [A], "agents": 1}), '1:79 agents: expected a list, found 1'),
    Row("an agent that is none", agents(1), '1:90 agents[0]: expected a mapping, found 1'),
    Row("an agent without a name", agents({}), '1:90 agents[0]: has neither `id` nor `name`'),
    Row("an agent with an unknown model", agents({"name": "Ada", "model": "house"}), "1:106 agents[0].model: agent 'Ada': expected a model as provider/name, found 'house'"),
    Row("an agent with a name that is no text", agents({"id": "1", "name": 1}), "1:102 agents[0].name: agent '1': expected text, found 1"),
    Row("tools that are no list", agents({"name": "Ada", "tools": "x"}), "1:106 agents[0].tools: agent 'Ada': expected a list, found 'x'"),
    Row("an unknown tool", agents({"name": "Ada", "tools": ["std-http"]}), "1:116 agents[0].tools[0]: agent 'Ada': expected request_user_help, a function as module:name, or a server with `command` or `url`, found 'std-http'"),
    Row("a file of agents that is none", loaded({"nodes": [A]}, agents={"agents": [1, {"name": "Ada", "model": "house"}]}), "1:1 option agents: agents.json:1:13 agents[0]: expected a mapping, found 1\n1:1 option agents: agents.json:1:32 agents[1].model: agent 'Ada': expected a model as provider/name, found 'house'"),
    Row("no condition that holds", warned(workflow("ab", edge("a", "b", "yes"))), "node 'a': no condition held, so the first edge was followed, to 'b'"),
    Row("no file of agents", unmodelled({"nodes": [A]}, agents="nowhere.json"), '1:1 option agents: DIR/nowhere.json: cannot be read: No such file or directory'),
]
# fmt: on
