"""The node type of each Clickweave node, the tool that it calls, and the settings of server and models."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, assert_never

from dataflow.authoring import foreign, qualified_model
from dataflow_formats.clickweave.file import (
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

    from dataflow.authoring import FormatOptions, Notes
    from dataflow_formats.clickweave.file import FileNode

__all__ = ["OPTIONS", "Settings", "action_of", "invocation_of", "read_settings"]

#: A further variable for a list of results, by the type of the node.
ALIASES: Final = {"ListWindows": "windows", "FindText": "matches", "FindImage": "matches"}
#: The argument of `focus_window` with a number, by method.
_FOCUSED_BY: Final = {"WindowId": "window_id", "Pid": "pid"}
#: The options of the format.
OPTIONS: Final = frozenset({"server", "model", "vision_model"})
#: The command that starts the server of Clickweave.
SERVER: Final = "npx -y native-devtools-mcp"


@dataclass(frozen=True, slots=True)
class Action:
    """A node type and its config."""

    type: str
    config: dict[str, Any]


def action_of(node: FileNode, settings: Settings) -> Action:
    """Return the native node type and config of a node."""
    kind = node.node_type
    shared: dict[str, Any] = {"name": node.name}
    if kind.type in ALIASES:
        shared["alias"] = ALIASES[kind.type]
    if node.is_judged:
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


def _ai_step(kind: AiStep, node: FileNode, settings: Settings) -> dict[str, Any]:
    """Return the config of an AI step, without fields that are not set."""
    given = {
        "button_text": kind.button_text,
        "template_image": kind.template_image,
        "max_tool_calls": kind.max_tool_calls,
        "allowed_tools": kind.allowed_tools,
        "time_limit": node.timeout_ms / 1000 if node.timeout_ms else None,
        "vision_model": settings.vision_model or None,
    }
    return {"prompt": kind.prompt, **{name: value for name, value in given.items() if value is not None}}


def _call(kind: Any) -> dict[str, Any]:
    call = invocation_of(kind)
    assert call is not None, "control flow calls no tool"
    return {"tool": call.tool, "arguments": dict(call.arguments)}


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any]


def invocation_of(kind: NodeKind) -> Invocation | None:  # noqa: C901 - a line for each type
    """Return the call of a node; None for an AI step and for control flow.

    It is without the target of a click and the app of a window, which are looked up during the run.
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
    """Return the argument of the window that gets the focus, none for an invalid number."""
    if kind.value is None:
        return {}
    if kind.method == "AppName":
        return {"app_name": kind.value}
    is_number = kind.value.isascii() and kind.value.isdigit()
    return {_FOCUSED_BY[kind.method]: int(kind.value)} if is_number else {}


@dataclass(frozen=True, slots=True)
class Settings:
    """The command that starts the server, and the models of steps and of images; empty if not given."""

    command: tuple[str, ...]
    model: str = ""
    vision_model: str = ""

    @property
    def meta(self) -> dict[str, Any]:
        """The models that are given, for the meta of the document."""
        models = {"model": self.model, "vision_model": self.vision_model}
        given = {name: model for name, model in models.items() if model}
        return {"models": given} if given else {}

    @property
    def conversation(self) -> Mapping[str, Any]:
        """The config of the node that begins the conversation."""
        return {"config": {"model": self.model}} if self.model else {}

    @property
    def server_config(self) -> dict[str, Any]:
        """The config of the node that offers the tools."""
        return {"servers": [{"command": list(self.command)}]}


def read_settings(options: FormatOptions, notes: Notes) -> Settings:
    """Read the options; problems are noted."""
    given = options.get("server", SERVER)
    try:
        command = shlex.split(given)
    except ValueError as error:
        command = []
        notes.problem((), foreign.FOREIGN_OPTION_INVALID("option server", found=f"{given!r}: {error}"))
    if not command and not notes.problems:
        expected = "a command with its arguments"
        notes.problem((), foreign.FOREIGN_OPTION_INVALID("option server", expected=expected, found="nothing"))
    models = (_model(options, name, notes) for name in ("model", "vision_model"))
    return Settings((*command,), *models)


def _model(options: FormatOptions, name: str, notes: Notes) -> str:
    """Return a model with its provider, an empty string if it is not given."""
    if name not in options:
        return ""
    model = qualified_model(options[name])
    if model is None:
        unknown = foreign.FOREIGN_MODEL_UNKNOWN(f"option {name}", found=repr(options[name]))
        notes.problem((), unknown)
    return model or ""
