"""`dataflow memo`: list and delete the cached outcomes in the store (S13.1)."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from dataflow.base.wording import counted, moment, visible
from dataflow.cli.output import ExitCode, Refused, table, tell, write
from dataflow.cli.storage import (
    JsonObjectOption,
    StoreOption,
    missing_store,
    read_age,
    read_store,
    refusing_runs,
    store_path,
)
from dataflow.diagnostics.commands import NOTHING_CACHED

if TYPE_CHECKING:
    from dataflow.stores import OutcomeTable

__all__ = ["memo"]

memo = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@memo.callback()
def memo_commands() -> None:
    """List or delete the cached outcomes in a store."""


@memo.command()
def stats(as_json: JsonObjectOption = False, store: StoreOption = None) -> None:
    """Count the cached outcomes of each node type, and their bytes."""
    with refusing_runs():
        found = _outcomes_in(store).use()
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        types = [
            {"type": one.type, "entries": one.entries, "bytes": one.size, "newest": one.newest.isoformat()}
            for one in found
        ]
        write_json(sys.stdout, {"entries": sum(one.entries for one in found), "types": types})
    elif found:
        rows = [(one.type, f"{one.entries:,}", f"{one.size:,}", moment(one.newest)) for one in found]
        write(sys.stdout, visible("\n".join(table([("NODE TYPE", "OUTCOMES", "BYTES", "NEWEST"), *rows]))))
    else:
        missing = missing_store(store)
        tell(missing.text if missing else f"nothing is cached in {store_path(store)}")


@memo.command()
def clear(
    node_type: Annotated[
        str | None,
        typer.Argument(
            metavar="NODE_TYPE", help="Only outcomes of this node type; all by default.", show_default=False
        ),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Only outcomes older than this: seconds, or a number and a unit, as in 30d or 12h.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonObjectOption = False,
    store: StoreOption = None,
) -> None:
    """Delete cached outcomes."""
    before = None
    if older_than is not None:
        before = datetime.now(UTC) - read_age("--older-than", older_than, unit="s")
    with refusing_runs():
        outcomes = _outcomes_in(store)
        if node_type is not None:
            _check_known(outcomes, node_type, store)
        count = outcomes.clear(node_type, before)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        write_json(sys.stdout, {"cleared": count})
    else:
        tell(f"forgot {counted(count, 'outcome')}")


def _check_known(outcomes: OutcomeTable, node_type: str, path: str | None) -> None:
    """Refuse a node type without cached outcomes, which is probably misspelt."""
    known, where = [one.type for one in outcomes.use()], store_path(path)
    if node_type in known:
        return
    problem = missing_store(path)
    if problem is None:
        problem = NOTHING_CACHED(type=node_type, store=where, available=known, near=node_type)
    raise Refused([problem], ExitCode.USAGE)


def _outcomes_in(path: str | None) -> OutcomeTable:
    place = read_store(path)
    assert place.outcomes is not None, "every SQLite store has cached outcomes"
    return place.outcomes
