"""`call_server_tool` and `agent.call_tool`: how nodes of packs and documents call tools of servers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow, Image, RunFailed, Tools
from dataflow.authoring import InstalledNode
from dataflow_agent import (
    CallTool,
    ToolFailed,
    call_tool,
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


async def test_nodes_of_another_pack_use_one_session_that_ends_with_the_run() -> None:
    box, press, before = serve(), InstalledNode("desk.press"), children()
    with Flow("desk") as flow:
        last = ""
        for tool in ("first", "second", "picture"):
            config = press.config(tool=tool if tool == "picture" else "pid")
            pressed = flow.add(press.with_(name=tool), tools=box, after=last, config=config).out
            last = pressed.text
            flow.output(tool, last)
        flow.output("images", pressed.images)
    result = await flow.run()
    assert result["first"] == result["second"]
    assert int(result["first"]) not in before
    assert children() == before
    found = result["picture"], [image.media_type for image in result["images"]]
    assert found == ("one pixel", ["image/png"])


async def called(box: Tools, tool: str, **arguments: Any) -> tuple[str, list[Image]]:
    with Flow("one") as flow:
        step = flow.add(call_tool, arguments=arguments, tools=box, config=CallTool(tool=tool))
        for port in ("text", "images"):
            flow.output(port, getattr(step.out, port))
    result = await flow.run()
    return result["text"], result["images"]


class Others(Tools):
    """Tools that are no toolbox."""


async def test_the_node_gives_texts_and_images_and_fails_for_an_error() -> None:
    text, images = await called(serve(), "picture")
    assert (text, [image.media_type for image in images]) == ("one pixel", ["image/png"])
    assert await called(tools(add), "add", a=1, b=2) == ("3", [])
    with pytest.raises(RunFailed, match="no shelf for bears") as caught:
        await called(serve(), "fails")
    assert isinstance(caught.value.__cause__, ToolFailed)
    assert (caught.value.__cause__.server, caught.value.__cause__.tool) == ("served", "fails")
    with pytest.raises(RunFailed, match="DF2201"):
        await called(Others(), "echo")
