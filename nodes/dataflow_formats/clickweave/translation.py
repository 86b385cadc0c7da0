"""`FORMAT`: recognise Clickweave files, translate them to native documents, and report differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, get_mappings
from dataflow_formats.clickweave.calls import OPTIONS, read_settings
from dataflow_formats.clickweave.checks import check_workflow, prefix_of
from dataflow_formats.clickweave.conditions import VariableSide
from dataflow_formats.clickweave.file import (
    CONTROL,
    AiStep,
    EndLoop,
    If,
    Loop,
    Switch,
    is_older,
    read_workflow,
)
from dataflow_formats.clickweave.folders import RunFolder
from dataflow_formats.clickweave.layout import lay_out
from dataflow_formats.clickweave.trace import ClickweaveWords
from dataflow_formats.clickweave.writer import write_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.clickweave.calls import Settings
    from dataflow_formats.clickweave.conditions import Condition
    from dataflow_formats.clickweave.file import FileNode, Workflow
    from dataflow_formats.clickweave.layout import Layout

__all__ = ["FORMAT"]

MOST_RETRIES: Final = 10


def recognises(data: Any) -> bool:
    """Return whether the content of a file is a workflow of Clickweave, of the present or the older form."""
    return any("node_type" in node for node in get_mappings(data, "nodes")) or is_older(data)


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate the content of a file into a native document; problems and remarks are noted."""
    settings = read_settings(options, notes)
    workflow = read_workflow(data, notes)
    if workflow is None:
        return {}
    check_workflow(workflow, notes)
    if notes.problems:
        return {}
    layout = lay_out(workflow, notes)
    if notes.problems:
        return {}
    remark_on(workflow, layout, settings, notes)
    return write_document(workflow, layout, settings, notes)


FORMAT: Final = Format("clickweave", recognises, translate, OPTIONS, ClickweaveWords, RunFolder)


def remark_on(workflow: Workflow, layout: Layout, settings: Settings, notes: Notes) -> None:
    """Note where the flow behaves differently from the original, or as unexpectedly."""
    setting = {
        prefix_of(node.name) for id, node in workflow.nodes.items()
        if id in layout.exits and node.node_type.type not in CONTROL
    }  # fmt: skip
    for id, node in workflow.nodes.items():
        if id not in layout.exits:
            _remark_unreached(id, node, layout, notes)
            continue
        _remark_settings(node, notes)
        if isinstance(node.node_type, AiStep) and not settings.model:
            here = "none is given, so it fails: FILE#model=provider/name gives one"
            notes.remark(node.name, "asks the model of the program", here)
        for variable in _unset(node.node_type, setting):
            told = f"reads {variable!r}, which no node sets, as null"
            notes.remark(node.name, told, "it is null too, so every comparison but NotEquals is false")


def _remark_unreached(id: str, node: FileNode, layout: Layout, notes: Notes) -> None:
    if id in layout.others:
        notes.remark(node.name, "a second entry point, which may be refused", "the walk never comes to it")
    elif node.enabled:
        notes.remark(node.name, "the walk never comes to it", "it never runs either, and stands as disabled")


def _remark_settings(node: FileNode, notes: Notes) -> None:
    kind = node.node_type
    if isinstance(kind, EndLoop):
        if not node.enabled:
            notes.remark(node.name, "a disabled EndLoop still leads to its Loop", "it is as if enabled")
        return
    if isinstance(kind, Loop):
        notes.remark(
            node.name, "tests its limit before its exit condition", "it tests the exit condition first"
        )
    if kind.type in CONTROL:
        return
    prefix = prefix_of(node.name)
    if prefix != node.name:
        notes.remark(node.name, f"has variables called {node.name}.success and so on", f"{prefix}.success")
    if node.retries > MOST_RETRIES:
        notes.remark(node.name, f"offers up to {MOST_RETRIES} retries", f"it has its {node.retries}")
    if node.timeout_ms is not None and not isinstance(kind, AiStep):
        notes.remark(node.name, "has a timeout, which counts for AI steps alone", "it is kept, and not used")


def _unset(kind: Any, setting: set[str]) -> Iterable[str]:
    """Return the variables that conditions read but no node of the walk sets."""
    read = [
        side.name
        for condition in _conditions(kind)
        for side in (condition.left, condition.right)
        if isinstance(side, VariableSide)
    ]
    return dict.fromkeys(name for name in read if name.partition(".")[0] not in setting)


def _conditions(kind: Any) -> list[Condition]:
    match kind:
        case If():
            return [kind.condition]
        case Switch():
            return [case.condition for case in kind.cases]
        case Loop():
            return [kind.exit_condition]
        case _:
            return []
