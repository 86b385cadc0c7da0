"""`dataflow convert`: write a flow as a document of another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dataflow.cli.beside import left_behind
from dataflow.cli.exits import Problem, Refused
from dataflow.cli.streams import tell, write
from dataflow.cli.targets import BranchOption, FileArgument, folder_of, load, refusing, with_branch
from dataflow.wording import visible

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

    Where it means something else than in the original, a line on standard error says so. Another lists what
    it names in the folder of the original, if it is written to another. Nothing that a document names is
    imported; a target in Python is.
    """
    from dataflow.formats.native_dump import dump
    from dataflow.formats.yaml_writing import write_yaml

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
