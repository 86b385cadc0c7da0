"""F-A06, F-C19, F-R05: what a tool server sends has bounds, and its log is one line and a count."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import Flow, RunFailed
from dataflow_agent import (
    Agent,
    ScriptedAnswer,
    ScriptedCall,
    ServerFailed,
    Toolbox,
    ToolFailed,
    call_server_tool,
    listed,
    mcp,
    scripted,
    sessions,
    tools,
)
from dataflow_agent.servers import process
from tests.nodes.agent import agent_tools
from tests.nodes.agent.far_server import serving_far

BODY: Final = """
import json, sys, time
mode = sys.argv[1]
def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
if mode == "typed":
    number = {"type": "integer", "minimum": 3, **json.loads(sys.argv[2])}
    TOOL["inputSchema"] |= {"properties": {"n": number}, "$schema": "http://json-schema.org/draft-07/schema#"}
pages = 0
if mode == "line at once":
    while True: sys.stdout.write("x" * 100_000)
if mode == "odd lines":
    sys.stdout.write("no message\\n" * 5_000)
if mode == "error line":
    for _ in range(300): sys.stderr.write("x" * 1_000)
    sys.stderr.write("\\nthe end\\n")
    sys.stderr.flush()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    method, result = asked["method"], {}
    if method == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "case", "version": "1"}}
    elif method == "tools/list":
        pages += 1
        result = {"tools": [] if mode == "no tools" else [TOOL | {"name": f"echo{pages}"}]}
        cursors = {"again": "again", "turns": str(pages % 3), "others": str(pages), "no tools": str(pages)}
        if mode == "huge":
            tools = [TOOL | {"name": f"echo{pages}_{n}"} for n in range(3_000)]
            result = {"tools": tools, "nextCursor": str(pages)}
        elif mode in cursors:
            result["nextCursor"] = cursors[mode]
        elif mode == "slow pages":
            time.sleep(0.2)
            result["nextCursor"] = str(pages)
        elif mode == "few" and pages < 3:
            result["nextCursor"] = str(pages)
    elif method == "tools/call" and mode == "line in call":
        while True: sys.stdout.write("x" * 100_000)
    elif method == "tools/call" and mode == "typed":
        result = {"content": [{"type": "text", "text": json.dumps(asked["params"]["arguments"])}]}
    elif method == "tools/call" and mode == "error line":
        sys.exit(3)
    say(id=asked["id"], result=result)
"""


@pytest.fixture
def served(tmp_path: Path) -> Any:
    file = tmp_path / "server.py"
    file.write_text(BODY)

    def box(mode: str, *more: str, **settings: Any) -> Toolbox:
        return mcp(sys.executable, str(file), mode, *more, name="case", **settings)

    return box


async def test_a_list_that_does_not_end_is_a_failure_of_the_server(
    served: Any, subtests: pytest.Subtests
) -> None:
    cases = [
        ("again", "DF2236"),
        ("turns", "DF2236"),
        ("others", "DF2236"),
        ("no tools", "DF2236"),
        ("huge", "DF2236"),
    ]
    for mode, code in cases:
        with subtests.test(mode), anyio.fail_after(60), pytest.raises(ServerFailed) as caught:
            await listed(served(mode))
        assert caught.value.problem.kind.code == code
        assert caught.value.is_lasting
    box = served("again")
    async with sessions(box):
        with pytest.raises(ServerFailed, match="DF2236"):
            await listed(box)
    with Flow("lead") as flow, scripted("done"):
        flow.output("text", flow.add(Agent("lead", model="a/b"), prompt="p", tools=served("again")).out.text)
        with pytest.raises(RunFailed, match="DF2236"):
            await flow.run()


async def test_a_list_ends_within_the_connect_deadline(served: Any) -> None:
    with anyio.fail_after(60), pytest.raises(ServerFailed) as caught:
        await listed(served("slow pages", connect_deadline=3))
    assert "3 s" in str(caught.value)


async def test_a_list_of_several_pages_is_whole(served: Any) -> None:
    assert (await listed(served("few"))).names == ("echo1", "echo2", "echo3")


async def test_a_line_without_an_end_is_a_failure_of_the_server(served: Any) -> None:
    with anyio.fail_after(120), pytest.raises(ServerFailed) as caught:
        await listed(served("line at once", connect_deadline=100))
    assert (caught.value.problem.kind.code, caught.value.is_lasting) == ("DF2237", True)
    with anyio.fail_after(60), pytest.raises(ServerFailed, match="more than 50 bytes"):
        await listed(served("few", max_message=50))
    with anyio.fail_after(120), pytest.raises(ServerFailed):
        await call_server_tool(served("line in call"), "echo1", {})


async def test_what_an_address_sends_has_the_same_bounds(subtests: pytest.Subtests) -> None:
    cases = {"is_huge": "DF2237", "streams_huge": "DF2237", "is_packed": "DF2238"}
    with serving_far() as far:
        box = mcp(url=far.url, name="case")
        async with sessions(box):
            for tool, code in cases.items():
                with subtests.test(tool), anyio.fail_after(60), pytest.raises(ServerFailed) as caught:
                    await call_server_tool(box, tool, {})
                assert (caught.value.problem.kind.code, caught.value.is_lasting) == (code, True)
                assert (await call_server_tool(box, "hears", {})).text == "nothing"  # in a new session
        with anyio.fail_after(60):
            assert (await call_server_tool(mcp(url=far.url, max_message=2**25), "is_huge", {})).text
            with pytest.raises(ServerFailed, match="more than 99 bytes"):
                await listed(mcp(url=far.url, max_message=99))


async def test_lines_that_are_no_messages_are_one_warning_and_a_count(
    served: Any, caplog: pytest.LogCaptureFixture
) -> None:
    box = served("odd lines")
    with caplog.at_level(logging.WARNING):
        async with sessions(box):
            assert (await listed(box)).names == ("echo1",)
    found = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert {record.name for record in found} == {"dataflow.agent.servers"}
    assert len(found) == 2
    assert found[1].args == ("case", 5_000)


async def test_arguments_are_checked_by_the_schema_of_the_server_before_they_are_sent(served: Any) -> None:
    """F-C19: the one validator checks them; by a schema that it cannot check they are sent as they are."""
    box = served("typed", "{}")
    async with sessions(box):
        assert (await call_server_tool(box, "echo1", {"n": 3.0})).text == '{"n": 3.0}'
        for unfit in ({"n": 2}, {"n": "3"}, {"n": 3.5}):
            with pytest.raises(ToolFailed) as failed:
                await call_server_tool(box, "echo1", unfit)
            assert failed.value.problem.kind.code == "DF2240"
    with pytest.raises(ToolFailed, match="DF2240"):
        await call_server_tool(tools(agent_tools.add), "add", {"a": "one", "b": 2})  # a function's, too
    calls = [ScriptedCall(name="echo1", arguments={"n": n}) for n in (2, 4)]
    for more, results, codes in (
        ("{}", ["error: the arguments do not fit", '{"n": 4}'], []),
        ('{"format": "uint32"}', ['{"n": 2}', '{"n": 4}'], ["DF2239"]),
    ):
        with Flow("lead") as flow, scripted(ScriptedAnswer(tool_calls=tuple(calls)), "done"):
            lead = flow.add(Agent("lead", model="a/b"), prompt="p", tools=served("typed", more)).out
            flow.output("context", lead.context)
            result = await flow.run()
        messages = [one.content for one in result["context"].message_history if one.role == "tool"]
        assert [found.startswith(text) for text, found in zip(results, messages, strict=True)] == [True, True]
        assert [one.split(" ")[0] for one in result.warnings] == codes


async def test_a_long_line_of_errors_is_left_out(served: Any) -> None:
    box = served("error line")
    async with sessions(box):
        tools = await listed(box)
        assert tools.names == ("echo1",)
    lines = process._Lines()
    for _ in range(10):
        assert lines.of(b"x" * process.MOST_LINE) == []
        if lines.size > process.MOST_LINE:
            lines.leave_out(b"[left out]")
        assert lines.size <= process.MOST_LINE
    assert lines.of(b"x\nrest") == [b"[left out]"]
    assert lines.rest == b"rest"


def test_loggers_are_below_the_engine() -> None:
    assert process.LOG.name.startswith("dataflow.")
