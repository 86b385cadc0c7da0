"""`FORMAT`: recognise Clickweave files and translate them to native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, get_mappings
from dataflow_formats.clickweave.calls import OPTIONS, read_settings
from dataflow_formats.clickweave.checks import check_workflow, remark_on
from dataflow_formats.clickweave.file import is_older, read_workflow
from dataflow_formats.clickweave.folders import RunFolder
from dataflow_formats.clickweave.layout import lay_out
from dataflow_formats.clickweave.trace import ClickweaveWords
from dataflow_formats.clickweave.writer import write_document

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes

__all__ = ["FORMAT"]


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
