"""Calls of real tool servers, over standard input and output and over HTTP (S10.6, B41)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from dataflow import Image, Secret
from dataflow_agent import listed, mcp, sessions, tools
from dataflow_agent.servers.connection import ToolList
from dataflow_agent.servers.results import Content, content_of
from tests.nodes.agent.serving import (
    KEY,
    ON_ASYNCIO,
    RAW,
    SERVER,
    call,
    children,
    hang_until_cancelled,
    is_there,
    serve,
    until,
)


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
            assert unfit.startswith("error: tool 'echo' of server 'served': has")
        assert KEY not in repr(box)
        assert not is_there(int(str(pid)))
        assert await call(box, "pid") != await call(box, "pid")  # outside it is opened for each call
        assert children() == before

    async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(self) -> None:
        box = serve(deadline=5)
        async with sessions(box):
            told = "has not answered within 5 s; the call was cancelled"
            assert await call(box, "hang") == f"error: tool 'hang' of server 'served': {told}"
            await until(box, "cancelled")

    async def test_a_node_that_is_cancelled_cancels_its_call_and_no_others(self) -> None:
        box, told = serve(), []
        async with sessions(box), anyio.create_task_group() as group:

            async def wait() -> None:
                told.append(await call(box, "wait"))

            group.start_soon(wait)
            await until(box, "waiting")
            await hang_until_cancelled(box)
            assert told == []
            await call(box, "let_go")
        assert told == ["went on"]


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

    async def test_schemas_are_of_objects_and_a_policy_is_of_the_names_at_the_server(self) -> None:
        box = await listed(serve(allow=["ec*", "pid"], deny=["pid"]))
        [spec] = box.specs()
        assert (spec.name, spec.parameters["type"]) == ("echo", "object")
        assert isinstance(spec.parameters["properties"], dict)
        assert "$schema" not in spec.parameters


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
def serving_http(port: int = 0, **env: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Serve on a port of the loopback, or on a free one for 0, from when it says that it listens there."""
    command = [sys.executable, SERVER, str(port)]
    process = subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.PIPE)
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
