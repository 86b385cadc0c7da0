"""Execute a run for a command: events, asks, interruption and exit code."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Final

import anyio

from dataflow.base.backend import waker
from dataflow.base.wording import visible
from dataflow.cli.output import ExitCode, Problem, Refused, is_terminal, tell, write
from dataflow.cli.storage import refusing_runs
from dataflow.cli.words import Worded, worded
from dataflow.core.events import EventKind
from dataflow.errors import RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from typing import TextIO

    from dataflow.base.failure import Failure
    from dataflow.cli.lines import Lines, Trace
    from dataflow.cli.options import Options
    from dataflow.cli.signals import Interrupts
    from dataflow.cli.tree import Tree
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.events import Event
    from dataflow.inspection.stored_run import PastRun
    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run


__all__ = ["UNREAD", "Outcome", "Sitting", "Used", "execute"]

#: Why a run is cancelled whose events nobody reads any more.
UNREAD = "nobody reads the events any more"
#: Where the metadata of a node have what it used, by name.
USAGE: Final = "usage"


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
            from dataflow.cli.lines import Trace

            return nullcontext(Trace())
        from dataflow.cli.tree import Tree, can_be_live

        draws_over_events = self._options.events and is_terminal(self._out)
        self._interrupts.is_live = can_be_live() and not draws_over_events
        if self._interrupts.is_live:
            past = None if read_past is None else read_past()
            return Tree(name, plan, lambda: self._interrupts.caught is not None, past)
        from dataflow.cli.board import nodes_of_file
        from dataflow.cli.lines import Lines

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, and how long it took."""

    result: Result
    failures: Sequence[Failure]
    seconds: float
    reason: str = ""  # why it was cancelled


async def execute(
    executing: AbstractAsyncContextManager[Run],
    see: Callable[[Event], bool],
    interrupts: Interrupts,
    *,
    with_inputs: bool = False,
) -> Outcome:
    """Execute a run to its end or its pause, giving each event to `see`.

    When `see` returns False the run is cancelled. `with_inputs`: as for `Run.events`.
    """
    began = perf_counter()
    reason = ""
    async with executing as run:
        events = run.events(inputs=with_inputs)
        interrupts.on_signal(waker(partial(run.cancel, "cancelled by a signal")))
        async for event in events:
            if not see(event) and not reason:
                reason = UNREAD
                run.cancel(reason)
        interrupts.run_ended()
        try:
            result, failures = await run, ()
        except RunFailed as failed:
            return Outcome(failed.result, failed.failures, perf_counter() - began)
    return Outcome(result, failures, perf_counter() - began, reason)


class Used:
    """Adds up; what was remembered, or stood already, has used nothing now."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._hits: set[str] = set()

    def see(self, event: Event) -> None:
        """Take in an event."""
        if event.kind is EventKind.MEMO_HIT:
            self._hits.add(event.path)
        elif event.kind is EventKind.NODE_FINISHED:
            if event.path not in self._hits:
                self._add(event.data["metadata"].get(USAGE))
            self._hits.discard(event.path)

    def _add(self, usage: object) -> None:
        if not isinstance(usage, Mapping):
            return
        for name, number in usage.items():
            if type(name) is str and type(number) in (int, float) and isfinite(number):
                self._sums[name] = self._sums.get(name, 0) + number

    def text(self) -> str:
        """Tell the sums that are not zero, on one line; empty if there are none."""
        return ", ".join(
            f"{_number(total)} {visible(name.replace('_', ' '))}"
            for name, total in self._sums.items()
            if total
        )


def _number(total: float) -> str:
    return f"{total:,}" if isinstance(total, int) else f"{total:.6f}".rstrip("0").rstrip(".")
