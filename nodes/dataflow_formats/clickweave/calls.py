"""The tool that each kind of node calls, and its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, assert_never

from dataflow_formats.clickweave.files import (
    AiStep,
    AppDebugKitOp,
    Click,
    EndLoop,
    FindImage,
    FindText,
    FocusWindow,
    If,
    ListWindows,
    Loop,
    McpToolCall,
    NodeKind,
    PressKey,
    Scroll,
    Switch,
    TakeScreenshot,
    TypeText,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ALIASES", "Invocation", "invocation_of"]

#: What the whole list is called besides `result`, by the type of the node.
ALIASES: Final = {"ListWindows": "windows", "FindText": "matches", "FindImage": "matches"}
_FOCUSED_BY: Final = {"AppName": "app_name", "WindowId": "window_id", "Pid": "pid"}


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any]


def invocation_of(kind: NodeKind) -> Invocation | None:  # noqa: C901 - a line for each type
    """Return the call that a node stands for; None for an AI step and for what steers the walk.

    A target of a click and the app of a window are not in it: they are looked up in the run.
    """
    match kind:
        case TakeScreenshot():
            arguments = {"mode": kind.mode.lower(), "include_ocr": kind.include_ocr}
            return Invocation("take_screenshot", arguments)
        case FindText():
            return Invocation("find_text", {"text": kind.search_text})
        case FindImage():
            found = {"threshold": kind.threshold, "max_results": kind.max_results}
            return Invocation("find_image", found | _given(template_image_base64=kind.template_image))
        case Click():
            pressed = {"button": kind.button.lower(), "click_count": kind.click_count}
            return Invocation("click", pressed | _given(x=kind.x, y=kind.y))
        case TypeText():
            return Invocation("type_text", {"text": kind.text})
        case PressKey():
            return Invocation("press_key", {"key": kind.key} | _given(modifiers=kind.modifiers or None))
        case Scroll():
            return Invocation("scroll", {"delta_y": kind.delta_y} | _given(x=kind.x, y=kind.y))
        case ListWindows():
            return Invocation("list_windows", _given(app_name=kind.app_name))
        case FocusWindow():
            return Invocation("focus_window", _focused(kind))
        case McpToolCall():
            return Invocation(kind.tool_name, kind.arguments or {})
        case AppDebugKitOp():
            return Invocation(kind.operation_name, kind.parameters or {})
        case AiStep() | If() | Switch() | Loop() | EndLoop():
            return None
        case _:
            assert_never(kind)


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _focused(kind: FocusWindow) -> dict[str, Any]:
    """Return the one argument that says what is focused; none for a number that cannot be read."""
    if kind.value is None:
        return {}
    if kind.method == "AppName":
        return {"app_name": kind.value}
    is_number = kind.value.isascii() and kind.value.isdigit()
    return {_FOCUSED_BY[kind.method]: int(kind.value)} if is_number else {}
