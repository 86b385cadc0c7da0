"""`clickweave.ai_step`: a model that works with the tools until it is done."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pydantic import Field

from dataflow import ExecutionContext, Flow, TypedFlow, flow, node
from dataflow.authoring import InstalledNode
from dataflow_formats.clickweave.nodes.action import Action, Noted, noted
from dataflow_formats.clickweave.nodes.evidence import watched

__all__ = ["AiStep"]

AGENT: Final = "agent.agent"
SYSTEM: Final = (
    "You carry out one step of a workflow on a computer. Use the tools that you have to do what the user "
    "asks, look at what they answer, and stop calling tools when the step is done. Then say shortly what "
    "came of it."
)


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
    """Have a model work with the tools, and set a variable of its last text."""
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
    """Make the node type; its tools are of the type that agents take, which only the pack knows."""
    _wired.__annotations__["tools"] = InstalledNode(AGENT).type.inputs["tools"].type
    return flow(_wired)


def __getattr__(name: str) -> Any:
    if name == "ai_step":
        return _ai_step()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@node(name="ask_for_step")
async def ask_for_step(walk: ExecutionContext, config: AiStep) -> str:  # noqa: ARG001 - it is its turn
    """Say what is to be done."""
    about = [
        f"It is about the button with the text {config.button_text!r}." if config.button_text else "",
        f"It is about what the image {config.template_image} shows." if config.template_image else "",
    ]
    return "\n\n".join(filter(None, (config.prompt, *about)))


@node(name="note_step")
async def note_step(walk: ExecutionContext, text: str, config: AiStep) -> Noted:
    """Set variables of the last text, and go on."""
    return await noted(walk, text or None, config)
