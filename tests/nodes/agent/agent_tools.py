"""Functions that agents of the tests have as tools, and what was done with them."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any, Final

import anyio
import anyio.lowlevel
from pydantic import BaseModel, Field

from dataflow import Config, ExecutionContext, Flow, Image, NodeOutput, ToolCall, node, this_firing
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, ScriptedAnswer, ScriptedCall, Toolbox
from dataflow_agent.servers.results import Content
from dataflow_agent.tool_calls import CallUnfit, read_call, result_of


async def told_of(call: ToolCall, box: Toolbox, allowed: list[str] | None = None) -> Content:
    try:
        tool, _, arguments = await read_call(call, box, allowed)
    except CallUnfit as unfit:
        return str(unfit)
    return await result_of(call, tool, arguments)


def room(placed: Agent, box: Toolbox | None = None, folder: Path | None = None, **settings: Any) -> Flow:
    """Place an agent with tools in a conversation; its runs are stored in the folder, if one is given."""
    if folder is not None:
        settings["store"] = SqliteStore(folder / "runs.db")
    with Flow("room") as flow:
        main = flow.context("main", system="House style.")
        given = Toolbox() if box is None else box
        step = flow.add(placed, prompt=flow.input("prompt", str, "hi"), context=main, tools=given)
        for port in ("text", "context", "stopped_by"):
            flow.output(port, getattr(step.out, port))
    return flow.using(**settings)


def calling(*calls: tuple[str, Any], text: str = "") -> ScriptedAnswer:
    made = tuple(ScriptedCall(name=name, arguments=given) for name, given in calls)
    return ScriptedAnswer(text=text, tool_calls=made)


def said(context: ExecutionContext) -> list[tuple[str, object]]:
    return [(message.role, message.content) for message in context.message_history]


def results(context: ExecutionContext) -> list[Any]:
    return [content for role, content in said(context) if role == "tool"]


#: The calls that really entered a function, in order.
ENTERED: Final[list[str]] = []


class Place(BaseModel):
    city: str
    country: str = "NL"


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    ENTERED.append(f"add {a} {b}")
    return a + b


async def weather(
    place: Place, days: Annotated[int, Field(description="how many days ahead", ge=0)] = 1
) -> dict[str, object]:
    """Tell the weather.

    It is mostly rain.
    """
    return {"city": place.city, "days": days, "rain": True}


def blocking(text: str) -> str:
    ENTERED.append("thread" if threading.current_thread() is not threading.main_thread() else "here")
    return text.upper()


@node
async def lines(count: int) -> AsyncIterator[str]:
    for number in range(count):
        yield f"line {number}"


async def where() -> str:
    """Tell which firing this is."""
    return this_firing().path


async def fails(why: str = "nothing") -> str:
    raise OSError(why)


async def odd() -> object:
    return threading.Lock()


async def forgetful() -> object:
    return where()


async def slow(seconds: float) -> str:
    ENTERED.append("slow")
    await anyio.sleep(seconds)
    return f"slept {seconds}"


async def json(copy: int, model_dump: int = 2) -> int:
    """Take arguments that are called like what models have."""
    return copy + model_dump


_others: Final[list[anyio.Event]] = []


async def meet(waits: bool) -> bool:
    """Wait for another call, which has to run meanwhile."""
    if waits:
        _others[:] = [anyio.Event()]
        await _others[0].wait()
    else:
        while not _others:
            await anyio.lowlevel.checkpoint()
        _others.pop().set()
    return waits


class Kit:
    """Something that functions are in."""

    @staticmethod
    async def add(left: int) -> int:
        return left


async def with_context(context: ExecutionContext) -> str:
    return context.context_id


async def with_many(*numbers: int) -> int:
    return sum(numbers)


async def with_lock(lock: threading.Lock) -> str:
    return str(lock)


async def with_function(function: Callable[[], int]) -> int:
    return function()


@node
async def raw(inputs: dict[str, object], config: Config) -> NodeOutput:
    return NodeOutput()


PIXEL: Final = Image("image/png", b"pixel")


async def picture() -> Image:
    return PIXEL


def pictures(count: int) -> list[object]:
    return ["some", {"count": count}, *[PIXEL] * count]
