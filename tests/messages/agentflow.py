# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is told of workflows of AgentFlow that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from tests.messages.saving import files
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]

S: Final = {"id": "s", "type": "start"}
A: Final = {"id": "a", "type": "agent", "data": {"tools": {"subagents": True}}}
B: Final = {"id": "b", "type": "agent"}
SUB: Final = {"sourceHandle": "subagent"}


def loaded(data: Any, **options: str) -> Stimulus:
    def make(folder: Path) -> object:
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        return Flow.load(folder / "flow.json", format="agentflow", **options)

    return files(make)


def nodes(*parts: Any) -> Stimulus:
    return loaded({"connections": [], "nodes": [S, *parts]})


def node(type: str, **data: Any) -> Stimulus:
    return nodes({"id": "a", "type": type, "data": data})


def edges(*parts: Any) -> Stimulus:
    return loaded({"nodes": [S, A, B], "connections": parts})


def below(source: str, target: str, *others: Any, **more: Any) -> Stimulus:
    return edges({"source": source, "target": target, **SUB, **more}, *others)


def warned(data: Any) -> Stimulus:
    """Run a workflow, and return what the run warns of."""

    def make(folder: Path) -> list[str]:
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        return [*Flow.load(folder / "flow.json", format="agentflow").run_sync().warnings]

    return files(make)


# fmt: off
ROWS: Final = [
    Row("no mapping", loaded([1]), '1:1 is no workflow: expected a mapping with `nodes` and `connections`, found a list of 1'),
    Row("no connections", loaded({"nodes": [S]}), "1:1 has no `connections`"),
    Row("a node that is no mapping", nodes(1), '1:61 nodes[1]: expected a mapping, found 1'),
    Row("a node without id and type", nodes({}), "1:61 nodes[1]: has no `id`\n1:61 nodes[1]: has no `type`; choices: start, agent, if, approval"),
    Row("an unknown type", nodes({"id": "a", "type": "http"}), "1:73 nodes[1].type: node 'a': there is no type 'http'; choices: agent, approval, if, start"),
    Row("data that are no mapping", nodes({"id": "a", "type": "if", "data": 1}), "1:87 nodes[1].data: node 'a': expected a mapping, found 1"),
    Row("a node twice", nodes(A, A), "1:132 nodes[2].id: node 'a': has the id 'a' of nodes[1]; each id stands once"),
    Row("no start", loaded({"nodes": [A], "connections": []}), '1:2 nodes: there is no start; expected exactly one node of type start'),
    Row("two starts", nodes({"id": "t", "type": "start"}), "1:61 nodes[1]: node 't' is a second start beside 's'; expected exactly one"),
    Row("an exit that leads nowhere", warned({"nodes": [S, {"id": "i", "type": "if"}], "connections": [{"source": "s", "target": "i"}]}), "node 'i': no connection leaves 'false', so the path ends there"),
    Row("an id that is no text", nodes({"id": 1, "type": "agent"}), "1:62 nodes[1].id: expected text, found 1"),
    Row("a prompt that is no text", node("agent", userPrompt=1), "1:99 nodes[1].data.userPrompt: node 'a': expected text, found 1"),
    Row("a model that nobody knows", node("agent", model="house"), "1:99 nodes[1].data.model: node 'a': expected a model as provider/name, found 'house'"),
    Row("an effort that nobody knows", node("agent", reasoningEffort="most"), "1:99 nodes[1].data.reasoningEffort: node 'a': there is no reasoningEffort 'most'; choices: high, low, medium, minimal, none"),
    Row("tools that are no mapping", node("agent", tools=["web_search"]), "1:99 nodes[1].data.tools: node 'a': expected a mapping with `web_search` and `subagents`, found a list of 1"),
    Row("a tool that is no word", node("agent", tools={"web_search": "yes"}), "1:109 nodes[1].data.tools.web_search: node 'a': expected true or false, found 'yes'"),
    Row("conditions that are no list", node("if", conditions={}), "1:96 nodes[1].data.conditions: node 'a': expected a list, found an empty mapping"),
    Row("a condition that is no mapping", node("if", conditions=["x"]), "1:111 nodes[1].data.conditions[0]: node 'a': expected a mapping with `operator` and `value`, found 'x'"),
    Row("an unknown operator", node("if", conditions=[{"operator": "like", "value": "x"}]), "1:112 nodes[1].data.conditions[0].operator: node 'a': there is no operator 'like'; choices: contains, equal"),
    Row("a connection without ends", edges({}), "1:159 connections[0]: has no `source`\n1:159 connections[0]: has no `target`"),
    Row("a connection that leads nowhere", edges({"source": "x", "target": "y"}), "1:160 connections[0].source: leads from 'x', which is no node; choices: a, b, s\n1:175 connections[0].target: leads to 'y', which is no node; choices: a, b, s"),
    Row("an unknown way to join", loaded({"nodes": [S], "connections": []}, joins="all"), "1:1 option joins: there is no 'all'; choices: each, once"),
    Row("a run for each arrival in a loop", edges({"source": "s", "target": "a"}, {"source": "a", "target": "b"}, {"source": "a", "target": "b"}, {"source": "b", "target": "a"}), "1:112 nodes[2]: node 'b' cannot run once for each arrival: it is part of a loop; load the file with joins=once"),
    Row("a subagent of no agent", below("s", "a"), "1:159 connections[0]: subagent 'a' of node 's': the node above is of type 'start'; expected an agent"),
    Row("a subagent that is no agent", below("a", "s"), "1:159 connections[0]: subagent 's' of node 'a': it is of type 'start'; expected an agent"),
    Row("a subagent of an agent without any", below("b", "a"), "1:159 connections[0]: subagent 'a' of node 'b': the agent above may have none; expected `tools.subagents: true` there"),
    Row("a subagent at another handle", below("a", "b", targetHandle="tools"), "1:159 connections[0]: subagent 'b' of node 'a': the edge leads to the handle 'tools'; expected `input`, or none"),
    Row("a subagent of itself", below("a", "a"), "1:159 connections[0]: subagent 'a' of node 'a': it is its own"),
    Row("a subagent of two", loaded({"nodes": [S, A, {**A, "id": "c"}, B], "connections": [{"source": "a", "target": "b", **SUB}, {"source": "c", "target": "b", **SUB}]}), "1:289 connections[1]: subagent 'b' of node 'c': it is one of node 'a' already; expected one agent above it"),
    Row("a subagent that runs too", below("a", "b", {"source": "s", "target": "b"}), "1:159 connections[0]: subagent 'b' of node 'a': other connections lead to it or from it; expected that it only serves as a tool"),
    Row("a subagent below itself", loaded({"nodes": [S, A, {**A, "id": "c"}], "connections": [{"source": "a", "target": "c", **SUB}, {"source": "c", "target": "a", **SUB}]}), "1:199 connections[0]: subagent 'c' of node 'a': it is below itself: a > c > a"),
    Row("tangled: several begin a round", loaded({"nodes": [S, A, B, {**B, "id": "c"}], "connections": [{"source": one, "target": two} for one, two in ("sa", "ab", "ac", "ba", "ca")]}), "1:42 nodes[1]: node 'a' cannot run once for each arrival: several connections can begin a new round of its loop; load the file with joins=once"),
    Row("tangled: a loop leads to two", loaded({"nodes": [S, A, B], "connections": [{"source": one, "target": two} for one, two in ("sa", "aa", "ab", "sb")]}), "1:112 nodes[2]: node 'b' cannot run once for each arrival: a loop that goes on leads to it; load the file with joins=once"),
]
# fmt: on
