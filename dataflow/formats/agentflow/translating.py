"""Files of AgentFlow: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.foreign import Format
from dataflow.formats.shapes import entries_of

if TYPE_CHECKING:
    from dataflow.formats.foreign import JsonDict, Notes, Options

__all__ = ["FORMAT"]


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a workflow of AgentFlow."""
    return bool(entries_of(data, "nodes")) and "connections" in data


def translate(data: Any, options: Options, notes: Notes) -> JsonDict:  # noqa: ARG001 - refuses all
    """Translate a file that has been read into a native document."""
    notes.problem((), "is a file of AgentFlow, which cannot be loaded yet")
    return {}


FORMAT: Final = Format("agentflow", recognises, translate)
