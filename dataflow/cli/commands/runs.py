"""`dataflow runs` and `dataflow cancel`: list, show and cancel stored runs."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dataflow.base.wording import counted, moment, visible
from dataflow.cli.options import FullOption  # noqa: TC001 - typer reads annotations
from dataflow.cli.output import ExitCode, Refused, duration, table, tell, write
from dataflow.cli.storage import (
    JsonObjectOption,
    RunArgument,
    StoreOption,
    command_for,
    find_run,
    missing_store,
    open_store,
    read_age,
    read_store,
    refusing_runs,
    store_path,
)
from dataflow.core.states import ENDED
from dataflow.diagnostics.commands import OPTION_MISPLACED, OPTION_UNKNOWN, RUN_RUNNING

if TYPE_CHECKING:
    from collections import Counter

    from dataflow.stores import StoredRun

__all__ = ["cancel", "runs"]

runs = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
STATUSES: Final = (*ENDED, "paused", "interrupted")


@runs.callback()
def list_runs(context: typer.Context, as_json: JsonObjectOption = False, store: StoreOption = None) -> None:
    """List the runs in the store, the newest first, or show or delete some.

    A run whose process ended while it was executed is `interrupted`.
    """
    if context.invoked_subcommand is not None:
        if as_json or store is not None:
            usage = f"dataflow runs {context.invoked_subcommand} ..."
            raise Refused([OPTION_MISPLACED("--json, --store", usage=usage)], ExitCode.USAGE)
        return
    from collections import Counter

    place = read_store(store)
    with refusing_runs():
        found = place.runs()
        asks: Counter[str] = Counter(ask.run for ask in place.asks() if not ask.is_answered)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use
        from dataflow.inspection.stored_run import record_object

        write_json(sys.stdout, {"runs": [{**record_object(run), "asks": asks[run.id]} for run in found]})
    elif found:
        head = ("RUN", "FLOW", "STATUS", "BEGAN", "LASTED", "ASKS")
        write(sys.stdout, visible("\n".join(table([head, *(_row(run, asks) for run in found)]))))
    else:
        missing = missing_store(store)
        tell(missing.text if missing else f"no runs in {store_path(store)}")


def _row(run: StoredRun, asks: Counter[str]) -> tuple[str, ...]:
    until = datetime.now(UTC) if run.status == "running" else run.updated
    lasted = duration((until - run.created).total_seconds())
    count = asks[run.id]
    return run.id, run.flow, run.status, moment(run.created), lasted, f"{count} open" if count else ""


@runs.command()
def show(
    run: RunArgument,
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="A node by its path, or an output.", show_default=False),
    ] = None,
    as_json: JsonObjectOption = False,
    full: FullOption = False,
    store: StoreOption = None,
) -> None:
    """Show a run with its outputs, nodes and asks, or all that is stored of one firing or output.

    Everything is read from the store; the flow is not imported. Long values are shortened.
    """
    from dataflow.cli.json_output import write_json  # loaded on first use
    from dataflow.cli.past_runs import described_text, find_part, run_text
    from dataflow.inspection.stored_run import read_run, run_object

    place = open_store(store)
    with refusing_runs():
        found = read_run(place, find_run(place, run, store))
    if path is not None:
        described = find_part(found, place, path)
        write_json(sys.stdout, described) if as_json else write(
            sys.stdout, described_text(found, described, full=full)
        )
        return
    from dataflow.inspection.open_asks import asks_of  # loaded on first use

    with refusing_runs():
        asks = asks_of(place, found.run.id)
    write_json(sys.stdout, run_object(found, asks)) if as_json else write(
        sys.stdout, run_text(found, asks, full=full)
    )


@runs.command()
def delete(run: RunArgument, as_json: JsonObjectOption = False, store: StoreOption = None) -> None:
    """Delete a run that is not being executed, with everything that is stored about it."""
    place = open_store(store)
    found = find_run(place, run, store)
    with refusing_runs():
        place.delete(found.id)
    _tell_deleted([found.id], as_json=as_json)


@runs.command()
def prune(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="The age of the last record: 30d, 12h, 90m, 2w.")
    ],
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help=f"Of this status, which may be given several times: {', '.join(STATUSES)}; "
            f"{', '.join(ENDED)} by default.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonObjectOption = False,
    store: StoreOption = None,
) -> None:
    """Delete ended runs whose last record is older than a given age."""
    from dataflow.stores.pruning import prune as prune_store  # loaded on first use

    unknown = [one for one in status or () if one not in STATUSES]
    if unknown:
        problem = OPTION_UNKNOWN("--status", what="status", found=unknown[0], available=STATUSES)
        raise Refused([problem], ExitCode.USAGE)
    place, age = read_store(store), read_age("--older-than", older_than)
    with refusing_runs():
        deleted = prune_store(place, age, status or ENDED)
    _tell_deleted(deleted, as_json=as_json)


def _tell_deleted(ids: list[str], *, as_json: bool) -> None:
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        write_json(sys.stdout, {"deleted": ids})
        return
    if ids:
        write(sys.stdout, "\n".join(ids))
    tell(f"deleted {counted(len(ids), 'run')}")


def cancel(run: RunArgument, as_json: JsonObjectOption = False, store: StoreOption = None) -> None:
    """Cancel a run that has paused or was interrupted; nothing is executed.

    A run that is being executed is cancelled by Ctrl-C or SIGTERM to its process.
    """
    from dataflow.durable.ownership import cancel_stored  # loaded on first use

    place = open_store(store)
    found = find_run(place, run, store)
    if found.status == "running":
        raise Refused([RUN_RUNNING(f"run {found.id}")])
    with refusing_runs():
        cancel_stored(place, found.id)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        write_json(sys.stdout, {"run": found.id, "status": "cancelled"})
        return
    tell(f"cancelled {found.id}; it can go on with: {command_for('resume', found.id, store=store)}")
