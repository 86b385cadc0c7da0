"""`dataflow show` and `dataflow schema`: draw a flow, print the document schema."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

import typer

from dataflow.base.wording import visible
from dataflow.cli.documents import written
from dataflow.cli.output import is_terminal, write
from dataflow.cli.targets import BranchOption, FileArgument, load, refusing, with_branch

__all__ = ["schema", "show"]


def show(
    file: FileArgument,
    format: Annotated[
        Literal["text", "mermaid", "dot", "yaml"],
        typer.Option(metavar="FORM", help="How to draw it: text, mermaid, dot or yaml, the document."),
    ] = "text",
    branch: BranchOption = None,
) -> None:
    """Draw a flow as text, as a Mermaid flowchart or as a Graphviz graph, or write it as a document.

    Nothing that a document names is imported; a target in Python is. As a document it is written only if it
    has no problems.
    """
    file = with_branch(file, branch)
    drawing = (written(file).text if format == "yaml" else _drawn(file, format)).rstrip("\n")
    write(sys.stdout, visible(drawing) if is_terminal(sys.stdout) else drawing)


def _drawn(file: str, format: Literal["text", "mermaid", "dot"]) -> str:
    from dataflow.inspection.drawing import dot, mermaid, outline

    draw = {"text": outline, "mermaid": mermaid, "dot": dot}[format]
    wiring = load(file, imports=False).wiring
    with refusing(file):
        return draw(wiring)


def schema() -> None:
    """Write the JSON Schema of flow documents, for editors that check while you type."""
    from dataflow.formats.native.document import json_schema

    write(sys.stdout, json.dumps(json_schema(), indent=2))
