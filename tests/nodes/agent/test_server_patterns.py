"""Patterns that fit no call of a tool server, of which the run is warned (S10.6)."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

import pytest

from dataflow import Event, EventKind, Store
from dataflow_agent import Agent, listed, scripted, tools
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.servers.sessions import unmet_of
from tests.nodes.agent.agent_tools import calling, room
from tests.nodes.agent.serving import ON_ASYNCIO, odd

DENIES: Final = (
    "DF2209 tool server 'odd': the pattern 'dais' of `deny` does not match the name of any tool, and so it "
    "denies nothing; available: pid, is_full, is_silent, echo, dies, prints, pictures, naps, "
)


def told(tools: dict[str, dict[str, Any]], **policy: Any) -> list[str]:
    """Return what is told of the patterns of a server with tools of these schemas."""
    [server] = odd(**policy).servers
    known = tuple(
        ServerTool(server, name, "", json.dumps({"type": "object", "properties": {}, **schema}))
        for name, schema in tools.items()
    )
    return [*unmet_of(server, known)]


def test_a_pattern_of_no_tool_is_told_with_what_it_does_not_do() -> None:
    effects = {"allow": "allows nothing", "ask": "has nobody asked", "deny": "denies nothing"}
    for word, effect in effects.items():
        [text] = told({"read": {}, "write": {}}, **{word: ["raed", "write"]})
        assert text.startswith(f"DF2209 tool server 'odd': the pattern 'raed' of `{word}` ")
        assert text.endswith(f", and so it {effect}; available: read, write")
    [text] = told({}, deny=["*"])
    assert text.endswith("; none are available")
    [text] = unmet_of(Server(("serve",), name="mine", policy=odd(deny=["x"]).servers[0].policy), ())
    assert text.startswith("DF2209 tool server 'mine': the pattern 'x' of `deny`")


def test_a_pattern_of_arguments_that_no_tool_of_its_name_has_is_told() -> None:
    path: dict[str, Any] = {"properties": {"path": {"type": "string"}}}
    for pattern in ("read(paht=*)", "r*(path=a, mode=b)", "*(mode=b)"):
        [text] = told({"read": {**path, "additionalProperties": False}, "write": {}}, deny=[pattern])
        assert text.startswith("DF2210 tool server 'odd':")
        assert len(told({"read": path, "write": {}}, deny=[pattern])) == 1
    for pattern in ("read", "r*", "read(path=*)", "*(path=/etc/*)"):
        assert told({"read": path, "write": {}}, deny=[pattern], allow=[pattern]) == []
    open_schemas: list[Any] = [{"additionalProperties": True}, {"$ref": "#/$defs/a"}, {"anyOf": [{}]}]
    for schema in open_schemas:
        assert told({"read": schema}, deny=["read(mode=*)"]) == []


@ON_ASYNCIO
async def test_a_run_is_warned_once_though_it_lists_them_often() -> None:
    box = odd(deny=["dais"], ask=["pid"], allow=["*"])
    stored = room(Agent("lead", model="openai/gpt"), box, store=Store.memory())
    found: list[Event] = []
    with scripted(calling(("pid", {})), "done"):
        async with stored.start() as run:
            found += [event async for event in run.events() if event.kind is EventKind.WARNING]
            paused = await run
        assert paused.warnings == (DENIES,)
        [ask] = paused.asks
        result = await stored.resume(paused.run_id, {ask.id: "allow"})
    assert [(one.path, one.data) for one in found] == [
        ("lead/turn[0]/ask", {"code": "unmet_pattern", "text": DENIES})
    ]
    assert result.warnings == (DENIES,)


async def test_outside_of_a_run_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "dataflow.current"):
        await listed(tools(odd(deny=["dais"]), odd(deny=["dies"])))
    shown = [record.getMessage() for record in caplog.records if record.name == "dataflow.current"]
    assert shown == [f"{DENIES} (unmet_pattern)"]
