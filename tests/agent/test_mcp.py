# ruff: noqa: ASYNC110, ASYNC240, E501 - texts are compared whole, and what processes do is waited for
"""Real tool servers over standard input and output and HTTP: what they give, how they end (S10.6)."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import Flow, FlowInvalid, Image, RunFailed, Secret, SecretMissing, ToolCall, collect, each, node
from dataflow.stores import Store
from dataflow_agent import (
    Agent,
    ScriptedAnswer,
    ScriptedCall,
    ServerFailed,
    Toolbox,
    listed,
    mcp,
    scripted,
    sessions,
    tools,
)
from dataflow_agent.offering import Offer, OfferedServer
from dataflow_agent.offering import tools as offer
from dataflow_agent.server_results import Content
from tests.agent.agent_tools import add, told_of
from tests.processes import modules_after

SERVER: Final = str(Path(__file__).with_name("mcp_server.py"))
RAW_SERVER: Final = str(Path(__file__).with_name("raw_server.py"))
RAW: Final = mcp(sys.executable, RAW_SERVER, name="raw")
KEY: Final = "a-very-secret-key"

#: What is the same on both, once servers are called.
ON_ASYNCIO: Final = pytest.mark.parametrize("anyio_backend", ["asyncio"])

pytestmark = pytest.mark.timeout(60)


def serve(*options: str, **settings: Any) -> Toolbox:
    """Describe the server of the tests."""
    described: dict[str, Any] = {"name": "served", **settings}
    return mcp(sys.executable, SERVER, *options, **described)


def is_there(pid: int) -> bool:
    """Tell whether a process lives; a zombie, which nobody has waited for, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children() -> set[int]:
    """List the processes below this one that live."""
    found = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    below: set[int] = set()
    newly = {os.getpid()}
    while newly:
        newly = {int(pid) for pid, parent, name in rows if int(parent) in newly and name != "ps"} - below
        below |= newly
    return {pid for pid in below if is_there(pid)}


async def call(box: Toolbox, name: str, /, **arguments: Any) -> Content:
    """Call a tool by the name that models know."""
    return await told_of(ToolCall("c", name, json.dumps(arguments)), box)


async def until(box: Toolbox, name: str) -> None:
    """Wait until a tool that counts has counted something."""
    with anyio.fail_after(20):
        while await call(box, name) == "0":
            await anyio.sleep(0.01)


async def hang_until_cancelled(box: Toolbox) -> None:
    """Cancel a call that hangs, and wait until the server knows."""
    async with anyio.create_task_group() as group:
        group.start_soon(call, box, "hang")
        await until(box, "hanging")
        group.cancel_scope.cancel()
    await until(box, "cancelled")


@node
async def call_in_run(name: str, tools: Toolbox, arguments: dict[str, Any]) -> Content:
    return await call(tools, name, **arguments)


async def keep(tools: Toolbox, text: str) -> Toolbox:
    assert text
    return tools


@pytest.fixture
def address() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve over HTTP on the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start_http(port)
    yield f"http://127.0.0.1:{port}/mcp", process
    process.kill()
    process.wait()


def start_http(port: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, SERVER, str(port)])
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return process
    raise TimeoutError("the server does not answer")


class TestCalls:
    async def test_a_server_is_called_once_started_and_is_gone_afterwards(self) -> None:
        before, box = children(), serve()
        async with sessions(box):
            [pid] = {await call(box, "pid") for _ in range(3)}
            assert await call(box, "echo", text="hi") == "hi"
            assert is_there(int(str(pid)))
            assert await call(box, "free", free={"x": [1]}) == json.dumps({"x": [1]}, indent=2)
        assert not is_there(int(str(pid)))
        assert children() == before

    async def test_outside_of_a_run_it_is_opened_for_each_call(self) -> None:
        before, box = children(), serve()
        assert await call(box, "pid") != await call(box, "pid")
        assert children() == before

    async def test_an_error_result_is_an_error(self) -> None:
        box = serve()
        async with sessions(box):
            told = "error: tool 'fails' of server 'served' has failed: Error executing tool fails: no shelf for bears"
            assert await call(box, "fails") == told
            assert str(await call(box, "echo", txt="hi")).startswith(
                "error: tool 'echo' of server 'served' has"
            )

    async def test_images_stay_images(self) -> None:
        found = await call(serve(), "picture")
        assert isinstance(found, tuple)
        text, image = found
        assert text == "one pixel"
        assert isinstance(image, Image)
        assert (image.media_type, image.data[:4]) == ("image/png", b"\x89PNG")

    async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(self) -> None:
        box = serve(deadline=2)
        async with sessions(box):
            told = "error: tool 'hang' of server 'served' has not answered within 2 s; the call was cancelled"
            assert await call(box, "hang") == told
            await until(box, "cancelled")

    async def test_a_node_that_is_cancelled_cancels_its_call_and_no_others(self) -> None:
        box = serve()
        async with sessions(box):
            await hang_until_cancelled(box)

    async def test_only_the_variables_that_are_named_are_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NOT_NAMED", "something")
        monkeypatch.setenv("NAMED", ":0")
        box = serve(env={"GIVEN": Secret("THE_KEY", KEY), "SHORT": "NAMED"})
        async with sessions(box):
            assert await call(box, "variable", name="NOT_NAMED") == "(not set)"
            assert await call(box, "variable", name="SHORT") == ":0"
            assert await call(box, "variable", name="GIVEN") == KEY
        assert KEY not in repr(box)
        with pytest.raises(SecretMissing, match="NOT_THERE"):
            await listed(serve(env=["NOT_THERE"]))


class TestDeath:
    async def test_the_call_fails_at_once_and_the_next_has_a_new_process(self, tmp_path: Path) -> None:
        calls = tmp_path / "calls"
        calls.write_text("")
        box = serve(env={"CALLS": Secret("CALLS", str(calls))})
        async with sessions(box):
            first = await call(box, "pid")
            with anyio.fail_after(2):
                told = await call(box, "die")
            assert told == (
                "error: tool server 'served' has died during 'die', which is not called again: "
                "exit code 3; its last lines: nothing | to live for"
            )
            assert await call(box, "echo", text="hi") == "hi"
            assert await call(box, "pid") != first
        assert calls.read_text() == "die\n"

    async def test_other_calls_that_wait_are_told_as_well(self) -> None:
        box, told = serve(), []
        async with sessions(box), anyio.create_task_group() as group:

            async def wait() -> None:
                told.append(await call(box, "hang"))

            group.start_soon(wait)
            await until(box, "hanging")
            await call(box, "kill")
        assert "has died during 'hang', which is not called again: exit code -9" in str(told)

    async def test_what_a_server_has_started_ends_with_it(self) -> None:
        before, box = children(), serve()
        async with sessions(box):
            child = int(str(await call(box, "child")))
            assert is_there(child)
            await call(box, "kill")
            await call(box, "pid")
            assert not is_there(child)
            other = int(str(await call(box, "child")))
        assert not is_there(other)
        assert children() == before

    async def test_a_server_that_never_starts_fails_after_three_starts(self) -> None:
        with pytest.raises(ServerFailed) as caught:
            await listed(serve("--exit"))
        assert str(caught.value) == (
            "tool server 'served' could not be started: exit code 4; its last lines: no library found (3 starts)"
        )

    async def test_a_server_that_says_nothing_fails_in_its_time_and_is_killed(self) -> None:
        before = children()
        with pytest.raises(ServerFailed, match=r"tool server 'served' has not answered within 0\.5 s"):
            await listed(serve("--hang", connect_deadline=0.5))
        assert children() == before

    async def test_a_command_that_is_not_there_is_told(self) -> None:
        text = "tool server 'nowhere' cannot be started: No such file or directory: 'no-such-command'"
        with pytest.raises(ServerFailed) as caught:
            await listed(mcp("no-such-command", name="nowhere"))
        assert str(caught.value) == text

    async def test_lines_that_are_no_messages_are_warnings(self, caplog: pytest.LogCaptureFixture) -> None:
        box = serve("--rubbish")
        async with sessions(box):
            with caplog.at_level(logging.WARNING, "dataflow_agent.servers"):
                assert await call(box, "echo", text="hi") == "hi"
        shown = [record.getMessage() for record in caplog.records if record.name == "dataflow_agent.servers"]
        assert shown == [
            f"tool server 'served' wrote what is no message: {line!r}"
            for line in ("A banner", "of several", "lines")
        ]


class TestHttp:
    async def test_a_server_is_called_by_its_address(self, address: tuple[str, Any]) -> None:
        url, process = address
        box = mcp(url=url, name="far")
        async with sessions(box):
            assert await call(box, "echo", text="hi") == "hi"
            assert await call(box, "pid") == str(process.pid)
            assert str(await call(box, "fails")).startswith("error: tool 'fails' of server 'far' has failed")

    async def test_one_that_dies_fails_the_call_and_the_next_connects_again(
        self, address: tuple[str, Any]
    ) -> None:
        url, process = address
        port = int(url.split(":")[2].split("/")[0])
        box = mcp(url=url, name="far")
        async with sessions(box):
            await call(box, "pid")
            told: list[Content] = []
            async with anyio.create_task_group() as group:

                async def wait() -> None:
                    told.append(await call(box, "hang"))

                group.start_soon(wait)
                await until(box, "hanging")
                process.send_signal(signal.SIGKILL)
                with anyio.fail_after(2):
                    while not told:
                        await anyio.sleep(0.01)
            assert "tool server 'far' has died during 'hang'" in str(told[0])
            process.wait()
            other = await anyio.to_thread.run_sync(start_http, port)
            try:
                assert await call(box, "pid") == str(other.pid)
            finally:
                other.kill()
                other.wait()

    async def test_a_node_that_is_cancelled_cancels_its_call(self, address: tuple[str, Any]) -> None:
        box = mcp(url=address[0], name="far")
        async with sessions(box):
            await hang_until_cancelled(box)

    async def test_one_that_is_not_there_fails_after_three_tries(self) -> None:
        box = mcp(url="http://127.0.0.1:9/mcp", name="far")
        with pytest.raises(ServerFailed, match=r"tool server 'far' could not be reached at .*\(3 starts\)"):
            await listed(box)


class TestRaw:
    """A server that is written by hand, of the older protocol."""

    async def test_its_tools_come_in_pages_and_a_change_is_noticed(self) -> None:
        async with sessions(RAW):
            known = await listed(RAW)
            assert known.names == ("closes", "answers_nonsense", "grows", "is_unknown")
            assert known.specs()[0].parameters == {"type": "object", "properties": {}}
            assert await call(RAW, "grows") == ""
            assert (await listed(RAW)).names[-1] == "grown"

    async def test_an_answer_that_is_none_and_an_error_of_the_protocol_are_errors(self) -> None:
        async with sessions(RAW):
            told = str(await call(RAW, "answers_nonsense"))
            assert told.startswith(
                "error: tool 'answers_nonsense' of server 'raw' has an answer that does not fit"
            )
            told = str(await call(RAW, "is_unknown"))
            assert told.startswith(
                "error: tool 'is_unknown' of server 'raw' has failed: there is no tools/call"
            )
            assert (await listed(RAW)).names[0] == "closes"

    async def test_one_that_says_no_more_is_ended_and_started_anew(self) -> None:
        before = children()
        async with sessions(RAW):
            with anyio.fail_after(4):
                told = await call(RAW, "closes")
            assert str(told).startswith(
                "error: tool server 'raw' has died during 'closes', which is not called again"
            )
            assert await call(RAW, "grows") == ""
        assert children() == before

    async def test_one_without_tools_fails(self) -> None:
        with pytest.raises(
            ServerFailed, match="tool server 'raw' does not tell its tools: has failed: there is no"
        ):
            await listed(mcp(sys.executable, RAW_SERVER, "--no-tools", name="raw"))


class TestRuns:
    async def test_many_firings_share_one_process_that_ends_with_the_run(self) -> None:
        before, box = children(), serve()
        with Flow("pids") as flow:
            calls = flow.add(call_in_run, name=each(["pid"] * 20), tools=box, arguments={})
            flow.output("pids", collect(calls.out))
        found = (await flow.run())["pids"]
        assert len(found) == 20
        assert len({*found}) == 1
        assert children() == before

    async def test_a_cancelled_run_leaves_no_process(self) -> None:
        before = children()
        with Flow("hanging") as flow:
            flow.add(call_in_run, name="hang", tools=serve(), arguments={})
        with anyio.move_on_after(2):
            await flow.run()
        assert children() == before

    async def test_three_servers_and_ten_runs_at_once_share_three_processes(self) -> None:
        before, boxes = (
            children(),
            [serve(name=f"s{number}", env={"N": "HOME"} if number else {}) for number in (0, 1)],
        )
        boxes.append(serve("--many", name="s2"))
        with Flow("shared") as flow:
            found = []
            for box in boxes:
                calls = flow.add(call_in_run, name=each(["pid"] * 5), tools=box, arguments={})
                found.append(collect(calls.out))
            for number, pids in enumerate(found):
                flow.output(f"pids{number}", pids)
        seen: list[str] = []

        async def run() -> None:
            result = await flow.run()
            for number in range(3):
                seen.extend(result[f"pids{number}"])

        async with sessions(*boxes), anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(run)
        assert (len(seen), len({*seen})) == (150, 3)
        assert children() == before

    async def test_an_agent_calls_a_server_and_its_list_is_asked_for_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from dataflow_agent.server_connections import Connection

        asked: list[int] = []
        ask = Connection._listed

        async def counted(self: Connection) -> Any:
            asked.append(1)
            return await ask(self)

        monkeypatch.setattr(Connection, "_listed", counted)
        lead = Agent("lead", model="openai/gpt")
        with Flow("desk") as desk:
            found = desk.add(lead, prompt="hi", tools=tools(add, serve()))
            desk.output("text", found.out.text)
            desk.output("context", found.out.context)
        asks = [
            ScriptedAnswer(tool_calls=(ScriptedCall(name="echo", arguments={"text": f"{n}"}),))
            for n in range(4)
        ]
        shows = ScriptedAnswer(tool_calls=(ScriptedCall(name="picture", arguments={}),))
        with scripted(*asks, shows, "done") as script:
            result = await desk.using(store=Store.memory()).run()
        assert result["text"] == "done"
        results = [one.content for one in result["context"].message_history if one.role == "tool"]
        assert results[:4] == ["0", "1", "2", "3"]
        assert [type(part) for part in results[4]] == [str, Image]
        assert len(asked) == 1
        assert {spec.name for spec in script.requests[0].tools} >= {"add", "echo", "picture"}

    async def test_a_run_that_pauses_ends_the_server_and_starts_it_when_it_goes_on(self) -> None:
        before, lead = children(), Agent("lead", model="openai/gpt")
        with Flow("desk") as desk:
            found = desk.add(lead, prompt="hi", tools=serve(ask=["pid"]))
            desk.output("context", found.out.context)
        asks = ScriptedAnswer(tool_calls=(ScriptedCall(name="pid", arguments={}),))
        with scripted(asks, "done"):
            paused = await desk.run()
            assert paused.status == "paused"
            assert children() == before
            [ask] = paused.asks
            result = await desk.resume(paused, {ask.id: "allow"})
        [told] = [one.content for one in result["context"].message_history if one.role == "tool"]
        assert str(told).isdigit()
        assert children() == before

    async def test_a_server_that_does_not_start_fails_the_agent(self) -> None:
        with Flow("desk") as desk:
            desk.output(
                "text",
                desk.add(Agent("lead", model="openai/gpt"), prompt="hi", tools=serve("--exit")).out.text,
            )
        with scripted("never"), pytest.raises(RunFailed) as caught:
            await desk.run()
        [failure] = caught.value.failures
        assert (failure.path, failure.type) == ("lead/turn[0]/ask", "ServerFailed")

    async def test_a_description_is_read_again_from_a_store(self, tmp_path: Path) -> None:
        with Flow("kept") as flow:
            box = flow.input("box", Toolbox)
            asked = flow.ask(str, "And then?", name="then")
            flow.output("same", flow.add(keep, tools=box, text=asked.out).out)
        given = tools(add, serve(ask=["pid(a=*)"], env={"GIVEN": Secret("THE_KEY", KEY)}, deadline=3), RAW)
        path = tmp_path / "runs.db"
        paused = await flow.using(store=Store.sqlite(path)).run(box=given)
        result = await flow.using(store=Store.sqlite(path)).resume(paused.run_id, {"then": "go"})
        assert result["same"] == given

    async def test_secrets_are_in_no_store(self, tmp_path: Path) -> None:
        box = serve(env={"GIVEN": Secret("THE_KEY", KEY)})
        with Flow("kept") as flow:
            given = flow.input("box", Toolbox)
            flow.output(
                "value", flow.add(call_in_run, name="variable", tools=given, arguments={"name": "GIVEN"}).out
            )
            flow.output("box", given)
        store = Store.sqlite(tmp_path / "runs.db")
        result = await flow.using(store=store).run(box=box)
        assert (result["value"], result["box"]) == (KEY, box)
        for file in filter(Path.is_file, tmp_path.iterdir()):
            assert KEY.encode() not in file.read_bytes()


@ON_ASYNCIO
class TestNames:
    async def test_they_differ_are_legal_and_reach_each_tool(self) -> None:
        many, other = serve("--many", name="one"), serve("--many", name="two", env={"N": "HOME"})
        box = tools(many, other)
        async with sessions(box):
            known = await listed(box)
            searches = [name for name in known.names if "search" in name or "xxx" in name]
            assert len({*known.names}) == len(known.names)
            for name in searches:
                tool = known.tool(name)
                assert tool is not None
                assert await call(box, name) == tool.own_name
            assert {"one_search-a", "two_search-a", "one_search_a"} <= {*searches}
            assert all(len(name) <= 64 for name in known.names)
            assert {*(await listed(tools(other, many))).names} == {*known.names}

    async def test_schemas_are_of_objects_without_a_dialect(self) -> None:
        box = await listed(serve())
        for spec in box.specs():
            assert spec.parameters["type"] == "object"
            assert isinstance(spec.parameters["properties"], dict)
            assert "$schema" not in spec.parameters

    async def test_a_change_of_the_list_is_noticed(self) -> None:
        box = serve()
        async with sessions(box):
            assert "grown" not in (await listed(box)).names
            await call(box, "grow")
            with anyio.fail_after(5):
                while "grown" not in (await listed(box)).names:
                    await anyio.sleep(0.01)

    async def test_a_policy_is_of_the_names_at_the_server(self) -> None:
        box = await listed(serve(allow=["ec*", "pid"], deny=["pid"]))
        assert box.names == ("echo",)


@ON_ASYNCIO
class TestOffers:
    async def test_auto_are_all_and_a_list_picks_by_name(self) -> None:
        server = OfferedServer(command=[sys.executable, SERVER], name="served")
        functions = ["tests.agent.agent_tools:add", "tests.agent.agent_tools:weather"]
        everything = await offer(Offer(functions=functions, servers=[server]))
        assert everything.tool_names[:4] == ["add", "weather", "echo", "pid"]
        some = await offer(Offer(functions=functions, servers=[server], tools=["echo", "add"]))
        assert some.tool_names == ["add", "echo"]
        assert (await listed(some.tools)).names == ("add", "echo")
        with pytest.raises(
            FlowInvalid, match="no tool has the name 'ecko'; those that there are: add, weather, echo"
        ):
            await offer(Offer(functions=functions, servers=[server], tools=["ecko"]))

    async def test_a_picked_tool_brings_no_others_along(self) -> None:
        server = OfferedServer(command=[sys.executable, SERVER, "--many"], name="served")
        twice = [server, server.model_copy(update={"deadline": 5.0})]
        known = (await listed(Toolbox((server.described,)))).names
        for names in (["find_file"], [name for name in known if name.startswith("find_file_")][:1]):
            some = await offer(Offer(servers=twice, tools=names))
            assert some.tool_names == names
            assert (await listed(some.tools)).names == (*names,)

    async def test_a_document_has_servers(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("MY_KEY", KEY)
        document = {
            "dataflow": 1,
            "nodes": {
                "box": {
                    "type": "agent.tools",
                    "config": {
                        "servers": [
                            {"command": [sys.executable, SERVER], "env": {"KEY": "MY_KEY"}, "deny": ["die"]}
                        ],
                        "tools": ["echo", "variable"],
                    },
                },
                "lead": {
                    "type": "agent.agent",
                    "config": {"model": "openai/gpt"},
                    "inputs": {"tools": "box.tools"},
                    "values": {"prompt": "hi"},
                },
            },
            "outputs": {"names": "box.tool_names", "text": "lead.text"},
        }
        file = tmp_path / "desk.yaml"
        file.write_text(json.dumps(document))
        flow = Flow.load(file)
        assert KEY not in json.dumps(flow.to_dict())
        asks = ScriptedAnswer(tool_calls=(ScriptedCall(name="echo", arguments={"text": "hi"}),))
        with scripted(asks, "done"):
            result = await flow.run()
        assert (result["names"], result["text"]) == (["echo", "variable"], "done")


class TestDescriptions:
    @pytest.mark.parametrize(
        ("command", "settings", "text"),
        [
            ((), {}, "it has neither a command nor an address"),
            (("serve",), {"url": "http://here/mcp"}, "it has both a command and an address"),
            ((), {"url": "ftp://here"}, "its address begins with 'ftp'; expected http or https"),
            ((), {"url": "http://here", "env": ["HOME"]}, "it has an address and env"),
            (("serve",), {"env": {"KEY": "sk 12"}}, "the name of a secret consists of letters"),
            (("serve",), {"env": {"KEY": "sk-12"}}, "the variable 'KEY' is set to no name"),
            (("serve",), {"deadline": 0}, "its deadline is 0; expected seconds above 0"),
        ],
    )
    def test_what_describes_no_server_is_refused(self, command: Any, settings: Any, text: str) -> None:
        with pytest.raises(FlowInvalid, match=text) as caught:
            mcp(*command, **settings)
        assert "sk" not in str(caught.value)

    def test_equal_descriptions_are_equal_and_there_once(self) -> None:
        assert serve() == serve()
        assert tools(serve(), serve(), add).sources == tools(serve(), add).sources

    def test_a_server_has_a_name_of_its_command_or_address(self) -> None:
        described = [
            mcp("npx", "-y", "@org/server-files", "."),
            mcp("python", "desk.py"),
            mcp(url="https://a.b:8/m"),
        ]
        assert [box.servers[0].label for box in described] == ["server-files", "desk", "a.b:8"]

    def test_nothing_of_mcp_is_loaded_before_it_is_used(self) -> None:
        loaded = modules_after("from dataflow_agent import mcp, tools, sessions, listed; tools(mcp('serve'))")
        assert not {name for name in loaded if name.partition(".")[0] in ("mcp", "mcp_types")}

    async def test_without_mcp_that_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from dataflow_agent import mcp_loading

        monkeypatch.setattr(mcp_loading, "_loaded", [])
        monkeypatch.setitem(sys.modules, "mcp", None)
        with pytest.raises(ServerFailed, match=r"pip install 'dataflow-engine\[agent\]'"):
            await listed(serve())
