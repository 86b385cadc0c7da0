"""`dataflow diff`: list the differences of two stored runs, the first cause first (S13.6)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataflow.cli.output import ExitCode, Refused, tell, write
from dataflow.cli.storage import JsonObjectOption, StoreOption, find_run, open_store, refusing_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow import Flow
    from dataflow.inspection.diff import Differences
    from dataflow.inspection.json_values import StoredValues
    from dataflow.stores import StoredRun

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

    The first cause comes first; each difference is marked as a cause or a consequence. If a run was stored
    under former names of classes and functions, the flow is imported to distinguish these from edits. Exit
    codes: 0 the runs do not differ, 1 they do, 2 wrong usage.
    """
    from dataflow.inspection.diff import compare_runs, needs_flow
    from dataflow.inspection.json_values import StoredValues  # loaded on first use

    place = open_store(store)
    runs = [find_run(place, run, store) for run in (first, second)]
    one, other = (run.id for run in runs)
    try:
        with refusing_runs():
            flow = _flow_of(runs) if needs_flow(place, one, other) else None
            found = compare_runs(place, one, other, flow)
    except Refused as refused:  # not the exit code of a difference
        raise Refused(refused.problems, ExitCode.USAGE) from refused
    if as_json:
        from dataflow.cli.json_output import write_json

        write_json(sys.stdout, _object(found, StoredValues(place)))
    else:
        write(sys.stdout, str(found))
    raise typer.Exit(ExitCode.FAILED if found else ExitCode.COMPLETED)


def _flow_of(runs: Sequence[StoredRun]) -> Flow | None:
    """Load the flow of two runs from the target of the later one; None if it cannot be loaded."""
    from dataflow.cli.targets import flow_of  # loaded on first use

    try:
        return flow_of(max(runs, key=lambda run: run.created), None)
    except Refused as refused:
        tell(f"note: former names may be shown as edits, for lack of the flow: {refused.problems[0]}")
        return None


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
