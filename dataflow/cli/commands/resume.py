"""`dataflow resume`: resume a run that has paused, failed, was cancelled or interrupted (S11.3)."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast, get_args

import typer

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
from dataflow.cli.output import ExitCode, Refused, result_stream
from dataflow.cli.session import Session
from dataflow.cli.signals import Interrupts
from dataflow.cli.storage import (
    AnswersArgument,
    FlowOption,
    RunArgument,
    StoreOption,
    find_run,
    place_named,
    refusing_runs,
)
from dataflow.cli.targets import flow_of
from dataflow.cli.words import log_format_of, shown_logs
from dataflow.diagnostics.commands import OPTION_UNKNOWN, RUN_COMPLETED, RUN_RUNNING
from dataflow.stores import StoredAsk

if TYPE_CHECKING:
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Edited
    from dataflow.inspection.open_asks import OpenAsk
    from dataflow.inspection.stored_run import PastRun
    from dataflow.stores import Store, StoredRun

__all__ = ["EditedOption", "check_edited", "check_options", "read_past", "resume"]

EditedOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="If settled nodes of the flow were edited since: `refuse` to resume, `keep` their values, or "
        "`recompute` them and their dependents.",
    ),
]


def resume(
    context: typer.Context,
    run: RunArgument,
    answers: AnswersArgument = None,
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
    """Resume a run that has paused, failed, was cancelled or interrupted, with answers if given.

    Settled nodes keep their values and are not computed again. Exit codes and output are those of
    `dataflow run`.
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
            place, path, _ = place_named(store, file)
            found = find_run(place, run, path)
            known = found.id
            check_edited(edited)
            _check_status(found)
            given = _given(place, found, answers) if answers else {}
            flow = options.settled(flow_of(found, file), place)
            plan = flow.compile()
            check_options(options, plan)
            code = session.execute(
                flow.name,
                plan,
                flow.resuming(found.id, given, edited=cast("Edited", edited)),
                partial(read_past, place, found),
            )
        except Refused as refused:
            session.tell_refused(refused, known)
            raise
        raise typer.Exit(code)


def check_options(options: Options, plan: FlowPlan) -> None:
    """Raise Refused for an output that the flow does not have, and for the log format of another system."""
    unknown = [name for name in options.outputs if name not in plan.outputs]
    if unknown:
        problem = OPTION_UNKNOWN("--output", what="output", found=unknown[0], available=plan.outputs)
        raise Refused([problem], ExitCode.USAGE)
    if options.log_format is not None:
        log_format_of(options.log_format, plan.wiring)


def read_past(store: Store, run: StoredRun) -> PastRun:
    """Read the journal of a run."""
    from dataflow.inspection.stored_run import read_run  # loaded on first use

    with refusing_runs():
        return read_run(store, run)


def _given(store: Store, run: StoredRun, answers: list[str]) -> dict[str, Any]:
    from dataflow.cli.asks import read_answers  # loaded on first use
    from dataflow.inspection.open_asks import asks_of, ended_asks

    is_closed = run.status in ("failed", "cancelled")
    with refusing_runs():
        asks = _closed_asks(store, run) if is_closed else asks_of(store, run.id)
    return read_answers(run.id, asks, answers, partial(ended_asks, store, run.id))


def _closed_asks(store: Store, run: StoredRun) -> list[OpenAsk]:
    """List the asks that were closed with a run: they open again, and their time starts again (S11.5)."""
    from dataflow.inspection.open_asks import of_store  # loaded on first use
    from dataflow.inspection.stored_run import read_run

    found = read_run(store, run)
    asks = ((path, firing.ask) for path, firing in found.past.firings.items())
    return [
        replace(of_store(StoredAsk(run.id, path, json.dumps(ask.told)), found.stored), expires=None)
        for path, ask in asks
        if ask is not None and ask.values is None
    ]


def check_edited(edited: str) -> None:
    """Raise Refused for an unknown value of `--edited`."""
    from dataflow.core.policy import Edited

    if edited not in get_args(Edited):
        problem = OPTION_UNKNOWN("--edited", what="way", found=edited, available=get_args(Edited))
        raise Refused([problem], ExitCode.USAGE)


def _check_status(run: StoredRun) -> None:
    """Raise Refused for a run that cannot be resumed, before its flow is imported."""
    kinds = {"running": RUN_RUNNING, "completed": RUN_COMPLETED}
    if run.status in kinds:
        raise Refused([kinds[run.status](f"run {run.id}")])
