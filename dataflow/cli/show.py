"""`dataflow show`: draw a flow as text."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from dataflow.cli.streams import is_terminal, write
from dataflow.cli.targets import FileArgument, load
from dataflow.cli.texts import visible

__all__ = ["show"]


def show(
    file: FileArgument,
    format: Annotated[
        Literal["text", "mermaid", "dot"],
        typer.Option(metavar="FORM", help="How to draw it: text, mermaid or dot."),
    ] = "text",
) -> None:
    """Draw a flow as text, as a Mermaid flowchart or as a Graphviz graph.

    Nothing that a document names is imported; a target in Python is.
    """
    from dataflow.drawing import dot, mermaid, outline

    draw = {"text": outline, "mermaid": mermaid, "dot": dot}[format]
    drawing = draw(load(file, imports=False).wiring).rstrip("\n")
    write(sys.stdout, visible(drawing) if is_terminal(sys.stdout) else drawing)
