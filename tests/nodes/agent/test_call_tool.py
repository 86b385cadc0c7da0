"""`agent.call_tool`: one call of a tool, by a flow and not by a model."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import Flow, Image, RunFailed
from dataflow_agent import CallTool, Toolbox, call_tool, tools
from tests.nodes.agent.agent_tools import add
from tests.nodes.agent.serving import ON_ASYNCIO, serve

pytestmark = ON_ASYNCIO


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


async def test_a_tool_that_is_not_there_is_an_error_that_lists_the_others() -> None:
    with pytest.raises(RunFailed, match="DF2207"):
        await called(tools(add), "sub")


async def test_an_answer_that_is_an_error_fails_the_node() -> None:
    with pytest.raises(RunFailed, match="no shelf for bears"):
        await called(serve(), "fails")


async def test_a_call_that_its_policy_does_not_simply_allow_is_not_made() -> None:
    with pytest.raises(RunFailed, match="DF2212"):
        await called(serve(ask=["echo"]), "echo", text="hi")


async def test_what_is_no_toolbox_is_an_error() -> None:
    from dataflow import Tools

    class Others(Tools):
        pass

    with pytest.raises(RunFailed, match="DF2201"):
        await called(Others(), "echo")  # type: ignore[arg-type]  # which is the mistake
