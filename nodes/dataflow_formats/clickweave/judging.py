"""Writing the node that judges: it begins when nothing more is done or fails, as the walk has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow_formats.clickweave.files import ACTIONS
from dataflow_formats.clickweave.sources import port

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict
    from dataflow_formats.clickweave.files import FileNode
    from dataflow_formats.clickweave.layouts import Layout
    from dataflow_formats.clickweave.reading import Workflow
    from dataflow_formats.clickweave.sources import Sources

__all__ = ["acting_in", "failures_of", "is_judged", "judging"]

#: The port of a failure.
ERROR: Final = "$error"


def acting_in(workflow: Workflow, layout: Layout) -> list[FileNode]:
    """Return the nodes that the walk comes to and that do something."""
    reached = (node for id, node in workflow.nodes.items() if id in layout.exits)
    return [node for node in reached if node.node_type.type in ACTIONS]


def is_judged(node: FileNode) -> bool:
    """Tell whether what a node came to is judged."""
    return bool(node.checks or node.expected_outcome)


def judging(acting: Sequence[FileNode], sources: Sources) -> JsonDict:
    """Write the node that judges those that do something."""
    judged = [node for node in acting if is_judged(node)]
    inputs = {
        "context": port(sources.start, "out"),
        "seen": {"gather": [sources.lifted(node.id, "seen") for node in judged]},
        "failures": failures_of(acting, sources),
    }
    config = {"nodes": [_checks(node) for node in judged]}
    return {"type": "clickweave.checks", "config": config, "inputs": inputs}


def failures_of(acting: Sequence[FileNode], sources: Sources) -> JsonDict:
    """Write where failures come from: as they are read, none ends the run before the checks."""
    return {"gather": [sources.lifted(node.id, ERROR) for node in acting]}


def _checks(node: FileNode) -> JsonDict:
    checks = [check.model_dump(mode="json") for check in node.checks]
    outcome = {"expected_outcome": node.expected_outcome} if node.expected_outcome else {}
    return {"id": node.id, "name": node.name, "checks": checks, **outcome}
