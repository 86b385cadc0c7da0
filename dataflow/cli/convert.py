"""`dataflow convert`: write a flow as a document of another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dataflow.cli.exits import Problem, Refused
from dataflow.cli.streams import tell, write
from dataflow.cli.targets import BranchOption, FileArgument, load, refusing, with_branch
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

    Where it means something else than in the original, a line on standard error says so. Nothing that a
    document names is imported; a target in Python is.
    """
    from dataflow.formats.native_dump import dump_yaml

    write_document = {"native": dump_yaml}[to]
    target = with_branch(file, branch)
    flow = load(target, imports=False)
    with refusing(target):  # a lambda has no document form
        text = write_document(flow.wiring)
    for remark in flow.report:
        tell(visible(f"note: {remark}"))
    if output is None:
        write(sys.stdout, text.rstrip("\n"))
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused([Problem(f"--output: cannot be written: {error.strerror}", output)]) from error
