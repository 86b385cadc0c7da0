"""`dataflow cancel`: cancel a run that nobody executes (S11.5)."""

from __future__ import annotations

import sys

from dataflow.cli.exits import Problem, Refused
from dataflow.cli.storage import (
    JsonObjectOption,
    RunArgument,
    StoreOption,
    command_for,
    find_run,
    open_store,
    refusing_runs,
)
from dataflow.cli.streams import tell

__all__ = ["cancel"]


def cancel(run: RunArgument, as_json: JsonObjectOption = False, store: StoreOption = None) -> None:
    """Cancel a run that has paused or was interrupted: its record is written, nothing is executed.

    A run that is being executed is cancelled where that happens, by Ctrl-C or SIGTERM.
    """
    from dataflow.durable.ownership import cancel_stored  # only where it is needed

    place = open_store(store)
    found = find_run(place, run, store)
    if found.status == "running":
        problem = f"run {found.id} is being executed by another process: end it there, with Ctrl-C or SIGTERM"
        raise Refused([Problem(problem)])
    with refusing_runs():
        cancel_stored(place, found.id)
    if as_json:
        from dataflow.cli.json_output import write_json  # as above

        write_json(sys.stdout, {"run": found.id, "status": "cancelled"})
        return
    tell(f"cancelled {found.id}; it can go on with: {command_for('resume', found.id, store=store)}")
