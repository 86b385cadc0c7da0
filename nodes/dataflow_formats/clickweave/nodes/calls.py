"""`clickweave.call` and `clickweave.ai_step`, and the evidence of acting nodes for checks."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Final, NamedTuple

from pydantic import Field

from dataflow import ExecutionContext, Flow, Tools, TypedFlow, flow, gather, node
from dataflow.authoring import InstalledNode
from dataflow_formats.clickweave.nodes.action import (
    Action,
    Arguments,
    Noted,
    call_tool,
    is_repeated,
    lookups_of,
    noted,
    value_of,
    with_lookups,
)

__all__ = ["Evidence", "call", "watched"]

#: The most lines of evidence.
MOST_LINES: Final = 20
AGENT: Final = "agent.agent"
SYSTEM: Final = (
    "You carry out one step of a workflow on a computer. Use the tools that you have to do what the user "
    "asks, look at what they answer, and stop calling tools when the step is done. Then say shortly what "
    "came of it."
)


class Call(Action):
    """Config of `clickweave.call`."""

    tool: str = Field(min_length=1, description="the name of the tool")
    arguments: Arguments = Field(default={}, description="what it is given")
    unfocuses: bool = Field(default=False, description="whether a further attempt forgets the focused app")


@flow
def call(f: Flow, walk: ExecutionContext, tools: Tools, *, config: Call) -> Noted:
    """Call a tool, and set variables of its result."""
    asked = f.add(request, walk=walk, config=config).out
    called = call_tool(f, "call", config.tool, asked, tools)
    done = f.add(note, walk=walk, text=called.text, config=config).out
    return watched(f, done, tools, config, called.text)


@node(name="request")
async def request(walk: ExecutionContext, config: Call) -> dict[str, Any]:  # noqa: ARG001 - waits for the walk
    """Return the arguments of the call."""
    return dict(config.arguments)


@node(name="note")
async def note(walk: ExecutionContext, text: str, config: Call) -> Noted:
    """Set variables of the answer."""
    if config.unfocuses and is_repeated():
        walk = with_lookups(walk, replace(lookups_of(walk), focused=""))
    return await noted(walk, value_of(text), config)


class AiStep(Action):
    """Config of `clickweave.ai_step`."""

    prompt: str = Field(description="what is to be done")
    button_text: str = Field(default="", description="the text of the button that it is about")
    template_image: str = Field(default="", description="the image of what it is about")
    max_tool_calls: int = Field(default=10, ge=0, description="the most calls of tools")
    allowed_tools: list[str] | None = Field(default=None, description="the tools it may call; all unless set")
    time_limit: float | None = Field(default=None, gt=0, description="how many seconds it may work")
    vision_model: str = Field(default="", description="a model that describes images to it")


def _wired(f: Flow, walk: ExecutionContext, tools: Any, *, config: AiStep) -> Noted:
    """Let a model work with the tools, and set a variable of its last text."""
    agent = InstalledNode(AGENT)
    settings = agent.config(
        name=config.name, system=SYSTEM, max_tool_calls=config.max_tool_calls, time_limit=config.time_limit,
        allowed_tools=config.allowed_tools, vision_summary=config.vision_model,
    )  # fmt: skip
    prompt = f.add(ask_for_step, walk=walk, config=config).out
    said = f.add(agent, prompt=prompt, context=walk, tools=tools, config=settings).out
    done = f.add(note_step, walk=walk, text=said.text, config=config).out
    return watched(f, done, tools, config, said.text)


@cache
def _ai_step() -> TypedFlow[..., Noted]:
    """Return the node type; the type of its tools is that of agents, which only their pack knows."""
    _wired.__annotations__["tools"] = InstalledNode(AGENT).type.inputs["tools"].type
    return flow(_wired)


def __getattr__(name: str) -> Any:
    if name == "ai_step":
        return _ai_step()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@node(name="ask_for_step")
async def ask_for_step(walk: ExecutionContext, config: AiStep) -> str:  # noqa: ARG001 - waits for the walk
    """Return the prompt of the step."""
    about = [
        f"It is about the button with the text {config.button_text!r}." if config.button_text else "",
        f"It is about what the image {config.template_image} shows." if config.template_image else "",
    ]
    return "\n\n".join(filter(None, (config.prompt, *about)))


@node(name="note_step")
async def note_step(walk: ExecutionContext, text: str, config: AiStep) -> Noted:
    """Set variables of the last text."""
    return await noted(walk, text or None, config)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The last execution of a node: a line for each answer, and an image in Base64 if there is one."""

    name: str
    lines: list[str]
    image: str = ""
    media_type: str = ""


def watched(f: Flow, done: Noted, tools: Any, config: Action, *answers: Any) -> Noted:
    """Wire the evidence of a node with checks: its answers and an image of the screen."""
    if not config.checked:
        return Noted(done.walk, done.variables, done.seen)
    where = f.add(ask_for_picture, walk=done.walk).out
    picture = call_tool(f, "check_screenshot", "take_screenshot", where, tools, on_error="skip")
    kept = f.add(witness, walk=done.walk, answers=gather(*answers), images=picture.images, config=config).out
    return Noted(kept.walk, done.variables, kept.seen)


class Witnessed(NamedTuple):
    """The walk, which continues after the screenshot, and the evidence."""

    walk: ExecutionContext
    seen: dict[str, Any]


@node(name="ask_for_picture")
async def ask_for_picture(walk: ExecutionContext) -> dict[str, Any]:
    """Return the arguments of the screenshot, of the focused app if it is known."""
    focused = lookups_of(walk).focused
    return {"format": "png", **({"app_name": focused} if focused else {})}


@node(name="witness")
async def witness(
    walk: ExecutionContext, answers: list[str], config: Action, images: list[Any] | None = None
) -> Witnessed:
    """Collect the evidence."""
    lines = [json.dumps({"tool_result": answer}, ensure_ascii=False) for answer in answers][-MOST_LINES:]
    shown = (b64encode(images[0].data).decode(), images[0].media_type) if images else ()
    return Witnessed(walk, asdict(Evidence(config.name, lines, *shown)))
