"""Loading what the command line calls FILE, with every problem told instead of raised from inside."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dataflow.cli.exits import Refused
from dataflow.errors import DataflowError, FlowInvalid, FormatError

if TYPE_CHECKING:
    from dataflow.flows import Flow

__all__ = ["FileArgument", "load", "problems_of"]

FileArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="A document, path.py[:flow] or module:flow.", show_default=False)
]


def load(target: str, *, imports: bool) -> Flow:
    """Find a flow and wire it; raises Refused with every problem.

    A Python target finds the modules beside it, as a script that is run does.
    """
    from dataflow.targets import find_flow  # pulls in the formats

    _make_importable(target)
    try:
        flow = find_flow(target, imports=imports)
        _ = flow.wiring  # a @flow function is called now
    except (Exception, SystemExit) as error:  # importing and wiring run somebody's code
        trace = "".join(traceback.format_exception(error))
        raise Refused(problems_of(target, error), trace=trace) from error
    return flow


def _make_importable(target: str) -> None:
    file = Path(target if target.endswith(".py") else target.rpartition(":")[0])
    if file.suffix == ".py":
        folder = file.parent
    elif ":" in target and not Path(target).exists():
        folder = Path()
    else:
        return
    place = str(folder.absolute())
    if place not in sys.path:
        sys.path.insert(0, place)


def problems_of(target: str, error: BaseException) -> list[str]:
    """List what is wrong, each problem with its place."""
    match error:
        case FlowInvalid():
            return [f"{target}: {problem}" for problem in error.problems]
        case DataflowError() if isinstance(error.__cause__, FlowInvalid):  # a flow that a module wires
            return problems_of(target, error.__cause__)
        case FormatError():
            place = error.place
            if error.line is not None:
                place += f":{error.line}" + (f":{error.column}" if error.column is not None else "")
            return [f"{place}: {error.reason}"]
        case DataflowError():
            text = str(error)
            return [text if text.startswith(target) else f"{target}: {text}"]
        case SystemExit():
            return [f"{target}: ended the process while it was imported (exit code {error.code})"]
        case _:
            return [f"{target}: {type(error).__name__}: {error}{_place_of(error)}"]


def _place_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
