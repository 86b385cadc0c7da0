# ruff: noqa: ASYNC240 - texts are compared whole, and what processes do is waited for
"""Real tool servers: who shares a process, calls and their results, what is refused (S10.6, B39, B41)."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import anyio
import pytest

from dataflow import (
    Event,
    EventKind,
    Flow,
    FlowInvalid,
    Image,
    RunFailed,
    Secret,
    Store,
    Tools,
    collect,
    each,
    node,
)
from dataflow_agent import (
    Agent,
    CallTool,
    Toolbox,
    ToolFailed,
    call_tool,
    listed,
    mcp,
    scripted,
    sessions,
    tools,
)
from dataflow_agent.servers.connection import ToolList
from dataflow_agent.servers.offers import Offer, OfferedServer
from dataflow_agent.servers.offers import tools as offer
from dataflow_agent.servers.results import Content, content_of
from dataflow_agent.servers.server import ServerTool
from dataflow_agent.servers.sessions import unmet_of
from tests.nodes.agent.agent_tools import add, calling, results, room
from tests.nodes.agent.serving import (
    KEY,
    ON_ASYNCIO,
    RAW,
    SERVER,
    call,
    children,
    hang_until_cancelled,
    is_there,
    odd,
    serve,
    until,
)

lead = Agent("lead", model="openai/gpt")
BOXES: Final = [serve(name=f"s{number}", env={"N": "HOME"} if number == 1 else {}) for number in range(2)]
THREE: Final = [*BOXES, serve("--many", name="s2")]


async def pid(number: int) -> int:
    return int(str(await call(THREE[number], "pid")))


@node
async def call_in_run(name: str, tools: Toolbox, arguments: dict[str, Any]) -> Content:
    return await call(tools, name, **arguments)


async def keep(tools: Toolbox, text: str) -> Toolbox:
    assert text
    return tools


class TestRuns:
    async def test_a_cancelled_run_leaves_no_process(self) -> None:
        before = children()
        with Flow("hanging") as flow:
            flow.add(call_in_run, name="hang", tools=serve(), arguments={})
        with anyio.move_on_after(2):
            await flow.run()
        assert children() == before

    async def test_many_firings_share_a_process_that_ends_with_the_run_or_the_block_around_it(self) -> None:
        before = children()
        with Flow("shared") as flow:
            numbers = flow.add(pid, number=each([0, 1, 2, 2, 1, 0]))
            flow.output("pids", collect(numbers.out))
        first: Any = (await flow.run())["pids"]
        assert (first[:3], len({*first})) == (first[:2:-1], 3)
        assert children() == before
        seen: list[int] = []

        async def run() -> None:
            seen.extend((await flow.run())["pids"])

        async with sessions(*THREE), anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(run)
        assert (len(seen), len({*seen})) == (60, 3)
        assert children() == before

    async def test_an_agent_calls_a_server_and_its_list_is_asked_for_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[int] = []
        ask = ToolList.asked

        async def counted(self: ToolList, client: Any) -> Any:
            asked.append(1)
            return await ask(self, client)

        monkeypatch.setattr(ToolList, "asked", counted)
        asks = [calling(("echo", {"text": f"{n}"})) for n in range(4)]
        with scripted(*asks, calling(("picture", {})), "done") as script:
            result = await room(lead, tools(add, serve()), store=Store.memory()).run()
        found = results(result["context"])
        assert (result["text"], found[:4]) == ("done", ["0", "1", "2", "3"])
        assert [type(part) for part in found[4]] == [str, Image]
        assert len(asked) == 1
        assert {spec.name for spec in script.requests[0].tools} >= {"add", "echo", "picture"}

    async def test_a_run_that_pauses_ends_the_server_and_starts_it_when_it_goes_on(self) -> None:
        before, desk = children(), room(lead, serve(ask=["pid"]))
        with scripted(calling(("pid", {})), "done"):
            paused = await desk.run()
            assert children() == before
            [ask] = paused.asks
            result = await desk.resume(paused, {ask.id: "allow"})
        [told] = results(result["context"])
        assert str(told).isdigit()
        assert children() == before

    async def test_a_server_that_does_not_start_fails_the_agent(self) -> None:
        with scripted("never"), pytest.raises(RunFailed) as caught:
            await room(lead, serve("--exit")).run()
        [failure] = caught.value.failures
        assert (failure.path, failure.type) == ("lead/turn[0]/ask", "ServerFailed")

    async def test_a_description_is_read_again_from_a_store_and_secrets_are_in_none(
        self, tmp_path: Path
    ) -> None:
        with Flow("kept") as flow:
            box = flow.input("box", Toolbox)
            asked = flow.ask(str, "And then?", name="then")
            flow.output("same", flow.add(keep, tools=box, text=asked.out).out)
            called = flow.add(call_in_run, name="variable", tools=box, arguments={"name": "GIVEN"})
            flow.output("value", called.out)
        given = tools(
            add, serve(allow=["*"], ask=["pid(a=*)"], env={"GIVEN": Secret("THE_KEY", KEY)}, deadline=3), RAW
        )
        path = tmp_path / "runs.db"
        paused = await flow.using(store=Store.sqlite(path)).run(box=given)
        result = await flow.using(store=Store.sqlite(path)).resume(paused.run_id, {"then": "go"})
        assert (result["same"], result["value"]) == (given, KEY)
        for file in filter(Path.is_file, tmp_path.iterdir()):
            assert KEY.encode() not in file.read_bytes()


@ON_ASYNCIO
class TestOffers:
    async def test_auto_are_all_and_a_list_picks_by_name(self) -> None:
        server = OfferedServer(command=[sys.executable, SERVER], name="served")
        functions = ["tests.nodes.agent.agent_tools:add", "tests.nodes.agent.agent_tools:weather"]
        everything = await offer(Offer(functions=functions, servers=[server]))
        assert everything.tool_names[:4] == ["add", "weather", "echo", "pid"]
        some = await offer(Offer(functions=functions, servers=[server], tools=["echo", "add"]))
        assert some.tool_names == ["add", "echo"]
        assert (await listed(some.tools)).names == ("add", "echo")
        with pytest.raises(FlowInvalid, match="DF2207"):
            await offer(Offer(functions=functions, servers=[server], tools=["ecko"]))


DENIES: Final = (
    "DF2209 tool server 'odd': the pattern 'dais' of `deny` does not match the name of any tool, and so it "
    "denies nothing; available: pid, is_full, is_silent, echo, dies, prints, pictures, naps, "
)


def told(tools: dict[str, dict[str, Any]], **policy: Any) -> list[str]:
    [server] = odd(**policy).servers
    known = tuple(
        ServerTool(server, name, "", json.dumps({"type": "object", "properties": {}, **schema}))
        for name, schema in tools.items()
    )
    return [*unmet_of(server, known)]


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
async def test_a_run_is_warned_once_and_outside_of_it_the_log_is(caplog: pytest.LogCaptureFixture) -> None:
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
    with caplog.at_level(logging.WARNING, "dataflow.current"):
        await listed(tools(odd(deny=["dais"]), odd(deny=["dies"])))
    shown = [record.getMessage() for record in caplog.records if record.name == "dataflow.current"]
    assert shown == [f"{DENIES} (unmet_pattern)"]


class TestCalls:
    async def test_a_server_is_called_once_started_and_is_gone_afterwards(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NOT_NAMED", "something")
        monkeypatch.setenv("NAMED", ":0")
        before, box = children(), serve(env={"GIVEN": Secret("THE_KEY", KEY), "SHORT": "NAMED"})
        async with sessions(box):
            [pid] = {await call(box, "pid") for _ in range(3)}
            assert await call(box, "echo", text="hi") == "hi"
            assert is_there(int(str(pid)))
            assert await call(box, "free", free={"x": [1]}) == json.dumps({"x": [1]}, indent=2)
            variables = [await call(box, "variable", name=name) for name in ("NOT_NAMED", "SHORT", "GIVEN")]
            assert variables == ["(not set)", ":0", KEY]
            found = await call(box, "picture")
            assert isinstance(found, tuple)
            text, image = found
            assert isinstance(image, Image)
            assert (text, image.media_type, image.data[:4]) == ("one pixel", "image/png", b"\x89PNG")
            failed = "error: tool 'fails' of server 'served': has failed: "
            assert await call(box, "fails") == f"{failed}Error executing tool fails: no shelf for bears"
            unfit = str(await call(box, "echo", txt="hi"))
            assert unfit.startswith("error: the arguments do not fit: .text: ")
        assert KEY not in repr(box)
        assert not is_there(int(str(pid)))
        assert await call(box, "pid") != await call(box, "pid")  # outside it is opened for each call
        assert children() == before


async def test_a_server_of_the_older_protocol_that_is_written_by_hand() -> None:
    before = children()
    async with sessions(RAW):
        known = await listed(RAW)  # in pages
        assert known.names == ("closes", "answers_nonsense", "grows", "is_unknown")
        assert known.specs()[0].parameters == {"type": "object", "properties": {}}
        for tool, problem in (
            ("answers_nonsense", "has answered with an invalid result"),
            ("is_unknown", "has failed: there is no tools/call"),
        ):
            told = str(await call(RAW, tool))
            assert told.startswith(f"error: tool {tool!r} of server 'raw': {problem}")
        assert await call(RAW, "grows") == ""
        assert (await listed(RAW)).names[-1] == "grown"
        with anyio.fail_after(20):
            told = str(await call(RAW, "closes"))  # it says no more, and is started anew
        ended = "error: tool server 'raw': has ended during 'closes', which is not called again"
        assert told.startswith(ended)
        assert await call(RAW, "grows") == ""
    assert children() == before


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

    async def test_a_change_of_the_list_is_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        noticed, forget = anyio.Event(), ToolList._forget

        def notice(self: ToolList) -> None:
            forget(self)
            noticed.set()

        monkeypatch.setattr(ToolList, "_forget", notice)
        box = serve()
        async with sessions(box):
            assert "grown" not in (await listed(box)).names
            await call(box, "grow")
            with anyio.fail_after(20):
                await noticed.wait()
            assert "grown" in (await listed(box)).names


def part(kind: str, **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(type=kind, **fields)


IMAGE = part("image", mime_type="image/png", data="MQ==")


def test_a_result_is_its_texts_or_its_structure_and_its_images() -> None:
    cases: list[Any] = [
        ([part("text", text="a"), part("text", text="b")], {"result": "a"}, "a\nb"),
        ([], {"ü": [1]}, '{"ü":[1]}'),
        ([], None, ""),
        ([IMAGE], None, (Image("image/png", b"1"),)),
        ([IMAGE, part("text", text="a")], None, ("a", Image("image/png", b"1"))),
        ([part("resource", resource=SimpleNamespace(text="inside"))], None, "inside"),
        ([part("resource", resource=SimpleNamespace())], None, "[resource, which cannot be shown]"),
        ([part("resource_link", name="a file", uri="file:///a")], None, "[a file](file:///a)"),
        ([part("audio", data="MQ==")], None, "[audio, which cannot be shown]"),
    ]
    for content, structured, told in cases:
        assert content_of(SimpleNamespace(content=content, structured_content=structured)) == told


@contextmanager
def serving_http(port: int = 0) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    command = [sys.executable, SERVER, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as told:
        line = told.readline()
    if not line:
        raise AssertionError(f"the server has ended with {process.wait()}")
    yield int(line), process
    process.kill()
    process.wait()


async def test_a_server_is_called_by_its_address_and_one_that_dies_is_connected_again() -> None:
    with serving_http() as (port, process):
        box = mcp(url=f"http://127.0.0.1:{port}/mcp", name="far")
        async with sessions(box):
            assert await call(box, "echo", text="hi") == "hi"
            assert await call(box, "pid") == str(process.pid)
            assert str(await call(box, "fails")).startswith("error: tool 'fails' of server 'far': has failed")
            told: list[Content] = []
            has_ended = anyio.Event()
            async with anyio.create_task_group() as group:

                async def wait() -> None:
                    told.append(await call(box, "hang"))
                    has_ended.set()

                group.start_soon(wait)
                await until(box, "hanging")
                process.kill()
                with anyio.fail_after(20):
                    await has_ended.wait()
            assert "tool server 'far': has ended during 'hang'" in str(told[0])
            process.wait()
            with serving_http(port) as (_, other):
                assert await call(box, "pid") == str(other.pid)
                await hang_until_cancelled(box)


async def called(box: Tools, tool: str, **arguments: Any) -> tuple[str, list[Image]]:
    with Flow("one") as flow:
        step = flow.add(call_tool, arguments=arguments, tools=box, config=CallTool(tool=tool))
        for port in ("text", "images"):
            flow.output(port, getattr(step.out, port))
    result = await flow.run()
    return result["text"], result["images"]


@ON_ASYNCIO
async def test_the_node_gives_texts_and_images_and_fails_for_an_error() -> None:
    text, images = await called(serve(), "picture")
    assert (text, [image.media_type for image in images]) == ("one pixel", ["image/png"])
    assert await called(tools(add), "add", a=1, b=2) == ("3", [])
    with pytest.raises(RunFailed, match="no shelf for bears") as caught:
        await called(serve(), "fails")
    assert isinstance(caught.value.__cause__, ToolFailed)
    assert (caught.value.__cause__.server, caught.value.__cause__.tool) == ("served", "fails")
