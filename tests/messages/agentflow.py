# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is reported about workflows of AgentFlow that cannot be read, or mean something else here."""

from __future__ import annotations

from typing import Any, Final

from tests.messages.telling import Row, Stimulus, foreign
from tests.nodes.formats.agentflow.flowing import approval, flow_of, if_, start, workflow

S: Final = {"id": "s", "type": "start"}
A: Final = {"id": "a", "type": "agent", "data": {"tools": {"subagents": True}}}
B: Final = {"id": "b", "type": "agent"}
DIAMOND: Final = workflow([start(), "a", "b", "j"], "s>a s>b a>j b>j")
SUB: Final = {"sourceHandle": "subagent"}


loaded, reported = foreign("agentflow")


def nodes(*parts: Any) -> Stimulus:
    return loaded({"connections": [], "nodes": [S, *parts]})


def node(type: str, **data: Any) -> Stimulus:
    return nodes({"id": "a", "type": type, "data": data})


def edges(*parts: Any) -> Stimulus:
    return loaded({"nodes": [S, A, B], "connections": parts})


def below(source: str, target: str, *others: Any, **more: Any) -> Stimulus:
    return edges({"source": source, "target": target, **SUB, **more}, *others)


def warned(data: Any) -> Stimulus:
    return lambda: [*flow_of(data).run_sync().warnings]


# fmt: off
ROWS: Final = [
    Row("remark: several arrivals", reported(DIAMOND)),
    Row("remark: several arrivals at once", reported(DIAMOND, joins="once")),
    Row("remark: a loop without a limit", reported(workflow([start(), if_("i", ("equal", "x"))], "s>i i.false>i"))),
    Row("remark: an exit that does not exist", reported(workflow([start(), if_("i"), "a"], "s>i i.condition-3>a"))),
    Row("remark: an approval beside others", reported(workflow([start(), approval("p"), "a"], "s>p s>a"))),
    Row("remark: a loop that is entered at two nodes", reported(workflow([start(), *"ab"], "s>a s>b a>b b>a"))),
    Row("no mapping", loaded([1])),
    Row("data that are no mapping", nodes({"id": "a", "type": "if", "data": 1})),
    Row("an id that is no text", nodes({"id": 1, "type": "agent"})),
    Row("no connections", loaded({"nodes": [S]})),
    Row("an unknown type", nodes({"id": "a", "type": "http"})),
    Row("a node twice", nodes(A, A)),
    Row("no start", loaded({"nodes": [A], "connections": []})),
    Row("two starts", nodes({"id": "t", "type": "start"})),
    Row("an exit that leads nowhere", warned({"nodes": [S, {"id": "i", "type": "if"}], "connections": [{"source": "s", "target": "i"}]})),
    Row("a model that nobody knows", node("agent", model="house")),
    Row("an effort that nobody knows", node("agent", reasoningEffort="most")),
    Row("a tool that is no word", node("agent", tools={"web_search": "yes"})),
    Row("conditions that are no list", node("if", conditions={})),
    Row("an unknown operator", node("if", conditions=[{"operator": "like", "value": "x"}])),
    Row("a connection that leads nowhere", edges({"source": "x", "target": "y"})),
    Row("an unknown way to join", loaded({"nodes": [S], "connections": []}, joins="all")),
    Row("a run for each arrival in a loop", edges({"source": "s", "target": "a"}, {"source": "a", "target": "b"}, {"source": "a", "target": "b"}, {"source": "b", "target": "a"})),
    Row("a subagent of no agent", below("s", "a")),
    Row("a subagent of an agent without any", below("b", "a")),
    Row("a subagent at another handle", below("a", "b", targetHandle="tools")),
    Row("a subagent of itself", below("a", "a")),
    Row("a subagent of two", loaded({"nodes": [S, A, {**A, "id": "c"}, B], "connections": [{"source": "a", "target": "b", **SUB}, {"source": "c", "target": "b", **SUB}]})),
    Row("a subagent that runs too", below("a", "b", {"source": "s", "target": "b"})),
    Row("a subagent below itself", loaded({"nodes": [S, A, {**A, "id": "c"}], "connections": [{"source": "a", "target": "c", **SUB}, {"source": "c", "target": "a", **SUB}]})),
    Row("tangled: several begin a round", loaded({"nodes": [S, A, B, {**B, "id": "c"}], "connections": [{"source": one, "target": two} for one, two in ("sa", "ab", "ac", "ba", "ca")]})),
    Row("tangled: a loop leads to two", loaded({"nodes": [S, A, B], "connections": [{"source": one, "target": two} for one, two in ("sa", "aa", "ab", "sb")]})),
]
# fmt: on
