"""`dataflow check`: list every problem of a flow without running it."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from dataflow.base.wording import counted, visible
from dataflow.cli.output import ExitCode, Refused, write
from dataflow.cli.targets import BranchOption, FileArgument, load, placed, refusing, with_branch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataflow.compiler.graph import Graph
    from dataflow.core.wiring import Block, Remark
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["check"]


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a check."""

    file: str
    nodes: int
    problems: Sequence[Diagnostic]
    warnings: Sequence[Diagnostic]
    not_looked_into: Sequence[str]
    report: Sequence[Remark] = ()
    untyped: Sequence[str] | None = None  # ports without a type, if they are asked for


def check(
    file: FileArgument,
    imports: Annotated[
        bool,
        typer.Option("--import", help="Import the Python that it names, and check that as well."),
    ] = False,
    untyped: Annotated[
        bool,
        typer.Option("--untyped", help="Also list ports whose parameter or result has no annotation."),
    ] = False,
    branch: BranchOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
) -> None:
    """List every problem of a flow, one a line; exit code 1 if there are any.

    In a flow without problems inputs and nodes that nothing reads are warnings.

    Without --import none of the document's own Python is imported, files and modules under `uses` and
    module:function; those that were not checked are named. Types of installed packs are looked up, and a
    target in Python is always imported.
    """
    file = with_branch(file, branch)
    try:
        findings = examined(file, imports=imports, untyped=untyped)
    except Refused as refused:
        if not as_json and isinstance(refused.reason, OSError):  # nothing was checked
            raise
        findings = Findings(file, 0, refused.problems, (), ())
    if as_json:
        from dataflow.cli.json_output import write_json

        write_json(sys.stdout, _as_json(findings))
    else:
        _tell(findings)
    if findings.problems:
        raise typer.Exit(ExitCode.FAILED)


def examined(file: str, *, imports: bool, untyped: bool = False) -> Findings:
    """Check a flow, with its Python if `imports`; raises Refused if there is no flow."""
    flow = load(file, imports=imports)
    with refusing(file):
        graph = flow.examine()
    problems = [placed(problem, file) for problem in graph.problems_in_order]
    warnings = [] if problems else [placed(warning, file) for warning in flow.warnings()]
    opaque = list(dict.fromkeys(graph.opaque))
    ports = list(_untyped(graph)) if untyped else None
    return Findings(file, _count(flow.wiring.block), problems, warnings, opaque, flow.report, ports)


def _untyped(graph: Graph, around: str = "") -> Iterator[str]:
    """Yield the ports of nodes, also in subflows, whose parameter or result has no annotation."""
    from dataflow.compiler.definition import Definition
    from dataflow.compiler.graph import CallAction

    types = (
        (f"{around}{one.id}", one.action.type) for one in graph.vertices if isinstance(one.action, CallAction)
    )
    for id, kind in types:
        if isinstance(kind.flow, Definition):
            yield from _untyped(kind.flow.examine(), f"{id}/")
        elif not kind.is_opaque:
            signature = inspect.signature(kind.function)
            for name, given in signature.parameters.items():
                if name in kind.inputs and given.annotation is given.empty:
                    yield f"{id}.{name}"
            if "out" in kind.outputs and signature.return_annotation is signature.empty:
                yield f"{id}.out"


def _count(block: Block) -> int:
    """Count the nodes of a block and of all blocks in it."""
    from dataflow.core.wiring import LoopBlock, MapBlock

    count, todo = 0, [block]
    while todo:
        placed = todo.pop().nodes.values()
        count += len(placed)
        todo.extend(one.body for one in placed if isinstance(one, LoopBlock | MapBlock))
    return count


def _as_json(findings: Findings) -> dict[str, object]:
    return {
        "file": findings.file,
        "nodes": findings.nodes,
        "problems": [problem.as_json() for problem in findings.problems],
        "warnings": [warning.as_json() for warning in findings.warnings],
        "not_looked_into": findings.not_looked_into,
        "report": findings.report,
        **({} if findings.untyped is None else {"untyped": findings.untyped}),
    }


def _tell(findings: Findings) -> None:
    for problem in findings.problems:
        write(sys.stdout, visible(str(problem)))
    if not findings.problems:
        write(sys.stdout, f"ok: {counted(findings.nodes, 'node')}")
    for warning in findings.warnings:
        write(sys.stdout, visible(f"warning: {warning}"))
    for port in findings.untyped or ():
        write(sys.stdout, visible(f"note: {port} has no type, so any value fits"))
    for remark in findings.report:
        write(sys.stdout, visible(f"note: {remark}"))
    if findings.not_looked_into:
        names = ", ".join(map(visible, findings.not_looked_into))
        write(sys.stdout, f"not looked into without --import: {names}")
