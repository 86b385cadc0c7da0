"""`dataflow diff`: list the differences of two stored runs, the first cause first (S13.6)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataflow.cli.output import ExitCode, Refused, write
from dataflow.cli.storage import JsonObjectOption, StoreOption, find_run, open_store, refusing_runs

if TYPE_CHECKING:
    from dataflow.inspection.diff import Differences
    from dataflow.inspection.json_values import StoredValues

__all__ = ["diff"]


def diff(
    first: Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, or a part of it.")],
    second: Annotated[
        str, typer.Argument(metavar="OTHER", help="The id of the other run.", show_default=False)
    ],
    as_json: JsonObjectOption = False,
    store: StoreOption = None,
) -> None:
    """List the differences of two stored runs: inputs, nodes, answers, states, values and messages.

    The first cause comes first; each difference is marked as a cause or a consequence. Exit codes: 0 the runs
    do not differ, 1 they do, 2 wrong usage.
    """
    from dataflow.inspection.diff import compare_runs
    from dataflow.inspection.json_values import StoredValues  # loaded on first use

    place = open_store(store)
    runs = [find_run(place, run, store).id for run in (first, second)]
    try:
        with refusing_runs():
            found = compare_runs(place, *runs)
    except Refused as refused:  # not the exit code of a difference
        raise Refused(refused.problems, ExitCode.USAGE) from refused
    if as_json:
        from dataflow.cli.json_output import write_json

        write_json(sys.stdout, _object(found, StoredValues(place)))
    else:
        write(sys.stdout, str(found))
    raise typer.Exit(ExitCode.FAILED if found else ExitCode.COMPLETED)


def _object(found: Differences, stored: StoredValues) -> dict[str, Any]:
    differences = [
        {
            "kind": one.kind.value,
            "path": one.path,
            "port": one.port,
            "cause": one.is_cause,
            "where": one.where,
            "first": stored.readable(one.first),
            "second": stored.readable(one.second),
            "text": one.text,
        }
        for one in found
    ]
    return {"first": found.first, "second": found.second, "differences": differences}
