"""`dataflow why`: explain the state of a port of a stored run, back to the decision or failure (S3.3)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dataflow.base.wording import visible
from dataflow.cli.output import write
from dataflow.cli.storage import (
    FlowOption,
    JsonObjectOption,
    RunArgument,
    StoreOption,
    find_run,
    open_store,
    refusing_runs,
)

__all__ = ["why"]


def why(
    run: RunArgument,
    port: Annotated[
        str,
        typer.Argument(
            metavar="PORT", help="A node, node.port or an output of the flow.", show_default=False
        ),
    ],
    file: FlowOption = None,
    as_json: JsonObjectOption = False,
    store: StoreOption = None,
) -> None:
    """Explain the state of a node or port of a run, back to the decision, the failure or the open ask.

    The flow is imported where it explains a chain of skips better than the journal.
    """
    from dataflow.cli.reasons import explain_port  # loaded on first use
    from dataflow.inspection.stored_run import read_run

    place = open_store(store)
    with refusing_runs():
        found = read_run(place, find_run(place, run, store))
    explanation = explain_port(place, found, file, port)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        lines, reasons = str(explanation).split("\n"), explanation.as_json()
        write_json(sys.stdout, {"run": found.run.id, "port": port, "why": lines, "reasons": reasons})
    else:
        write(sys.stdout, visible(str(explanation)))
