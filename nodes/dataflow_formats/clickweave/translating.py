"""Files of Clickweave: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, get_mappings
from dataflow_formats.clickweave.checking import check_workflow
from dataflow_formats.clickweave.folders import RunFolder
from dataflow_formats.clickweave.layouts import layout_of
from dataflow_formats.clickweave.reading import is_older, read_workflow
from dataflow_formats.clickweave.remarking import remark_on
from dataflow_formats.clickweave.settings import OPTIONS, settings_of
from dataflow_formats.clickweave.words import ClickweaveWords
from dataflow_formats.clickweave.writing import write_document

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes

__all__ = ["FORMAT"]


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a workflow of Clickweave, of the present form or the older one."""
    return any("node_type" in node for node in get_mappings(data, "nodes")) or is_older(data)


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a file that has been read into a native document."""
    settings = settings_of(options, notes)
    workflow = read_workflow(data, notes)
    if workflow is None:
        return {}
    check_workflow(workflow, notes)
    if notes.problems:
        return {}
    layout = layout_of(workflow, notes)
    if notes.problems:
        return {}
    remark_on(workflow, layout, settings, notes)
    return write_document(workflow, layout, settings, notes)


FORMAT: Final = Format("clickweave", recognises, translate, OPTIONS, ClickweaveWords, RunFolder)
