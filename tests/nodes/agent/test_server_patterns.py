"""Patterns that fit no call of a tool server, of which the run is warned (S10.6)."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Event, EventKind, Flow, Store
from dataflow_agent import Agent, ScriptedAnswer, ScriptedCall, Toolbox, listed, mcp, scripted, tools
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.servers.sessions import unmet_of
from tests.nodes.agent.serving import ON_ASYNCIO

ODD: Final = str(Path(__file__).with_name("odd_server.py"))
DENIES: Final = (
    "DF2209 tool server 'odd': the pattern 'dais' of `deny` does not match the name of any tool, and so it "
    "denies nothing; available: pid, is_full, is_silent, echo, dies, prints, pictures, naps, "
)


def odd(**policy: Any) -> Toolbox:
    return mcp(sys.executable, ODD, name="odd", **policy)


def told(tools: dict[str, dict[str, Any]], **policy: Any) -> list[str]:
    """Return what is told of the patterns of a server with tools of these schemas."""
    [server] = odd(**policy).servers
    known = tuple(
        ServerTool(server, name, "", json.dumps({"type": "object", "properties": {}, **schema}))
        for name, schema in tools.items()
    )
    return [*unmet_of(server, known)]


TAKES_PATH: Final = {"properties": {"path": {"type": "string"}}}


class TestTold:
    def test_a_pattern_of_no_tool_is_told_with_what_it_does_not_do(self) -> None:
        for word, effect in (
            ("allow", "allows nothing"),
            ("ask", "has nobody asked"),
            ("deny", "denies nothing"),
        ):
            [text] = told({"read": {}, "write": {}}, **{word: ["raed", "write"]})
            assert text.startswith(f"DF2209 tool server 'odd': the pattern 'raed' of `{word}` ")
            assert text.endswith(f", and so it {effect}; available: read, write")
        [text] = told({}, deny=["*"])
        assert text.endswith("; none are available")

    def test_a_pattern_of_arguments_that_no_tool_of_its_name_has_is_told(self) -> None:
        for pattern in ("read(paht=*)", "r*(path=a, mode=b)", "*(mode=b)"):
            [text] = told({"read": TAKES_PATH, "write": {}}, deny=[pattern])
            assert text.startswith("DF2210 tool server 'odd':")

    def test_a_pattern_that_may_fit_a_call_is_not_told(self) -> None:
        for pattern in ("read", "r*", "read(path=*)", "*(path=/etc/*)"):
            assert told({"read": TAKES_PATH, "write": {}}, deny=[pattern], allow=[pattern]) == []

    def test_a_tool_that_may_take_any_argument_has_those_of_all_patterns(self) -> None:
        cases: list[Any] = [{"additionalProperties": True}, {"$ref": "#/$defs/a"}, {"anyOf": [{}]}]
        for schema in cases:
            assert told({"read": schema}, deny=["read(mode=*)"]) == []

    def test_a_tool_that_takes_no_others_has_no_others(self) -> None:
        assert len(told({"read": {**TAKES_PATH, "additionalProperties": False}}, deny=["read(mode=*)"])) == 1


class TestWarned:
    @ON_ASYNCIO
    async def test_a_run_is_warned_once_though_it_lists_them_often(self) -> None:
        with Flow("desk") as desk:
            lead = Agent("lead", model="openai/gpt")
            step = desk.add(lead, prompt="hi", tools=odd(deny=["dais"], ask=["pid"], allow=["*"]))
            desk.output("text", step.out.text)
        stored = desk.using(store=Store.memory())
        asks = ScriptedAnswer(tool_calls=(ScriptedCall(name="pid", arguments={}),))
        found: list[Event] = []
        with scripted(asks, "done"):
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

    async def test_outside_of_a_run_the_log_has_it(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING, "dataflow.current"):
            await listed(tools(odd(deny=["dais"]), odd(deny=["dies"])))
        shown = [record.getMessage() for record in caplog.records if record.name == "dataflow.current"]
        assert shown == [f"{DENIES} (unmet_pattern)"]

    def test_a_description_has_its_own_name(self) -> None:
        [text] = unmet_of(Server(("serve",), name="mine", policy=odd(deny=["x"]).servers[0].policy), ())
        assert text.startswith("DF2209 tool server 'mine': the pattern 'x' of `deny`")
