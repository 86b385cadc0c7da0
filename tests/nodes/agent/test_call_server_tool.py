"""`call_server_tool`: how nodes of other packs call the tools of servers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow, Image, RunFailed
from dataflow.authoring import InstalledNode
from dataflow_agent import (
    CallTool,
    ServerDied,
    Toolbox,
    ToolFailed,
    ToolOutput,
    call_server_tool,
    call_tool,
    sessions,
    tools,
)
from tests.nodes.agent.agent_tools import add
from tests.nodes.agent.serving import ON_ASYNCIO, children, serve
from tests.support.installed import install

pytestmark = ON_ASYNCIO

PACK = """
from dataflow import Config, Pack, Tools, node
from dataflow_agent import ToolOutput, call_server_tool

class Press(Config):
    "Config of `desk.press`."
    tool: str

@node(effect=True)
async def press(tools: Tools, config: Press, after: str = "") -> ToolOutput:
    return await call_server_tool(tools, config.tool, {})

pack = Pack("desk", version="1.0", api=1, nodes=[press])
"""


@pytest.fixture(autouse=True)
def desk_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a pack that has nothing of ours but what is public."""
    (tmp_path / "made_up_desk.py").write_text(PACK, encoding="utf-8")
    install(tmp_path, "desk-pack", "desk = made_up_desk:pack\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("made_up_desk", None)


def pressing(first: str, second: str) -> Flow:
    """Return a flow of two nodes of the pack that call tools of one server, one after the other."""
    box = serve()
    press = InstalledNode("desk.press")
    with Flow("desk") as flow:
        one = flow.add(press.with_(name="one"), tools=box, config=press.config(tool=first)).out
        two = flow.add(
            press.with_(name="two"), tools=box, after=one.text, config=press.config(tool=second)
        ).out
        for port, source in {"one": one.text, "two": two.text, "images": two.images}.items():
            flow.output(port, source)
    return flow


async def test_nodes_of_another_pack_use_one_session_that_ends_with_the_run() -> None:
    before = children()
    result = await pressing("pid", "pid").run()
    assert result["one"] == result["two"]
    assert int(result["one"]) not in before
    assert children() == before


async def test_texts_and_images_are_ports_of_the_node() -> None:
    result = await pressing("pid", "picture").run()
    assert (result["two"], [image.media_type for image in result["images"]]) == ("one pixel", ["image/png"])


async def test_a_result_that_is_an_error_fails_the_node() -> None:
    with pytest.raises(RunFailed) as caught:
        await pressing("pid", "fails").run()
    assert isinstance(caught.value.__cause__, ToolFailed)
    assert (caught.value.__cause__.server, caught.value.__cause__.tool) == ("served", "fails")


async def test_a_block_of_sessions_shares_the_server_between_calls() -> None:
    box = serve()
    async with sessions(box):
        first, second = [await call_server_tool(box, "pid", {}) for _ in range(2)]
    assert first == second
    assert await call_server_tool(box, "pid", {}) != first


async def test_a_function_of_the_toolbox_is_called_too() -> None:
    assert await call_server_tool(tools(serve(), add), "add", {"a": 1, "b": 2}) == ToolOutput("3", [])


async def test_a_server_that_ends_during_a_call_is_not_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    calls.touch()
    monkeypatch.setenv("CALLS", str(calls))
    with pytest.raises(ServerDied, match="DF2235 tool server 'served':"):
        await call_server_tool(serve(env=["CALLS"]), "die", {})
    assert calls.read_text() == "die\n"


async def called(box: Toolbox, tool: str, **arguments: Any) -> tuple[str, list[Image]]:
    with Flow("one") as flow:
        step = flow.add(call_tool, arguments=arguments, tools=box, config=CallTool(tool=tool))
        for port in ("text", "images"):
            flow.output(port, getattr(step.out, port))
    result = await flow.run()
    return result["text"], result["images"]


async def test_the_texts_and_the_images_of_a_tool_are_given() -> None:
    text, images = await called(serve(), "picture")
    assert (text, [image.media_type for image in images]) == ("one pixel", ["image/png"])


async def test_a_function_is_a_tool_too() -> None:
    assert (await called(tools(add), "add", a=1, b=2))[0] == "3"


async def test_an_answer_that_is_an_error_fails_the_node() -> None:
    with pytest.raises(RunFailed, match="no shelf for bears"):
        await called(serve(), "fails")


async def test_what_is_no_toolbox_is_an_error() -> None:
    from dataflow import Tools

    class Others(Tools):
        pass

    with pytest.raises(RunFailed, match="DF2201"):
        await called(Others(), "echo")  # type: ignore[arg-type]  # which is the mistake
