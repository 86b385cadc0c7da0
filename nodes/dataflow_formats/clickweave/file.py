"""The parts of a Clickweave file, and reading them: node types, edges, outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field

from dataflow.authoring import PartReader, describe_value, foreign, unique_ids
from dataflow_formats.clickweave.conditions import Condition
from dataflow_formats.clickweave.diagnostics import FORM_OLD

if TYPE_CHECKING:
    from dataflow.authoring import Notes

__all__ = [
    "ACTIONS",
    "CONTROL",
    "AiStep",
    "AppDebugKitOp",
    "CaseLabel",
    "Check",
    "Click",
    "EndLoop",
    "Exit",
    "FileNode",
    "FindImage",
    "FindText",
    "FocusWindow",
    "If",
    "ListWindows",
    "Loop",
    "McpToolCall",
    "NodeKind",
    "Output",
    "Placed",
    "PressKey",
    "Scroll",
    "Switch",
    "TakeScreenshot",
    "TypeText",
    "Workflow",
    "case_exit",
    "case_port",
    "exit_of",
    "is_older",
    "port_of",
    "read_workflow",
]

_CASE: Final = "case "


class Exit(StrEnum):
    """The names of outputs in files and in traces."""

    IF_TRUE = "IfTrue"
    IF_FALSE = "IfFalse"
    SWITCH_CASE = "SwitchCase"  # with the name of the case
    SWITCH_DEFAULT = "SwitchDefault"
    LOOP_BODY = "LoopBody"
    LOOP_DONE = "LoopDone"


def case_exit(case: str) -> str:
    """Return the output of a case by its name: `SwitchCase(paid)`."""
    return f"{Exit.SWITCH_CASE.value}({case})"


def case_port(case: str) -> str:
    """Return the port of a case; the prefix keeps any name of a case apart from other ports."""
    return f"{_CASE}{case}"


def port_of(exit: str) -> str:
    """Return the port for an output."""
    begins = f"{Exit.SWITCH_CASE}("
    return case_port(exit[len(begins) : -1]) if exit.startswith(begins) else exit


def exit_of(port: str) -> str:
    """Return the output for a port."""
    return case_exit(port.removeprefix(_CASE)) if port.startswith(_CASE) else port


class FilePart(BaseModel):
    """A part of a file; unknown keys are ignored, as by the original."""

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
    """A click, at coordinates or on a target."""

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
    """A list of the windows."""

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
    """A branch with outputs for true and false."""

    type: Literal["If"]
    condition: Condition


class Case(FilePart):
    """One case of a switch."""

    name: str
    condition: Condition


class Switch(FilePart):
    """A branch to the first case whose condition holds."""

    type: Literal["Switch"]
    cases: list[Case]


class Loop(FilePart):
    """The beginning of a loop."""

    type: Literal["Loop"]
    exit_condition: Condition
    max_iterations: int = Field(default=100, ge=1)


class EndLoop(FilePart):
    """The end of the body of a loop."""

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
NODE_TYPES: Final = (*ACTIONS, *CONTROL)


class Check(FilePart):
    """A check of a node after the run."""

    name: str
    check_type: Literal["TextPresent", "TextAbsent", "TemplateFound", "WindowTitleMatches"]
    params: Any = None
    on_fail: Literal["FailNode", "WarnOnly"] = "FailNode"


class Position(FilePart):
    """The position of a node in a drawing."""

    x: float
    y: float


class FileNode(FilePart):
    """A node."""

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

    @property
    def is_judged(self) -> bool:
        """Whether the outcome of the node is judged after the run."""
        return bool(self.checks or self.expected_outcome)


class Label(FilePart):
    """An output of an If, a Switch or a Loop."""

    type: Literal[Exit.IF_TRUE, Exit.IF_FALSE, Exit.SWITCH_DEFAULT, Exit.LOOP_BODY, Exit.LOOP_DONE]


class CaseLabel(FilePart):
    """The output of a case."""

    type: Literal[Exit.SWITCH_CASE]
    name: str


Output: TypeAlias = Label | CaseLabel


class Edge(FilePart):
    """An edge; `output` is missing for a node with only one output."""

    model_config = ConfigDict(populate_by_name=True)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    output: Annotated[Output, Discriminator("type")] | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """An edge and its index in the file."""

    index: int
    edge: Edge


@dataclass(slots=True)
class Workflow:
    """A workflow.

    name, id: those of the workflow
    nodes: the nodes by their ids, in the order of the file
    places: the index of each node in the file
    leaving: the edges from each node, in the order of the file
    known: the ids of all nodes, including those that could not be read
    """

    name: str
    id: str
    nodes: dict[str, FileNode] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    leaving: dict[str, list[Placed]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)


def read_workflow(data: Any, notes: Notes) -> Workflow | None:
    """Read the content of a file; every problem is noted; return None if nothing can be read."""
    if not isinstance(data, dict):
        found = describe_value(data)
        wrong = foreign.FOREIGN_FILE_INVALID(system="Clickweave", expected="a mapping", found=found)
        notes.problem((), wrong)
        return None
    if is_older(data):
        notes.problem((), FORM_OLD())
        return None
    file = PartReader(notes, data)
    workflow = Workflow(_needed(file, "name"), _needed(file, "id"))
    nodes = file.entries("nodes", "node", needed=True, named_by=("name",))
    edges = file.entries("edges", needed=True)
    if data.get("nodes") == []:
        notes.problem(("nodes",), foreign.FOREIGN_FLOW_EMPTY(expected="at least one node"))
    workflow.known = unique_ids(nodes)
    for node in nodes:
        _add_node(workflow, node)
    for edge in edges:
        _add_edge(workflow, edge)
    return workflow


def _needed(file: PartReader, key: str) -> str:
    return "" if file.part.get(key) != "" and file.missing(key) else file.string(key)


def _add_node(workflow: Workflow, part: PartReader) -> None:
    if not _has_type(part) or (node := part.checked(FileNode)) is None or node.id in workflow.nodes:
        return
    workflow.nodes[node.id] = node
    workflow.places[node.id] = _index(part)
    workflow.leaving[node.id] = []


def _has_type(part: PartReader) -> bool:
    """Return whether a node has a known type; without one, nothing else can be checked."""
    kind = part.part.get("node_type")
    if "node_type" not in part.part:
        part.missing("node_type")
    elif not isinstance(kind, dict):
        part.expected("a mapping with a `type`", kind, "node_type")
    else:
        return part.mapping("node_type").choice("type", NODE_TYPES) in NODE_TYPES
    return False


def _add_edge(workflow: Workflow, part: PartReader) -> None:
    edge = part.checked(Edge)
    if edge is None:
        return
    for key, leads in (("from", "from"), ("to", "to")):
        part.endpoint((key,), leads, workflow.known)
    if edge.source in workflow.leaving:
        workflow.leaving[edge.source].append(Placed(_index(part), edge))


def _index(part: PartReader) -> int:
    return int(part.path[-1])


def is_older(data: Any) -> bool:
    """Return whether the content of a file has the older form of workflows."""
    nodes = data.get("nodes") if isinstance(data, dict) else None
    return isinstance(nodes, list) and any(
        isinstance(node, dict) and "node_type" not in node and {"kind", "params"} <= node.keys()
        for node in nodes
    )
