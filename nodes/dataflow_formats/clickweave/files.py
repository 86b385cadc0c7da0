"""A file of Clickweave as it is written: its nodes by their types, and its edges."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field

from dataflow_formats.clickweave.conditions import Condition
from dataflow_formats.clickweave.exits import Exit

__all__ = [
    "ACTIONS",
    "CONTROL",
    "NODE_TYPES",
    "AiStep",
    "Check",
    "Click",
    "Edge",
    "EndLoop",
    "FileNode",
    "FindText",
    "FocusWindow",
    "If",
    "Loop",
    "NodeKind",
    "Output",
    "Switch",
    "TakeScreenshot",
]


class FilePart(BaseModel):
    """What all parts share: unknown keys are left alone, as the original does."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class AiStep(FilePart):
    """A model that works with the tools."""

    type: Literal["AiStep"]
    prompt: str
    button_text: str | None = None
    template_image: str | None = None
    max_tool_calls: int | None = Field(default=None, ge=0)
    allowed_tools: list[str] | None = None
    timeout_ms: int | None = Field(default=None, ge=0)


class TakeScreenshot(FilePart):
    """An image of the screen, of a window or of a region."""

    type: Literal["TakeScreenshot"]
    mode: Literal["Screen", "Window", "Region"]
    target: str | None = None
    include_ocr: bool = True


class FindText(FilePart):
    """A search for text on the screen."""

    type: Literal["FindText"]
    search_text: str
    match_mode: Literal["Contains", "Exact"] = "Contains"
    scope: str | None = None
    select_result: str | None = None


class FindImage(FilePart):
    """A search for an image on the screen."""

    type: Literal["FindImage"]
    template_image: str | None = None
    threshold: float = 0.88
    max_results: int = Field(default=3, ge=0)


class Click(FilePart):
    """A click, at a place or on a target."""

    type: Literal["Click"]
    target: str | None = None
    x: float | None = None
    y: float | None = None
    button: Literal["Left", "Right", "Center"] = "Left"
    click_count: int = Field(default=1, ge=0)


class TypeText(FilePart):
    """Text that is typed."""

    type: Literal["TypeText"]
    text: str


class PressKey(FilePart):
    """A key that is pressed."""

    type: Literal["PressKey"]
    key: str
    modifiers: list[str] = []


class Scroll(FilePart):
    """A turn of the wheel."""

    type: Literal["Scroll"]
    delta_y: int
    x: float | None = None
    y: float | None = None


class ListWindows(FilePart):
    """A look at the windows."""

    type: Literal["ListWindows"]
    app_name: str | None = None


class FocusWindow(FilePart):
    """A window that gets the focus."""

    type: Literal["FocusWindow"]
    method: Literal["WindowId", "AppName", "Pid"]
    value: str | None = None
    bring_to_front: bool = True


class McpToolCall(FilePart):
    """A call of any tool."""

    type: Literal["McpToolCall"]
    tool_name: str
    arguments: dict[str, Any] | None = None


class AppDebugKitOp(FilePart):
    """An operation of the debug kit, which is a tool too."""

    type: Literal["AppDebugKitOp"]
    operation_name: str
    parameters: dict[str, Any] | None = None


class If(FilePart):
    """A way for a condition that holds, and one else."""

    type: Literal["If"]
    condition: Condition


class Case(FilePart):
    """One case of a switch."""

    name: str
    condition: Condition


class Switch(FilePart):
    """A way for the first case whose condition holds."""

    type: Literal["Switch"]
    cases: list[Case]


class Loop(FilePart):
    """What begins a loop."""

    type: Literal["Loop"]
    exit_condition: Condition
    max_iterations: int = Field(default=100, ge=1)


class EndLoop(FilePart):
    """What ends the body of a loop."""

    type: Literal["EndLoop"]
    loop_id: str


NodeKind: TypeAlias = (
    AiStep | TakeScreenshot | FindText | FindImage | Click | TypeText | PressKey | Scroll | ListWindows
    | FocusWindow | McpToolCall | AppDebugKitOp | If | Switch | Loop | EndLoop
)  # fmt: skip
CONTROL: Final = ("If", "Switch", "Loop", "EndLoop")
ACTIONS: Final = (
    "AiStep", "TakeScreenshot", "FindText", "FindImage", "Click", "TypeText", "PressKey", "Scroll",
    "ListWindows", "FocusWindow", "McpToolCall", "AppDebugKitOp",
)  # fmt: skip
#: The node types that there are.
NODE_TYPES: Final = (*ACTIONS, *CONTROL)


class Check(FilePart):
    """What is asked of a node after the run."""

    name: str
    check_type: Literal["TextPresent", "TextAbsent", "TemplateFound", "WindowTitleMatches"]
    params: Any = None
    on_fail: Literal["FailNode", "WarnOnly"] = "FailNode"


class Position(FilePart):
    """Where a node is drawn."""

    x: float
    y: float


class FileNode(FilePart):
    """A node; a missing `timeout_ms`, `settle_ms` or `expected_outcome` is null."""

    id: str = Field(min_length=1)
    node_type: Annotated[NodeKind, Discriminator("type")]
    position: Position
    name: str
    enabled: bool
    timeout_ms: int | None = Field(default=None, ge=0)
    settle_ms: int | None = Field(default=None, ge=0)
    retries: int = Field(ge=0)
    trace_level: Literal["Off", "Minimal", "Full"]
    expected_outcome: str | None = None
    checks: list[Check]


class Label(FilePart):
    """An output of an If, a Switch or a Loop."""

    type: Literal[Exit.IF_TRUE, Exit.IF_FALSE, Exit.SWITCH_DEFAULT, Exit.LOOP_BODY, Exit.LOOP_DONE]


class CaseLabel(FilePart):
    """The output of a case."""

    type: Literal[Exit.SWITCH_CASE]
    name: str


Output: TypeAlias = Label | CaseLabel


class Edge(FilePart):
    """An edge; without an output it leads on from a node that has only one."""

    model_config = ConfigDict(populate_by_name=True)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    output: Annotated[Output, Discriminator("type")] | None = None
