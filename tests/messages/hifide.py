# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is told of flows of HiFide that cannot be read, and of what runs otherwise than in the original."""

from __future__ import annotations

from typing import Any, Final

from tests.messages.telling import Row, Stimulus, foreign
from tests.nodes.formats.hifide.flows import edge, file_of, flow_of, node

loaded, reported = foreign("hifide")


def run(data: Any) -> Stimulus:
    return lambda: flow_of(data).run_sync()


def one(type: str, **config: Any) -> dict[str, Any]:
    return file_of([node("a", type, **config)])


U: Final = node("u", "userInput")
M: Final = node("m", "manualInput", message="hi")
S: Final = node("s", "defaultContextStart")
C: Final = node("c", "chat")

# fmt: off
ROWS: Final = [
    Row("no flow", loaded([])),
    Row("no nodes", loaded({"nodes": []})),
    Row("no node", loaded({"nodes": [1, {"id": ""}]})),
    Row("no type", loaded({"nodes": [{"id": "x"}]})),
    Row("an unknown type", loaded(one("budgetGuard"))),
    Row("no end of an edge", loaded({"nodes": [U], "edges": [{"source": "u"}]})),
    Row("an unknown port", loaded(file_of([U, C], "u c", "u.date c.data"))),
    Row("an unknown input", loaded(file_of([U, C], "u c", "u.data c.question"))),
    Row("a cache without data that is read", loaded(file_of([S, node("c", "cache"), node("d", "chat")], "s c", "c d", "c.data d.message"))),
    Row("a circle", loaded(file_of([M, node("a", "manualInput"), node("b", "manualInput")], "a.data b.data", "b.data a.data"))),
    Row("a chat that is told nothing", loaded(one("chat"))),
    Row("a chat whose conversation says nothing", run(file_of([S, C], "s c"))),
    Row("an unknown model", loaded(one("defaultContextStart", model="olive"))),
    Row("a router without data", loaded(one("intentRouter", routes={"x": ""}))),
    Row("a router without routes", loaded(file_of([M, node("r", "intentRouter")], "m.data r.data"))),
    Row("two routes of one name", loaded(file_of([M, node("r", "intentRouter", routes={"a b": "", "a-b": ""})], "m.data r.data"))),
    Row("a file outside", loaded(one("readFile", path="../x"))),
    Row("servers", loaded(one("tools"), servers="'")),
    Row("an edge that says otherwise", reported({"nodes": [U, C], "edges": [{**edge("u c"), "metadata": {"isContextEdge": False}}]})),
    Row("tools of the application", reported(one("tools"))),
    Row("a tool without a module", loaded(one("tools"), tools="json:dumps,shop")),
    Row("a tool that is not there", reported(one("tools", tools=["x"]))),
    Row("names of tools on data", reported(file_of([M, node("t", "tools")], "m.data t.data"), tools="json:dumps")),
    Row("a portal alone", reported(file_of([S, node("p", "portalInput", id="x")], "s p"))),
    Row("messages at the end", reported(one("injectMessages", injectionMode="append", staticUserMessage="x"))),
    Row("two chats at once of which one waits for the other's", reported(file_of([S, M, C, node("d", "chat"), node("e", "chat")], "s c", "m.data c.data", "s d", "m.data d.data", "c e", "d.result e.message"))),
    Row("two chats at once behind a cache", reported(file_of([S, M, node("k", "cache"), C, node("d", "chat")], "s k", "m.data k.data", "k c", "m.data c.data", "k d", "m.data d.data"))),
    Row("two chats at once in a loop", reported(file_of([S, U, C, node("d", "chat")], "s u", "u c", "u d", "c u"))),
]
# fmt: on
