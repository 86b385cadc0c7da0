"""A sitting of a run, new or resumed, in this process: executed, watched, and told how it ended."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import anyio

from dataflow.base.wording import visible
from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.storage import refusing_runs
from dataflow.cli.streams import is_terminal, tell, write
from dataflow.cli.worded import Worded, worded

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from typing import TextIO

    from dataflow.cli.interrupts import Interrupts
    from dataflow.cli.lines import Lines
    from dataflow.cli.options import Options
    from dataflow.cli.trace import Trace
    from dataflow.cli.tree import Tree
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.events import Event
    from dataflow.inspection.stored_run import PastRun
    from dataflow.runtime.run import Run

__all__ = ["Sitting"]


class Sitting:
    """One call of a command that executes a run."""

    def __init__(self, interrupts: Interrupts, out: TextIO | None, options: Options) -> None:
        self._interrupts = interrupts
        self._out = out
        self._options = options

    def execute(
        self,
        name: str,
        plan: FlowPlan,
        executing: AbstractAsyncContextManager[Run],
        read_past: Callable[[], PastRun] | None = None,
    ) -> int:
        """Execute a run, and tell how it ended before the event loop ends, which may wait for threads.

        `read_past` reads what is known of a run that goes on.
        """
        with self._interrupts.held(), refusing_runs():
            try:
                return anyio.run(partial(self._execute, name, plan, executing, read_past))
            except (KeyboardInterrupt, SystemExit) as error:  # raised by a node: signals are held
                return self._ended_by_node(error)

    def _ended_by_node(self, error: BaseException) -> int:
        from dataflow.cli.report import write_refusal  # each of these only where it is needed

        problem = Problem(f"a node tried to end the process: {type(error).__name__}({error})")
        if self._options.as_json:
            write_refusal(self._out, [problem], type(error).__name__)
        tell(f"failed: {problem}")
        return ExitCode.FAILED

    async def _execute(
        self,
        name: str,
        plan: FlowPlan,
        executing: AbstractAsyncContextManager[Run],
        read_past: Callable[[], PastRun] | None,
    ) -> int:
        from dataflow.cli import report
        from dataflow.cli.execution import execute
        from dataflow.cli.used import Used

        options, used = self._options, Used()
        with self._progress(name, plan, read_past) as progress:
            self._interrupts.running = progress.running

            def see(event: Event) -> bool:
                progress.see(event)
                used.see(event)
                return self._write_event(event)

            outcome = await execute(executing, see, self._interrupts, with_inputs=options.trace)
        wanted = options.wanted(outcome.result.declared)
        if options.as_json:
            report.write_object(self._out, outcome, wanted)
        else:
            report.write_outputs(self._out, outcome.result, wanted, options)
        if isinstance(progress, Worded):
            progress.end(outcome.result.outputs)
        report.tell_outcome(outcome, options, progress.asked, used.text())
        code = report.code_of(outcome, self._interrupts.caught)
        if code != ExitCode.COMPLETED:  # nodes that were cut short may have left threads behind
            self._interrupts.told(code)
        return code

    def _progress(
        self, name: str, plan: FlowPlan, read_past: Callable[[], PastRun] | None
    ) -> AbstractContextManager[Lines | Trace | Tree | Worded]:
        options = self._options
        if options.log_format is not None:
            return nullcontext(worded(options.log_format, plan.wiring, is_kept=options.is_kept))
        if self._options.trace:
            from dataflow.cli.trace import Trace

            return nullcontext(Trace())
        from dataflow.cli.tree import Tree, can_be_live

        draws_over_events = self._options.events and is_terminal(self._out)
        self._interrupts.is_live = can_be_live() and not draws_over_events
        if self._interrupts.is_live:
            past = None if read_past is None else read_past()
            return Tree(name, plan, lambda: self._interrupts.caught is not None, past)
        from dataflow.cli.lines import Lines
        from dataflow.cli.nodes_of_file import nodes_of_file

        return nullcontext(Lines(own=nodes_of_file(plan)))

    def _write_event(self, event: Event) -> bool:
        from dataflow.cli.json_output import event_line

        if not self._options.events or self._out is None:
            return True
        return write(self._out, event_line(event, self._out.encoding))

    def tell_refused(self, refused: Refused, run: str | None = None) -> None:
        """Tell that the run was not executed, where that is read besides the error itself."""
        if self._options.as_json:
            from dataflow.cli.report import write_refusal

            write_refusal(self._out, refused.problems, type(refused.__cause__ or refused).__name__, run)
        if self._options.tracebacks and refused.trace:
            tell(visible(refused.trace.rstrip()))
