"""Execute a run for a command: progress, events, interruption, report and exit code."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Final

import anyio

from dataflow.base.backend import threadsafe_callback
from dataflow.base.failure import text_of_error, traceback_of
from dataflow.base.wording import visible
from dataflow.cli.output import ExitCode, Interrupted, Refused, is_terminal, tell, write
from dataflow.cli.storage import refusing_runs
from dataflow.cli.words import ForeignProgress, foreign_progress
from dataflow.core.events import EventKind
from dataflow.diagnostics.commands import PROCESS_ENDED
from dataflow.errors import RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from typing import TextIO

    from dataflow.base.failure import Failure
    from dataflow.cli.lines import Lines, Trace
    from dataflow.cli.options import Options
    from dataflow.cli.report import Outcome
    from dataflow.cli.signals import Interrupts
    from dataflow.cli.tree import Tree
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.events import Event
    from dataflow.inspection.stored_run import PastRun
    from dataflow.runtime.run import Run

__all__ = ["Session", "Used", "execute"]

#: The reason for cancelling a run when the reader of its events is gone.
UNREAD: Final = "the reader of the events is gone"
#: The key of the usage of a node, by name, in its metadata.
USAGE: Final = "usage"


class Session:
    """The execution of a run by one command."""

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
        """Execute a run, and report its end before the event loop ends, which may wait for threads.

        `read_past` reads the journal of a resumed run.
        """
        with self._interrupts.held(), refusing_runs():
            try:
                return anyio.run(partial(self._execute, name, plan, executing, read_past))
            except (Exception, Interrupted):
                raise
            except BaseException as error:  # noqa: BLE001 - raised by a node: signals are held
                return self._ended_by_node(error)

    def _ended_by_node(self, error: BaseException) -> int:
        from dataflow.cli.report import write_refusal  # loaded on first use

        problem = PROCESS_ENDED(call=f"{type(error).__name__}({text_of_error(error)})")
        if self._options.as_json:
            write_refusal(self._out, [problem], type(error).__name__)
        if self._options.tracebacks:
            tell(visible(traceback_of(error, error.__traceback__).rstrip()))
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
        failed: dict[str, Failure] = {}
        with self._progress(name, plan, read_past) as progress:
            self._interrupts.running = progress.running

            def see(event: Event) -> bool:
                progress.see(event)
                used.see(event)
                _note_failure(failed, event)
                return self._write_event(event)

            outcome = await execute(executing, see, self._interrupts, with_inputs=options.trace)
        wanted = options.wanted(outcome.result.declared)
        if options.as_json:
            report.write_object(self._out, outcome, wanted, failed)
        else:
            report.write_outputs(self._out, outcome.result, wanted, options)
        if isinstance(progress, ForeignProgress):
            progress.end(outcome.result.outputs)
        report.tell_outcome(outcome, options, progress.asked, used.text())
        code = report.code_of(outcome, self._interrupts.caught)
        if code != ExitCode.COMPLETED:  # interrupted nodes may have left threads
            self._interrupts.reported(code)
        return code

    def _progress(
        self, name: str, plan: FlowPlan, read_past: Callable[[], PastRun] | None
    ) -> AbstractContextManager[Lines | Trace | Tree | ForeignProgress]:
        options = self._options
        if options.log_format is not None:
            return nullcontext(foreign_progress(options.log_format, plan.wiring, is_kept=options.is_kept))
        if self._options.trace:
            from dataflow.cli.lines import Trace

            return nullcontext(Trace())
        from dataflow.cli.tree import Tree, can_be_live

        draws_over_events = self._options.events and is_terminal(self._out)
        self._interrupts.is_live = can_be_live() and not draws_over_events
        if self._interrupts.is_live:
            tree = Tree(name, plan, lambda: self._interrupts.caught is not None)
            if read_past is not None:
                past = read_past()
                tree.recall(past.past, past.stored.readable)
            return tree
        from dataflow.cli.board import nodes_of_file
        from dataflow.cli.lines import Lines

        maps = {} if read_past is None else read_past().past.maps
        return nullcontext(Lines(own=nodes_of_file(plan), maps=maps))

    def _write_event(self, event: Event) -> bool:
        from dataflow.cli.json_output import event_line

        if not self._options.events or self._out is None:
            return True
        return write(self._out, event_line(event, self._out.encoding))

    def tell_refused(self, refused: Refused, run: str | None = None) -> None:
        """Report that the run was not executed in `--json`, and print the traceback if requested."""
        if self._options.as_json:
            from dataflow.cli.report import write_refusal

            write_refusal(self._out, refused.problems, type(refused.__cause__ or refused).__name__, run)
        if self._options.tracebacks and refused.trace:
            tell(visible(refused.trace.rstrip()))


async def execute(
    executing: AbstractAsyncContextManager[Run],
    see: Callable[[Event], bool],
    interrupts: Interrupts,
    *,
    with_inputs: bool = False,
) -> Outcome:
    """Execute a run to its end or pause, and pass each event to `see`.

    The run is cancelled when `see` returns False. `with_inputs` is `inputs` of `Run.events`.
    """
    from dataflow.cli.report import Outcome  # loaded on first use

    began = perf_counter()
    reason = ""
    async with executing as run:
        events = run.events(inputs=with_inputs)
        interrupts.on_signal(threadsafe_callback(partial(run.cancel, "cancelled by a signal")))
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


def _note_failure(failed: dict[str, Failure], event: Event) -> None:
    """Note the failure of a firing by its path, but not that of a block which has failed with it."""
    failure = event.data.get("failure") if event.kind is EventKind.NODE_FINISHED else None
    if failure is not None and failure.path == event.path:
        failed[event.path] = failure


class Used:
    """The sums of the usage in metadata; cached and replayed outcomes count as no usage."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._hits: set[str] = set()

    def see(self, event: Event) -> None:
        """Add the usage of an event."""
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
        """Return the sums that are not zero on one line; empty if there are none."""
        return ", ".join(
            f"{_number(total)} {visible(name.replace('_', ' '))}"
            for name, total in self._sums.items()
            if total
        )


def _number(total: float) -> str:
    return f"{total:,}" if isinstance(total, int) else f"{total:.6f}".rstrip("0").rstrip(".")
