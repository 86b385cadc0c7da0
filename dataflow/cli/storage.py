"""Open the store and find the runs of a command; an error lists the available ones (S20)."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import typer

from dataflow.cli.output import ExitCode, Refused, problems_in
from dataflow.cli.targets import load
from dataflow.diagnostics.commands import NOT_AN_AGE, RUN_AMBIGUOUS, RUN_UNKNOWN, STORE_MISSING
from dataflow.errors import AnswerRefused, DataflowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.flows import Flow
    from dataflow.stores import Store, StoredRun

__all__ = [
    "AnswersArgument",
    "FlowOption",
    "JsonObjectOption",
    "Place",
    "RunArgument",
    "StoreOption",
    "command_for",
    "find_run",
    "missing_store",
    "open_store",
    "place_named",
    "place_of",
    "read_age",
    "read_store",
    "refusing_runs",
    "store_path",
]

DEFAULT_STORE: Final = ".dataflow/runs.db"
_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

StoreOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help=f"The store, by default that of the flow, if it is named and has one, else {DEFAULT_STORE}.",
        show_default=False,
    ),
]
JsonObjectOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]
FlowOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--flow", metavar="FILE", help="The flow, if it is no longer where it was.", show_default=False
    ),
]
RunArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="The id of a run, or a part of one that no other has.", show_default=False
    ),
]

AnswersArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ASK=VALUE",
        help="An answer: plain text for an ask of type str, else JSON; "
        "ASK=@FILE takes the text of a file, ASK=- standard input.",
        show_default=False,
    ),
]


def store_path(given: str | None) -> str:
    """Return the path of the store, by default in the current folder."""
    return DEFAULT_STORE if given is None else given


def missing_store(path: str | None) -> Diagnostic | None:
    """Return the problem of a path without a store; None if there is one."""
    place = Path(store_path(path))
    return None if place.exists() else STORE_MISSING(path=place.absolute())


def open_store(path: str | None) -> Store:
    """Return the store at a path; its file is created with the first run."""
    from dataflow.stores import Store  # imports sqlite3 on first use

    return Store.sqlite(store_path(path))


class Place(NamedTuple):
    """A store, with its path for messages (empty if it has none), and the options that name it."""

    store: Store
    path: str | None
    named_by: Mapping[str, Any]


def place_of(path: str | None, flow: Flow | None, file: str | None) -> Place:
    """Return the store at a path, else that of a flow, which `file` names, else that of the current folder.

    A store in memory does not count, since no other command can use it.
    """
    own = None if path is not None or flow is None else flow.settings.store
    if own is None:
        return Place(open_store(path), path, {})
    from dataflow.stores.memory import MemoryStore  # loaded on first use
    from dataflow.stores.sqlite import SqliteStore

    if isinstance(own, MemoryStore):
        return Place(open_store(path), path, {})
    if isinstance(own, SqliteStore):
        return Place(own, str(own), {"store": str(own)})
    return Place(own, "", {} if file is None else {"flow": file})


def place_named(path: str | None, file: str | None) -> Place:
    """Return the store at a path, else that of the flow in `file`, else that of the current folder."""
    flow = None if path is not None or file is None else load(file, imports=True)
    return place_of(path, flow, file)


def read_store(path: str | None) -> Store:
    """Return a store for reading; raises Refused, as a usage error, for a given path without a store.

    The store of the current folder may be missing, if nothing has been run there.
    """
    if path is not None and (missing := missing_store(path)):
        raise Refused([missing.within(f"--store {path}")], ExitCode.USAGE)
    return open_store(path)


def find_run(store: Store, part: str, path: str | None) -> StoredRun:
    """Find the run with an id or a unique part of it; raises Refused, as a usage error."""
    with refusing_runs():
        runs = {run.id: run for run in store.runs()}
    if part in runs:
        return runs[part]
    found = [id for id in runs if part and part in id]
    if len(found) == 1:
        return runs[found[0]]
    where = store_path(path) or str(store)
    if missing := missing_store(path):
        problem = missing.within(f"run {part!r}")
    elif found:
        problem = RUN_AMBIGUOUS(run=part, count=len(found), available=found)
    else:
        problem = RUN_UNKNOWN(run=part, store=where, available=runs, near=part)
    raise Refused([problem], ExitCode.USAGE)


@contextmanager
def refusing_runs() -> Iterator[None]:
    """Raise errors of stores and stored runs as Refused, on one line."""
    try:
        yield
    except DataflowError as error:
        code = ExitCode.USAGE if isinstance(error, AnswerRefused) else ExitCode.FAILED
        raise Refused(problems_in(error), code) from error


def command_for(verb: str, run: str, *more: str, store: str | None = None, flow: str | None = None) -> str:
    """Return a command about a run, with further arguments, for a message."""
    given = {"--store": store, "--flow": flow}
    options = [part for name, value in given.items() if value is not None for part in (name, value)]
    if any(name.startswith("-") for name in more):  # else it is parsed as an option
        return shlex.join(["dataflow", *verb.split(), run, *options, "--", *more])
    return shlex.join(["dataflow", *verb.split(), run, *more, *options])


def read_age(option: str, text: str, *, unit: str = "") -> timedelta:
    """Parse an age, by default in a unit; raises Refused, as a usage error."""
    found = _AGE.fullmatch(text.strip())
    try:
        if found is not None and (found[2] or unit):
            return timedelta(**{_UNITS[found[2] or unit]: float(found[1])})
    except OverflowError:
        pass
    raise Refused([NOT_AN_AGE(option, found=repr(text))], ExitCode.USAGE)
