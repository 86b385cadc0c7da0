"""Find the target of a command: a document, or a flow in a file or module."""

from __future__ import annotations

import importlib
import sys
import traceback
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias, assert_never
from urllib.parse import quote, unquote, urlencode

import typer

from dataflow.base.failure import traceback_of
from dataflow.cli.output import ExitCode, Interrupted, Refused, problems_in
from dataflow.diagnostics.commands import (
    FLOW_MOVED,
    FLOW_UNKNOWN,
    NO_BRANCHES,
    NO_FLOW,
    NO_FLOWS,
    SEVERAL_FLOWS,
)
from dataflow.diagnostics.diagnostic import Diagnostic
from dataflow.errors import DataflowError, FlowInvalid, PackError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from dataflow.flows import Flow
    from dataflow.stores import StoredRun

__all__ = [
    "BranchOption",
    "FileArgument",
    "Kind",
    "find_flow",
    "flow_of",
    "folder_of",
    "load",
    "make_importable",
    "placed",
    "problems_of",
    "refusing",
    "target_kept",
    "with_branch",
]

#: The option that names the format of a document, which is detected by default.
FORMAT: Final = "format"
FileArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="A document, path.py[:flow] or module:flow.", show_default=False)
]
BranchOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--branch", metavar="ID", help="Of a file with branches, this one.", show_default=False),
]


class Kind(Enum):
    """The kind of place of a flow."""

    DOCUMENT = auto()
    FILE = auto()
    MODULE = auto()


class Target(NamedTuple):
    """A parsed target: the file or module, the name of a flow in Python, the options of a format."""

    kind: Kind
    place: str
    name: str = ""
    options: Mapping[str, str] = MappingProxyType({})


def target_of(written: str) -> Target:
    """Parse FILE of the command line: `path.py[:flow]`, `module:flow`, or a document with options.

    Options follow the path of a document that exists: `flow.json#model=openrouter/free:fast`.
    """
    file, mark, options = written.rpartition("#")
    if mark and not _is_there(written):  # a file name may contain the sign
        parted = _without_options(file)
        if parted.kind is Kind.DOCUMENT and (_is_there(file) or _is_document(written)):
            return parted._replace(options=_read_options(options))
    return _without_options(written)


def _without_options(written: str) -> Target:
    from dataflow.core.functions import is_function_name  # loaded on first use

    path, colon, name = written.rpartition(":")
    if Path(written).suffix == ".py":
        return Target(Kind.FILE, written)
    if colon and path.endswith(".py"):
        return Target(Kind.FILE, path, name)
    if colon and is_function_name(written) and not _is_there(written):
        return Target(Kind.MODULE, path, name)
    return Target(Kind.DOCUMENT, written)


def _is_document(written: str) -> bool:
    return _without_options(written).kind is Kind.DOCUMENT


def _is_there(file: str) -> bool:
    try:
        return Path(file).exists()
    except (OSError, ValueError):  # a name that is too long
        return False


def _read_options(written: str) -> dict[str, str]:
    """Parse `name=value&name=value` with percent escapes."""
    pairs = (one.partition("=") for one in written.split("&") if one)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def find_flow(written: str, *, imports: bool = True) -> Flow:
    """Find FILE of the command line: a document, `path.py[:flow]` or `module:flow`.

    The path of a document may be followed by its format and options: `duet.json#branch=nightly`,
    `flow.json#format=hifide`. Raises FormatError, FlowInvalid or PackError; Python targets are always
    imported.
    """
    from dataflow.core.functions import importing  # loaded on first use, as they take a while
    from dataflow.flows import Flow
    from dataflow.loading import import_file, read_document

    target = target_of(written)
    match target.kind:
        case Kind.FILE:
            return _only_flow(written, import_file(Path(target.place), written), target.name)
        case Kind.MODULE:
            with importing(written, target.place):
                module = importlib.import_module(target.place)
            return _only_flow(written, module, target.name)
        case Kind.DOCUMENT:
            options = {**target.options}
            asked = options.pop(FORMAT, None)
            read = read_document(
                target.place, Flow.from_wiring, format=asked, options=options, imports=imports
            )
            return Flow.from_wiring(*read)
        case _:
            assert_never(target.kind)


def with_options(written: str, options: Mapping[str, str]) -> str:
    """Return a target with more options."""
    if not options:
        return written
    target = target_of(written)
    return f"{target.place}#{urlencode({**target.options, **options}, quote_via=quote)}"


def _only_flow(target: str, module: ModuleType, name: str) -> Flow:
    from dataflow.flows import Flow  # loaded on first use
    from dataflow.typed_flows import TypedFlow

    flows = {key: value for key, value in vars(module).items() if isinstance(value, Flow)}
    if name:
        if name not in flows:
            raise PackError(target, NO_FLOW(flow=name, available=flows))
        return flows[name]
    if not flows:
        raise PackError(target, NO_FLOWS())
    plain = [
        flow for flow in flows.values() if not isinstance(flow, TypedFlow)
    ]  # typed flows are parts of others
    for found in (plain, [*flows.values()]):
        if len({id(flow) for flow in found}) == 1:
            return found[0]
    raise PackError(target, SEVERAL_FLOWS(count=len(flows), target=target, available=flows))


def load(target: str, *, imports: bool) -> Flow:
    """Find a flow and wire it; raises Refused with every problem.

    What is imported finds the modules beside the file, as a script that is run does.
    """
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

    if target_of(target).kind is not Kind.DOCUMENT:
        raise Refused([NO_BRANCHES(f"--branch {branch}", target=target)], ExitCode.USAGE)
    return with_options(target, {"branch": branch})


@contextmanager
def refusing(target: str) -> Iterator[None]:
    """Raise any error in the block, which runs user code, as Refused."""
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        raise
    except BaseException as error:  # user code may raise any class
        raise Refused(problems_of(target, error), trace=traceback_of(error, error.__traceback__)) from error


def target_kept(target: str) -> str:
    """Return a target in the form that a run stores: with the absolute path of its file."""
    parts = target_of(target)
    if parts.kind is Kind.MODULE:
        return target
    return f"{Path(parts.place).absolute()}{target[len(parts.place) :]}"


def folder_of(target: str) -> Path:
    """Return the folder of a file, for `module:name` the current one."""
    parts = target_of(target)
    return Path() if parts.kind is Kind.MODULE else Path(parts.place).parent


def make_importable(target: str) -> None:
    """Let imports find the modules beside a file, for `module:name` those of the current folder."""
    place = str(folder_of(target).absolute())
    if place not in sys.path:
        sys.path.insert(0, place)


def problems_of(target: str, error: BaseException) -> list[Diagnostic]:
    """Return the problems of an error, each with its location."""
    if isinstance(error, DataflowError) and isinstance(error.__cause__, FlowInvalid):
        error = error.__cause__  # of a flow that a module wires
    if isinstance(error, PackError) and error.name == target and isinstance(error.problem, Diagnostic):
        return [placed(error.problem, target)]
    return [placed(problem, target) for problem in problems_in(error, _place_of(error))]


def placed(found: Diagnostic, file: str) -> Diagnostic:
    """Return a problem of a flow with the file that it is in."""
    return found if found.location.file else replace(found, location=replace(found.location, file=file))


def _place_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def flow_of(run: StoredRun, file: str | None) -> Flow:
    """Load the flow of a run, from `file` or else from the target of the run."""
    target = file or run.target
    if not target:
        raise Refused([FLOW_UNKNOWN(f"run {run.id}", flow=run.flow)], ExitCode.USAGE)
    try:
        flow = load(target, imports=True)
        with refusing(target):
            flow.compile()
    except Refused as refused:
        if file is not None or _names_a_file(target):
            raise
        advice = FLOW_MOVED(f"run {run.id}", target=target)
        raise Refused([*refused.problems, advice], refused.code, refused.trace) from refused.__cause__
    if file is not None:
        flow.target = target_kept(file)
    return flow


def _names_a_file(target: str) -> bool:
    """Return whether the file of a target exists, even if it is broken."""
    parts = target_of(target)
    return parts.kind is not Kind.MODULE and Path(parts.place).exists()
