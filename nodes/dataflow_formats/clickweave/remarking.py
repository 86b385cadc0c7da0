"""The report of a workflow: where it means something else here, and what is unsound in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow_formats.clickweave.conditions import VariableSide
from dataflow_formats.clickweave.files import CONTROL, AiStep, EndLoop, If, Loop, Switch
from dataflow_formats.clickweave.naming import prefix_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.authoring import Notes
    from dataflow_formats.clickweave.conditions import Condition
    from dataflow_formats.clickweave.files import FileNode
    from dataflow_formats.clickweave.layouts import Layout
    from dataflow_formats.clickweave.reading import Workflow
    from dataflow_formats.clickweave.settings import Settings

__all__ = ["remark_on"]

MOST_RETRIES: Final = 10


def remark_on(workflow: Workflow, layout: Layout, settings: Settings, notes: Notes) -> None:
    """Remark on each node what there is to say of it."""
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
    """Return the variables that conditions read and no node of the walk sets."""
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
