"""`dataflow run`: run a flow once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from dataflow.cli.options import (
    EventsOption,
    FullOption,
    InputOption,
    JsonOption,
    LogFormatOption,
    MaxConcurrencyOption,
    NoStoreOption,
    Options,
    OutputOption,
    PromptArgument,
    PullOption,
    TracebackOption,
    TraceOption,
)
from dataflow.cli.output import ExitCode, Refused, problems_in, result_stream
from dataflow.cli.session import Session
from dataflow.cli.signals import Interrupts
from dataflow.cli.storage import Place, StoreOption, place_of
from dataflow.cli.targets import BranchOption, FileArgument, load, placed, refusing, target_kept, with_branch
from dataflow.cli.words import shown_logs
from dataflow.diagnostics.commands import ONE_PORT, OPTION_UNKNOWN, OPTIONS_EXCLUSIVE
from dataflow.errors import DataflowError, FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from dataflow.compiler.plan import FlowPlan
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.flows import Flow
    from dataflow.runtime.run import Run

__all__ = ["run"]


def run(
    context: typer.Context,
    file: FileArgument,
    prompt: PromptArgument = None,
    input: InputOption = None,
    as_json: JsonOption = False,
    events: EventsOption = False,
    outputs: OutputOption = None,
    pull: PullOption = None,
    max_concurrency: MaxConcurrencyOption = None,
    trace: TraceOption = False,
    tracebacks: TracebackOption = False,
    full: FullOption = False,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    branch: BranchOption = None,
    log_format: LogFormatOption = None,
) -> None:
    """Run a flow and write its outputs; progress, warnings and failures go to standard error.

    The run is recorded in the store of the flow or of the current folder: `dataflow runs` lists it, and
    `dataflow resume` resumes a run that has paused, failed, was cancelled or interrupted.

    Ctrl-C, SIGTERM and SIGHUP cancel the run, a second one ends the process at once; SIGHUP does not count.
    A SIGHUP that is ignored, as by nohup, remains ignored.

    Exit codes: 0 completed, 1 failed, also if FILE is missing or broken, 2 wrong usage, also an input that is
    unknown, missing or of the wrong type, 3 paused, 130 ended by Ctrl-C, 143 by SIGTERM,
    129 by SIGHUP.
    """
    options = Options(
        as_json=as_json or events,
        events=events,
        trace=trace,
        tracebacks=tracebacks,
        full=full,
        outputs=tuple(dict.fromkeys(outputs or ())),
        pulled=tuple(dict.fromkeys(pull or ())),
        max_concurrency=max_concurrency,
        store=store,
        is_kept=not no_store,
        log_format=log_format,
    )
    interrupts = context.ensure_object(Interrupts)
    with result_stream(alone=options.as_json or options.is_bare) as out, shown_logs():
        session = Session(interrupts, out, options)
        try:
            file = with_branch(file, branch)
            flow = load(file, imports=True)
            place = _place(options, flow, file)
            options = replace(options, **place.named_by)
            session = Session(interrupts, out, options)
            flow = options.settled(flow, place.store if options.is_kept else None)
            flow.target = target_kept(file)
            plan = _compiled(file, flow, options)
            code = session.execute(flow.name, plan, _started(file, flow, options, input or [], prompt))
        except Refused as refused:
            session.tell_refused(refused)
            raise
        raise typer.Exit(code)


def _place(options: Options, flow: Flow, file: str) -> Place:
    if options.store is not None and not options.is_kept:
        raise Refused([OPTIONS_EXCLUSIVE(first="--store", second="--no-store")], ExitCode.USAGE)
    return place_of(options.store, flow, file)


def _started(
    file: str, flow: Flow, options: Options, given: list[str], prompt: str | None
) -> AbstractAsyncContextManager[Run]:
    from dataflow.cli.arguments import read_inputs  # loaded on first use

    values = read_inputs(flow.inputs, given, prompt)
    with refusing(file):
        return flow.start(options.port, **values)


def _compiled(file: str, flow: Flow, options: Options) -> FlowPlan:
    """Compile the flow, or what a port needs; raises Refused, for an unknown name as a usage error."""
    with refusing(file):
        plan = flow.compile()
    problems = list(_unusable(options, plan))
    if options.port is not None:
        try:
            plan = flow.compile_for(options.port)
        except DataflowError as error:
            problems += [one.within(f"--pull {options.port}") for one in problems_in(error)]
    if problems:
        raise Refused(problems, ExitCode.USAGE)
    if options.is_kept:
        _check_storable(file, plan)
    return plan


def _check_storable(file: str, plan: FlowPlan) -> None:
    """Raise Refused for ports whose types cannot be stored (S12.3)."""
    from dataflow.durable.storable import storable_of  # loaded on first use

    try:
        storable_of(plan)
    except FlowInvalid as error:
        raise Refused([placed(problem, file) for problem in error.problems]) from error


def _unusable(options: Options, plan: FlowPlan) -> Iterator[Diagnostic]:
    """Yield the problems of options that do not fit the flow, or each other."""
    for name in options.outputs:
        if name not in plan.outputs:
            yield OPTION_UNKNOWN("--output", what="output", found=name, available=plan.outputs)
    if options.pulled and options.outputs:
        yield OPTIONS_EXCLUSIVE(first="--pull", second="--output")
    if len(options.pulled) > 1:
        yield ONE_PORT("--pull", found=" and ".join(options.pulled))
