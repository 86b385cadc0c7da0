"""`dataflow fork`: run again with changes from a stored run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from dataflow.cli.commands.resume import EditedOption, check_edited, check_options, read_past
from dataflow.cli.options import (
    EventsOption,
    FullOption,
    JsonOption,
    LogFormatOption,
    MaxConcurrencyOption,
    Options,
    OutputOption,
    TracebackOption,
    TraceOption,
)
from dataflow.cli.output import ExitCode, Refused, one_line, problems_in, result_stream, tell
from dataflow.cli.paths import path_text
from dataflow.cli.session import Session
from dataflow.cli.signals import Interrupts
from dataflow.cli.storage import FlowOption, RunArgument, StoreOption, find_run, place_named, refusing_runs
from dataflow.cli.targets import flow_of
from dataflow.cli.words import shown_logs
from dataflow.diagnostics.commands import ENTRY_INVALID, GIVEN_TWICE, OPTION_UNKNOWN, STDIN_TWICE
from dataflow.errors import FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.core.policy import Edited
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.flows import Flow
    from dataflow.stores import Store, StoredRun

__all__ = ["fork"]


CHANGE_HELP: Final = (
    "A change of $in.NAME, an ask, NODE.config.FIELD or model; plain text for the type str, else JSON; "
    "KEY=@FILE takes the text of a file, KEY=- standard input."
)


def fork(
    context: typer.Context,
    run: RunArgument,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--change",
            metavar="KEY=VALUE",
            help=CHANGE_HELP,
        ),
    ] = None,
    file: FlowOption = None,
    edited: EditedOption = "refuse",
    as_json: JsonOption = False,
    events: EventsOption = False,
    outputs: OutputOption = None,
    max_concurrency: MaxConcurrencyOption = None,
    trace: TraceOption = False,
    tracebacks: TracebackOption = False,
    full: FullOption = False,
    log_format: LogFormatOption = None,
    store: StoreOption = None,
) -> None:
    """Create a new run from a stored one, with changes, and execute it.

    Dependents of a change and nodes that had not settled run; other values are reused. Exit codes and output
    are those of `dataflow run`.
    """
    options = Options(
        as_json=as_json or events,
        events=events,
        trace=trace,
        tracebacks=tracebacks,
        full=full,
        outputs=tuple(dict.fromkeys(outputs or ())),
        max_concurrency=max_concurrency,
        store=store,
        flow=file,
        log_format=log_format,
    )
    interrupts = context.ensure_object(Interrupts)
    with result_stream(alone=options.as_json or options.is_bare) as out, shown_logs():
        session = Session(interrupts, out, options)
        known = None
        try:
            check_edited(edited)
            place, path, _ = place_named(store, file)
            source = find_run(place, run, path)
            flow = options.settled(flow_of(source, file), place)
            plan = flow.compile()
            check_options(options, plan)
            forked = _forked(flow, place, source, changes or [], cast("Edited", edited))
            known = forked.id
            tell(f"run {forked.id} is a fork of {source.id}")
            resumed, past = flow.resuming(forked.id), partial(read_past, place, forked)
            code = session.execute(flow.name, plan, resumed, past)
        except Refused as refused:
            session.tell_refused(refused, known)
            raise
        raise typer.Exit(code)


def _forked(flow: Flow, store: Store, source: StoredRun, given: list[str], edited: Edited) -> StoredRun:
    """Write the fork; raises Refused, as a usage error for invalid changes."""
    from dataflow.durable.fork import FORK, changeable_of, write_fork

    with refusing_runs():
        past = read_past(store, source).past
        try:
            changes: dict[str, Any] = {}
            if given:
                changes = read_changes(changeable_of(flow, past, store).types, given)
            return store.find(write_fork(flow, source.id, changes, edited))
        except FlowInvalid as error:
            code = ExitCode.USAGE if error.what == FORK else ExitCode.FAILED
            raise Refused(problems_in(error), code) from error


def read_changes(types: Mapping[str, object], given: Sequence[str]) -> dict[str, Any]:
    """Parse changes to the keys of `types`; raises Refused, as a usage error, with all problems."""
    from dataflow.cli.arguments import STDIN, Given, read_value, split_entry  # loaded on first use

    problems: list[Diagnostic] = []
    taken: dict[str, Given] = {}
    shown = {path_text(key): key for key in types}
    for entry in given:
        key, equals, text = split_entry(entry, [*types, *shown])
        key = shown.get(key, key)
        if not equals or not key:
            problems.append(ENTRY_INVALID("--change", expected="KEY=VALUE", found=one_line(entry, 60)))
        elif key not in types:
            problems.append(
                OPTION_UNKNOWN("--change", what="value to change", found=key, available=types, near=key)
            )
        elif key in taken:
            problems.append(GIVEN_TWICE(f"--change {key}"))
        else:
            taken[key] = Given(text)
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append(STDIN_TWICE(what="change"))
    values: dict[str, Any] = {}
    if not problems:
        values = {key: read_value(f"--change {key}", one, types[key], problems) for key, one in taken.items()}
    if problems:
        raise Refused(problems, ExitCode.USAGE)
    return values
