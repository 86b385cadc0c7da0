"""`dataflow run`: run a flow once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import typer

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.interrupts import Interrupts
from dataflow.cli.streams import is_terminal, result_stream, tell, write
from dataflow.cli.targets import FileArgument, load, refusing
from dataflow.cli.texts import visible

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from dataflow.cli.lines import Lines
    from dataflow.cli.tree import Tree
    from dataflow.events import Event
    from dataflow.flows import Flow
    from dataflow.plan import FlowPlan

__all__ = ["run"]


def run(
    context: typer.Context,
    file: FileArgument,
    prompt: Annotated[
        str | None,
        typer.Argument(
            metavar="PROMPT",
            help="The input 'prompt', or the only required one; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="K=V",
            help="Input K: text as it stands for an input of type str, else JSON; "
            "K=@FILE takes the text of a file, K=- standard input.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write only the result to standard output, as one JSON object.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Before it write each event as a JSON object; implies --json.")
    ] = False,
    tracebacks: Annotated[
        bool, typer.Option("--traceback", help="Tell where in the code the failures arose.")
    ] = False,
) -> None:
    """Run a flow and write its outputs; progress, warnings and failures go to standard error.

    Ctrl-C and SIGTERM cancel the run, a second one ends the process at once.

    Exit codes: 0 completed, 1 failed, also if FILE is missing or broken, 2 wrong usage, also an input that is
    unknown, missing or of the wrong type, 3 paused, 130 ended by Ctrl-C, 143 by SIGTERM.
    """
    interrupts = context.ensure_object(Interrupts)
    with result_stream(alone=as_json or events) as out:
        command = _Run(interrupts, out, as_json or events, events, tracebacks)
        raise typer.Exit(command.run(file, input or [], prompt))


class _Run:
    """One call of the command."""

    def __init__(
        self, interrupts: Interrupts, out: TextIO | None, as_json: bool, events: bool, tracebacks: bool
    ) -> None:
        self._interrupts = interrupts
        self._out = out
        self._as_json = as_json
        self._events = events
        self._tracebacks = tracebacks

    def run(self, file: str, given: list[str], prompt: str | None) -> int:
        try:
            flow = load(file, imports=True)
            plan = _compiled(file, flow)
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
        from dataflow.cli.report import write_refusal

        problem = Problem(f"a node tried to end the process: {type(error).__name__}({error})")
        if self._as_json:
            write_refusal(self._out, [problem], type(error).__name__)
        tell(f"failed: {problem}")
        return ExitCode.FAILED

    async def _execute(self, flow: Flow, plan: FlowPlan, inputs: Mapping[str, Any]) -> int:
        from dataflow.cli import report
        from dataflow.cli.execution import execute

        with self._progress(flow, plan) as progress:
            self._interrupts.running = progress.running

            def see(event: Event) -> bool:
                progress.see(event)
                return self._write_event(event)

            outcome = await execute(flow, inputs, see, self._interrupts)
        declared = flow.wiring.block.outputs
        if self._as_json:
            report.write_object(self._out, outcome, declared)
        else:
            report.write_outputs(self._out, outcome.result, declared)
        report.tell_outcome(outcome, tracebacks=self._tracebacks)
        code = report.code_of(outcome, self._interrupts.caught)
        if code != ExitCode.COMPLETED:  # nodes that were cut short may have left threads behind
            self._interrupts.told(code)
        return code

    def _progress(self, flow: Flow, plan: FlowPlan) -> Lines | Tree:
        from dataflow.cli.tree import Tree, can_be_live

        draws_over_events = self._events and is_terminal(self._out)
        self._interrupts.is_live = can_be_live() and not draws_over_events
        if self._interrupts.is_live:
            return Tree(flow.name, plan, lambda: self._interrupts.caught is not None)
        from dataflow.cli.lines import Lines

        return Lines()

    def _write_event(self, event: Event) -> bool:
        from dataflow.cli.carrying import event_line

        if not self._events or self._out is None:
            return True
        return write(self._out, event_line(event, self._out.encoding))

    def _tell_refused(self, refused: Refused) -> None:
        if self._as_json and refused.code is not ExitCode.USAGE:
            from dataflow.cli.report import write_refusal

            write_refusal(self._out, refused.problems, type(refused.__cause__ or refused).__name__)
        if self._tracebacks and refused.trace:
            tell(visible(refused.trace.rstrip()))


def _compiled(file: str, flow: Flow) -> FlowPlan:
    """Compile the flow; raises Refused with all its problems."""
    with refusing(file):
        return flow.compile()
