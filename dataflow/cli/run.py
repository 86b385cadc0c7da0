"""`dataflow run`: run a flow once."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import typer

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.interrupts import Interrupts
from dataflow.cli.logs import shown_logs
from dataflow.cli.options import (
    EventsOption,
    InputOption,
    JsonOption,
    MaxConcurrencyOption,
    Options,
    OutputOption,
    PromptArgument,
    PullOption,
    TracebackOption,
    TraceOption,
)
from dataflow.cli.streams import is_terminal, result_stream, tell, write
from dataflow.cli.targets import FileArgument, load, refusing
from dataflow.cli.texts import one_line
from dataflow.errors import DataflowError
from dataflow.wording import choices, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import TextIO

    from dataflow.cli.lines import Lines
    from dataflow.cli.trace import Trace
    from dataflow.cli.tree import Tree
    from dataflow.events import Event
    from dataflow.flows import Flow
    from dataflow.plan import FlowPlan

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
) -> None:
    """Run a flow and write its outputs; progress, warnings and failures go to standard error.

    Ctrl-C and SIGTERM cancel the run, a second one ends the process at once.

    Exit codes: 0 completed, 1 failed, also if FILE is missing or broken, 2 wrong usage, also an input that is
    unknown, missing or of the wrong type, 3 paused, 130 ended by Ctrl-C, 143 by SIGTERM.
    """
    options = Options(
        as_json=as_json or events,
        events=events,
        trace=trace,
        tracebacks=tracebacks,
        outputs=tuple(dict.fromkeys(outputs or ())),
        pulled=tuple(dict.fromkeys(pull or ())),
        max_concurrency=max_concurrency,
    )
    interrupts = context.ensure_object(Interrupts)
    with result_stream(alone=options.as_json or options.is_bare) as out, shown_logs():
        raise typer.Exit(_Run(interrupts, out, options).run(file, input or [], prompt))


class _Run:
    """One call of the command."""

    def __init__(self, interrupts: Interrupts, out: TextIO | None, options: Options) -> None:
        self._interrupts = interrupts
        self._out = out
        self._options = options

    def run(self, file: str, given: list[str], prompt: str | None) -> int:
        try:
            flow = self._options.limited(load(file, imports=True))
            plan = _compiled(file, flow, self._options)
            return self._run_flow(flow, plan, self._inputs(flow, given, prompt))
        except Refused as refused:
            self._tell_refused(refused)
            raise

    def _inputs(self, flow: Flow, given: list[str], prompt: str | None) -> Mapping[str, Any]:
        from dataflow.cli.inputs import read_inputs  # each of these only where it is needed

        return read_inputs(flow.inputs, given, prompt)

    def _run_flow(self, flow: Flow, plan: FlowPlan, inputs: Mapping[str, Any]) -> int:
        """Run, and tell how it ended before the event loop ends, which may have to wait for threads."""
        with self._interrupts.held():
            try:
                return anyio.run(partial(self._execute, flow, plan, inputs))
            except (KeyboardInterrupt, SystemExit) as error:  # raised by a node: signals are held
                return self._ended_by_node(error)

    def _ended_by_node(self, error: BaseException) -> int:
        from dataflow.cli.report import write_refusal  # as above

        problem = Problem(f"a node tried to end the process: {type(error).__name__}({error})")
        if self._options.as_json:
            write_refusal(self._out, [problem], type(error).__name__)
        tell(f"failed: {problem}")
        return ExitCode.FAILED

    async def _execute(self, flow: Flow, plan: FlowPlan, inputs: Mapping[str, Any]) -> int:
        from dataflow.cli import report
        from dataflow.cli.execution import execute

        options = self._options
        with self._progress(flow, plan) as progress:
            self._interrupts.running = progress.running

            def see(event: Event) -> bool:
                progress.see(event)
                return self._write_event(event)

            outcome = await execute(
                flow, inputs, see, self._interrupts, port=options.port, with_inputs=options.trace
            )
        wanted = options.wanted(outcome.result.declared)
        if options.as_json:
            report.write_object(self._out, outcome, wanted)
        else:
            report.write_outputs(self._out, outcome.result, wanted, bare=options.is_bare)
        report.tell_outcome(outcome, tracebacks=options.tracebacks)
        code = report.code_of(outcome, self._interrupts.caught)
        if code != ExitCode.COMPLETED:  # nodes that were cut short may have left threads behind
            self._interrupts.told(code)
        return code

    def _progress(self, flow: Flow, plan: FlowPlan) -> AbstractContextManager[Lines | Trace | Tree]:
        if self._options.trace:
            from dataflow.cli.trace import Trace

            return nullcontext(Trace())
        from dataflow.cli.tree import Tree, can_be_live

        draws_over_events = self._options.events and is_terminal(self._out)
        self._interrupts.is_live = can_be_live() and not draws_over_events
        if self._interrupts.is_live:
            return Tree(flow.name, plan, lambda: self._interrupts.caught is not None)
        from dataflow.cli.lines import Lines

        return nullcontext(Lines())

    def _write_event(self, event: Event) -> bool:
        from dataflow.cli.carrying import event_line

        if not self._options.events or self._out is None:
            return True
        return write(self._out, event_line(event, self._out.encoding))

    def _tell_refused(self, refused: Refused) -> None:
        if self._options.as_json:
            from dataflow.cli.report import write_refusal

            write_refusal(self._out, refused.problems, type(refused.__cause__ or refused).__name__)
        if self._options.tracebacks and refused.trace:
            tell(visible(refused.trace.rstrip()))


def _compiled(file: str, flow: Flow, options: Options) -> FlowPlan:
    """Compile the flow, or what a port needs; raises Refused, for a name that is not there as wrong usage."""
    with refusing(file):
        plan = flow.compile()
    problems = list(_unusable(options, plan))
    if options.port is not None:
        try:
            plan = flow.compile_for(options.port)
        except DataflowError as error:
            problems.append(f"--pull {options.port}: {error}")
    if problems:
        raise Refused([Problem(one_line(problem)) for problem in problems], ExitCode.USAGE)
    return plan


def _unusable(options: Options, plan: FlowPlan) -> Iterator[str]:
    """Say which options do not go with the flow, or with each other."""
    for name in options.outputs:
        if name not in plan.outputs:
            yield f"--output {name}: there is no such output; {choices(plan.outputs)}"
    if options.pulled and options.outputs:
        yield "--pull writes one port, so it does not go with --output"
    if len(options.pulled) > 1:
        yield f"--pull writes one port, found {' and '.join(options.pulled)}"
