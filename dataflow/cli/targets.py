"""Loading what the command line calls FILE, with every problem told instead of raised from inside."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dataflow.base.wording import read_place
from dataflow.cli.exits import ExitCode, Interrupted, Problem, Refused
from dataflow.errors import DataflowError, FlowInvalid, FormatError, PackError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.flows import Flow

__all__ = [
    "BranchOption",
    "FileArgument",
    "folder_of",
    "load",
    "make_importable",
    "placed",
    "problems_of",
    "refusing",
    "target_kept",
    "with_branch",
]

FileArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="A document, path.py[:flow] or module:flow.", show_default=False)
]

BranchOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--branch", metavar="ID", help="Of a file with branches, this one.", show_default=False),
]


def load(target: str, *, imports: bool) -> Flow:
    """Find a flow and wire it; raises Refused with every problem.

    What is imported finds the modules beside the file, as a script that is run does.
    """
    from dataflow.cli.flow_targets import Kind, find_flow, target_of  # pulls in the formats

    if imports or target_of(target).kind is not Kind.DOCUMENT:
        make_importable(target)
    with refusing(target):
        flow = find_flow(target, imports=imports)
        _ = flow.wiring  # a @flow function is called now
    return flow


def with_branch(target: str, branch: str | None) -> str:
    """Write the branch that is asked for behind a target; raises Refused where there can be none."""
    if branch is None:
        return target
    from dataflow.cli.flow_targets import Kind, target_of, with_options  # pulls in the formats

    if target_of(target).kind is not Kind.DOCUMENT:
        raise Refused([Problem(f"--branch {branch}: {target} is no file with branches")], ExitCode.USAGE)
    return with_options(target, {"branch": branch})


@contextmanager
def refusing(target: str) -> Iterator[None]:
    """Raise whatever is raised in the block, which runs somebody's code, as Refused."""
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        raise
    except BaseException as error:  # somebody's module may raise a class of its own
        trace = "".join(traceback.format_exception(error))
        raise Refused(problems_of(target, error), trace=trace) from error


def target_kept(target: str) -> str:
    """Return a target as a run keeps it: with the whole path of its file, so that it is found anywhere."""
    from dataflow.cli.flow_targets import Kind, target_of  # pulls in the formats

    parts = target_of(target)
    if parts.kind is Kind.MODULE:
        return target  # which is found as it was
    return f"{Path(parts.place).absolute()}{target[len(parts.place) :]}"


def folder_of(target: str) -> Path:
    """Return the folder of a file, for `module:name` the current one."""
    from dataflow.cli.flow_targets import Kind, target_of  # pulls in the formats

    parts = target_of(target)
    return Path() if parts.kind is Kind.MODULE else Path(parts.place).parent


def make_importable(target: str) -> None:
    """Let imports find the modules beside a file, for `module:name` those of the current folder."""
    place = str(folder_of(target).absolute())
    if place not in sys.path:
        sys.path.insert(0, place)


def problems_of(target: str, error: BaseException) -> list[Problem]:
    """List what is wrong, each problem with its place."""
    match error:
        case FlowInvalid():
            return [placed(problem, target) for problem in error.problems]
        case DataflowError() if isinstance(error.__cause__, FlowInvalid):  # a flow that a module wires
            return problems_of(target, error.__cause__)
        case FormatError():
            return [Problem(error.reason, error.place, error.line, error.column)]
        case PackError():
            return [Problem(error.reason if error.name == target else str(error), target)]
        case _:
            return [Problem(f"{type(error).__name__}: {error}{_place_of(error)}", target)]


def placed(problem: str, file: str) -> Problem:
    """Take the problem of a flow apart, which begins with line and column where they are known."""
    text, line, column = read_place(problem)
    return Problem(text, file, line, column)


def _place_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
