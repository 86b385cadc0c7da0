"""The node type and the config of each node that does something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataflow_formats.clickweave.calls import ALIASES, invocation_of
from dataflow_formats.clickweave.files import AiStep, Click, FindText, FocusWindow, TakeScreenshot

if TYPE_CHECKING:
    from dataflow_formats.clickweave.files import FileNode
    from dataflow_formats.clickweave.settings import Settings

__all__ = ["Action", "action_of"]


@dataclass(frozen=True, slots=True)
class Action:
    """A node type and its config."""

    type: str
    config: dict[str, Any]


def action_of(node: FileNode, settings: Settings) -> Action:
    """Choose the node type that does what a node of the file does."""
    kind = node.node_type
    shared: dict[str, Any] = {"name": node.name}
    if kind.type in ALIASES:
        shared["alias"] = ALIASES[kind.type]
    if node.checks or node.expected_outcome:
        shared["checked"] = True
    if node.settle_ms:
        shared["settle"] = node.settle_ms / 1000
    match kind:
        case AiStep():
            return Action("clickweave.ai_step", shared | _ai_step(kind, node, settings))
        case FindText():
            return Action("clickweave.find_text", {**shared, "text": kind.search_text})
        case Click(target=str(target)) if target and (kind.x is None or kind.y is None):
            pressed = {"button": kind.button.lower(), "click_count": kind.click_count}
            return Action("clickweave.click", {**shared, "text": target, "in_focused": True, **pressed})
        case FocusWindow(method="AppName", value=str(app)):
            focusing = {"tool": "focus_window", "app": app, "argument": "pid", "focuses": True}
            return Action("clickweave.app_call", {**shared, **focusing})
        case TakeScreenshot(mode="Window", target=str(app)) if app:
            call = {**_call(kind), "app": app, "argument": "app_name"}
            return Action("clickweave.app_call", {**shared, **call})
        case FocusWindow():
            return Action("clickweave.call", {**shared, **_call(kind), "unfocuses": True})
        case _:
            return Action("clickweave.call", {**shared, **_call(kind)})


def _call(kind: Any) -> dict[str, Any]:
    call = invocation_of(kind)
    assert call is not None, "what steers the walk does nothing else"
    return {"tool": call.tool, "arguments": dict(call.arguments)}


def _ai_step(kind: AiStep, node: FileNode, settings: Settings) -> dict[str, Any]:
    """Return the settings of an AI step that are not what they are unless set."""
    given = {
        "button_text": kind.button_text,
        "template_image": kind.template_image,
        "max_tool_calls": kind.max_tool_calls,
        "allowed_tools": kind.allowed_tools,
        "time_limit": node.timeout_ms / 1000 if node.timeout_ms else None,
        "vision_model": settings.vision_model or None,
    }
    return {"prompt": kind.prompt, **{name: value for name, value in given.items() if value is not None}}
