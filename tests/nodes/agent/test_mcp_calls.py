# ruff: noqa: E501 - texts are compared whole, and what processes do is waited for
"""Calls of real tool servers over standard input and output: what they give, by which names (S10.6, B41)."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from dataflow import Image, Secret
from dataflow_agent import (
    listed,
    sessions,
    tools,
)
from dataflow_agent.servers.connection import ToolList
from dataflow_agent.servers.results import content_of
from tests.nodes.agent.serving import (
    KEY,
    ON_ASYNCIO,
    RAW,
    call,
    children,
    hang_until_cancelled,
    is_there,
    serve,
    until,
)


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
            told = "error: tool 'fails' of server 'served': has failed: Error executing tool fails: no shelf for bears"
            assert await call(box, "fails") == told
            assert str(await call(box, "echo", txt="hi")).startswith(
                "error: tool 'echo' of server 'served': has"
            )

    async def test_images_stay_images(self) -> None:
        found = await call(serve(), "picture")
        assert isinstance(found, tuple)
        text, image = found
        assert text == "one pixel"
        assert isinstance(image, Image)
        assert (image.media_type, image.data[:4]) == ("image/png", b"\x89PNG")

    async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(self) -> None:
        box = serve(deadline=5)
        async with sessions(box):
            told = (
                "error: tool 'hang' of server 'served': has not answered within 5 s; the call was cancelled"
            )
            assert await call(box, "hang") == told
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

    async def test_only_the_variables_that_are_named_are_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NOT_NAMED", "something")
        monkeypatch.setenv("NAMED", ":0")
        box = serve(env={"GIVEN": Secret("THE_KEY", KEY), "SHORT": "NAMED"})
        async with sessions(box):
            assert await call(box, "variable", name="NOT_NAMED") == "(not set)"
            assert await call(box, "variable", name="SHORT") == ":0"
            assert await call(box, "variable", name="GIVEN") == KEY
        assert KEY not in repr(box)


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
                "error: tool 'answers_nonsense' of server 'raw': has answered with an invalid result"
            )
            told = str(await call(RAW, "is_unknown"))
            assert told.startswith(
                "error: tool 'is_unknown' of server 'raw': has failed: there is no tools/call"
            )
            assert (await listed(RAW)).names[0] == "closes"

    async def test_one_that_says_no_more_is_ended_and_started_anew(self) -> None:
        before = children()
        async with sessions(RAW):
            await listed(RAW)  # which starts it: that takes its time
            with anyio.fail_after(20):
                told = await call(RAW, "closes")
            assert str(told).startswith(
                "error: tool server 'raw': has ended during 'closes', which is not called again"
            )
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

    async def test_schemas_are_of_objects_without_a_dialect(self) -> None:
        box = await listed(serve())
        for spec in box.specs():
            assert spec.parameters["type"] == "object"
            assert isinstance(spec.parameters["properties"], dict)
            assert "$schema" not in spec.parameters

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

    async def test_a_policy_is_of_the_names_at_the_server(self) -> None:
        box = await listed(serve(allow=["ec*", "pid"], deny=["pid"]))
        assert box.names == ("echo",)


def part(kind: str, **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(type=kind, **fields)


def test_a_result_is_its_texts_or_its_structure_and_its_images() -> None:
    cases: list[Any] = [
        ([part("text", text="a"), part("text", text="b")], {"result": "a"}, "a\nb"),
        ([], {"ü": [1]}, '{"ü":[1]}'),
        ([], None, ""),
        ([part("image", mime_type="image/png", data="MQ==")], None, (Image("image/png", b"1"),)),
        (
            [part("image", mime_type="image/png", data="MQ=="), part("text", text="a")],
            None,
            ("a", Image("image/png", b"1")),
        ),
        ([part("resource", resource=SimpleNamespace(text="inside"))], None, "inside"),
        (
            [part("resource", resource=SimpleNamespace())],
            None,
            "[resource, which cannot be shown]",
        ),
        ([part("resource_link", name="a file", uri="file:///a")], None, "[a file](file:///a)"),
        ([part("audio", data="MQ==")], None, "[audio, which cannot be shown]"),
    ]
    for content, structured, told in cases:
        assert content_of(SimpleNamespace(content=content, structured_content=structured)) == told
