"""`dataflow convert`: write a flow as a document of another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dataflow.base.wording import visible
from dataflow.cli.commands.beside import left_behind
from dataflow.cli.exits import Problem, Refused
from dataflow.cli.streams import tell, write
from dataflow.cli.targets import BranchOption, FileArgument, folder_of, load, refusing, with_branch

__all__ = ["convert"]


def convert(
    file: FileArgument,
    to: Annotated[Literal["native"], typer.Option(metavar="FORMAT", help="The format to write.")] = "native",
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="PATH", help="Write to this file instead of standard output."),
    ] = None,
    branch: BranchOption = None,
) -> None:
    """Write a flow, such as a file of another system, as a native YAML document that runs the same.

    Where it means something else than in the original, a line on standard error says so. Where it is written
    to another folder, a line lists what it needs from the folder of the original. Nothing that a document
    names is imported; a target in Python is.
    """
    from dataflow.formats.native.writer import dump
    from dataflow.formats.writer import write_yaml

    write_document = {"native": dump}[to]
    target = with_branch(file, branch)
    flow = load(target, imports=False)
    with refusing(target):  # a lambda has no document form
        document = write_document(flow.wiring)
    text = write_yaml(document)
    for remark in flow.report:
        tell(visible(f"note: {remark}"))
    if output is None:
        write(sys.stdout, text.rstrip("\n"))
        return
    missing = left_behind(document, folder_of(target), Path(output))
    if missing is not None:
        tell(visible(f"note: {missing}"))
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused([Problem(f"--output: cannot be written: {error.strerror}", output)]) from error
