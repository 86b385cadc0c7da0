"""The node types that only flows of Clickweave need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_formats.clickweave import diagnostics

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow.formats.clickweave.conditions": (
        "BoolLiteral Condition LiteralSide NumberLiteral Operator StringLiteral VariableSide _Part"
    ),
    "dataflow.formats.clickweave.exits": "Exit",
    "dataflow.formats.clickweave.nodes.action": "Action Noted noted",
    "dataflow.formats.clickweave.nodes.ai_steps": "AiStep ask_for_step note_step",
    "dataflow.formats.clickweave.nodes.apps": (
        "AppCall LookedUp address app_call ask_for_app choose_app note_app"
    ),
    "dataflow.formats.clickweave.nodes.branching": "Case EndLoop If Switch end_loop if_ switch",
    "dataflow.formats.clickweave.nodes.calling": "Call call note request",
    "dataflow.formats.clickweave.nodes.checks": "Asked Checks Judged Judging ask begin checks judge",
    "dataflow.formats.clickweave.nodes.ending": "end unused",
    "dataflow.formats.clickweave.nodes.evidence": "Evidence Witnessed ask_for_picture witness",
    "dataflow.formats.clickweave.nodes.finding": (
        "Aimed Choice Chosen Click FindText Found Searched aim choose click find_text "
        "note_click note_search read_search"
    ),
    "dataflow.formats.clickweave.nodes.state": "Lookups",
    "dataflow.formats.clickweave.resolved": "App Element Target",
    "dataflow.formats.clickweave.results": "Matches",
    "dataflow.formats.clickweave.verdicts": "CheckedNode Verdict",
}

_NODES: Final = "dataflow_formats.clickweave.nodes"

#: Found by entry point.
pack: Final = Pack(
    "clickweave",
    version="1",
    api=1,
    nodes={
        "call": f"{_NODES}.calls:call",
        "app_call": f"{_NODES}.search:app_call",
        "find_text": f"{_NODES}.search:find_text",
        "click": f"{_NODES}.search:click",
        "ai_step": f"{_NODES}.calls:ai_step",
        "if": f"{_NODES}.branches:if_",
        "switch": f"{_NODES}.branches:switch",
        "end_loop": f"{_NODES}.branches:end_loop",
        "checks": f"{_NODES}.checks:checks",
        "end": f"{_NODES}.branches:end",
        "unused": f"{_NODES}.branches:unused",
    },
    former={
        **moved_names("clickweave", FORMER),
        "dataflow.formats.clickweave.nodes.apps:look_up": "clickweave:look_up_app",
        "dataflow.formats.clickweave.nodes.finding:look_up": "clickweave:look_for",
    },
    diagnostics=kinds_of(diagnostics),
)
