"""The `Flow` class: build, check, run, start, resume, fork and draw a flow."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

from dataflow.base.markers import MISSING
from dataflow.base.tracebacks import USER_FRAMES
from dataflow.compiler.definition import Definition
from dataflow.core.inputs import read_inputs
from dataflow.core.keywords import naming_settings
from dataflow.core.policy import Edited, one_of, telemetry_of
from dataflow.core.wiring import flows_within
from dataflow.diagnostics.arguments import ARGUMENT_INVALID, STORE_REQUIRED
from dataflow.errors import ArgumentInvalid, DataflowError, FlowInvalid, Paused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from os import PathLike

    from dataflow.compiler.names import FindFunction, FindType
    from dataflow.core.limits import Limit
    from dataflow.core.policy import Errors, Telemetry
    from dataflow.core.wiring import Remark, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.inspection.diff import Differences
    from dataflow.live.session import Live
    from dataflow.memo.table import ProcessMemo
    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run
    from dataflow.stores import Store

__all__ = ["Flow"]

T = TypeVar("T")
_UNSET: Final[Any] = MISSING  # a setting that is not given


@cache  # an import statement in a function takes as long as a firing, each time
def _running() -> tuple[Callable[..., AbstractAsyncContextManager[Run]], Callable[[], str], Any]:
    """Import what runs a flow, which building one does not need."""
    from dataflow.runtime.run import executing, new_run_id
    from dataflow.runtime.start import prepare_anew

    return executing, new_run_id, prepare_anew


class Flow(Definition):
    """A flow: build it, then run it. `with Flow("name") as f:` checks it at the end of the block.

    All problems are raised together as one FlowInvalid, at the end of the block or before the first run.
    """

    @classmethod
    def from_wiring(cls, wiring: Wiring, find_type: FindType, find_function: FindFunction) -> Flow:
        """Return a flow for a graph definition that a format has read."""
        made = Flow(wiring.name)
        made._restart(wiring)
        made.settings = wiring.settings
        made._find_type = find_type
        made._find_function = find_function
        return made

    @naming_settings("using")
    def using(
        self,
        *,
        max_concurrency: int | None = _UNSET,
        limits: Mapping[str, Limit | int] | None = _UNSET,
        errors: Errors | None = _UNSET,
        timeout: float | None = _UNSET,
        cleanup: float = _UNSET,
        keep: bool = _UNSET,
        store: Store | None = _UNSET,
        memo: ProcessMemo | Store | None = _UNSET,
        telemetry: Telemetry | bool | None = _UNSET,
        check_values: bool = _UNSET,
        progress: bool = _UNSET,
    ) -> Self:
        """Return the flow with these settings for its runs; this one is not changed.

        Settings that are not given keep their values, also those of a document. None sets one back to its
        default; for `cleanup` that is 5, for `keep` True, for `check_values` and `progress` False.

        `max_concurrency` is the maximum number of node functions that run concurrently, `limits` that of
        nodes that name a limit: a number for each run, or a `Limit`. `timeout` bounds a whole run, in
        seconds; a node that is cut short has `cleanup` seconds for its `finally` blocks and context
        managers, then it is cancelled again. `errors` is `fail_fast` unless set here or by the flow around
        it; `continue` finishes the nodes that do not depend on a failure before the run fails. With
        `keep=False` a value is released when its last reader has finished; the result then has the outputs
        of the flow and no other values.
        With a `store` runs are recorded in it (durable execution): they are resumed by their id, also after
        a crash. `memo` is the cache for outcomes: a `ProcessMemo` in place of `process_memo`, or a `Store`
        in place of the store of the runs. With `telemetry` runs are reported to OpenTelemetry as spans,
        without content unless a `Telemetry` enables it. With `check_values` each value is checked against the
        type of its port, and a node that gives one that does not fit fails. With `progress` runs show their
        progress on standard error as `dataflow run` does: a tree on a terminal, else lines.
        """
        settings: dict[str, Any] = {
            "errors": errors, "max_concurrency": max_concurrency, "limits": limits, "timeout": timeout,
            "cleanup": cleanup, "check_values": check_values, "keep": keep, "store": store, "memo": memo,
            "telemetry": telemetry if telemetry is _UNSET else telemetry_of(telemetry), "progress": progress,
        }  # fmt: skip
        given = {name: value for name, value in settings.items() if value is not _UNSET}
        _check_places(given.get("store"), given.get("memo"))
        other = self._copied()
        other.settings = replace(self.settings, **given)
        return other

    def check(self) -> list[Diagnostic]:
        """List every problem of the flow without raising; an empty list means that it can run.

        With a `store` they include ports whose values cannot be stored, as far as their types show.
        """
        problems = super().check()
        if problems or self.settings.store is None:
            return problems
        from dataflow.durable.storable import storable_of  # most flows have no store

        try:
            storable_of(self.compile())
        except FlowInvalid as error:
            return list(error.problems)
        return []

    async def __call__(self, /, **inputs: Any) -> Any:
        """Run the flow and return its outputs by name, without those that were skipped.

        Raises Paused if the run pauses, RunFailed if it fails.
        """
        with USER_FRAMES:
            result = await self.run(**inputs)
            if result.status == "paused":
                raise Paused(result)
            return result.outputs

    async def run(self, /, **inputs: Any) -> Result:
        """Run the flow to its end; raises RunFailed if it fails, FlowInvalid for wrong inputs.

        It runs on the current event loop, asyncio or trio. Cancelling the caller cancels the run.
        """
        with USER_FRAMES:
            started = self.start(**inputs)
            inputs.clear()  # so that only the run refers to them (S8.5)
            async with started as run:
                return await run

    def run_sync(self, /, **inputs: Any) -> Result:
        """Run the flow from synchronous code, also while an event loop is running in this thread.

        Raises as `run` does. Ctrl-C cancels the run.
        """
        from dataflow.runtime.tasks import run_sync  # imports asyncio, which building a flow does not need

        with USER_FRAMES:
            started = self.start(**inputs)
            inputs.clear()  # so that only the run refers to them (S8.5)
            return run_sync(started, f"dataflow run_sync {self.name}")

    def start(self, port: object = None, /, **inputs: Any) -> AbstractAsyncContextManager[Run]:
        """Run the flow, or only the dependencies of a port, for the duration of the block.

        `async with flow.start(...) as run:` gives the `Run`; leaving the block waits for it, an error in
        the block cancels it. A port is given as to `pull`, and is then the only output, under its own name.
        Call `run.events()` before anything else to receive every event. A failure that was not awaited is
        raised at the end.
        """
        executing, new_run_id, prepare_anew = _running()
        with USER_FRAMES:
            plan = self.compile() if port is None else self.compile_for(port)
            values = read_inputs(self.name, plan.wiring.inputs, inputs)
        inputs.clear()  # so that only the run refers to them (S8.5)
        if self.settings.store is None:
            return executing(partial(prepare_anew, plan, values, self.settings, new_run_id()))
        from dataflow.durable.ownership import prepare_stored  # most runs have no store

        pulled = "" if port is None else next(iter(plan.outputs))
        return executing(
            partial(prepare_stored, plan, values, self.settings, new_run_id(), self.target, pulled)
        )

    async def resume(
        self,
        run: str | Result,
        answers: Mapping[str, object] | None = None,
        *,
        edited: Edited = "refuse",
    ) -> Result:
        """Resume a run that has paused, failed, was cancelled or interrupted.

        It is identified by its id in the store of the flow, or by the result of a paused run without a
        store. Settled results are reused and not computed again. Raises RunTaken if another process is
        executing it or was faster, AnswerRefused for an answer that does not fit, FlowEdited if a settled
        node of the flow has changed since; in all of these cases the run is not changed.
        """
        with USER_FRAMES:
            async with self.resuming(run, answers, edited=edited) as resumed:
                return await resumed

    def resuming(
        self,
        run: str | Result,
        answers: Mapping[str, object] | None = None,
        *,
        edited: Edited = "refuse",
    ) -> AbstractAsyncContextManager[Run]:
        """Resume a run for the duration of the block, as `start` does for a new one; see `resume`."""
        from dataflow.runtime.run import executing  # loaded on first use

        one_of("edited", edited, Edited)
        given = dict(answers or {})
        if not isinstance(run, str) and (run.lives_in_memory or self.settings.store is None):
            from dataflow.runtime.start import prepare_again  # as above

            return executing(partial(prepare_again, self.compile(), run, given))
        if self.settings.store is None:
            raise DataflowError(STORE_REQUIRED(f"run {run}"))
        from dataflow.durable.ownership import plan_of_run, prepare_resumed  # as above

        id, store = run if isinstance(run, str) else run.run_id, self.settings.store
        plan_for = partial(plan_of_run, self, store=store)
        return executing(partial(prepare_resumed, plan_for, self.settings, id, given, edited))

    async def fork(
        self, run: str | Result, *, changes: Mapping[str, object], edited: Edited = "refuse"
    ) -> Result:
        """Start a new run from the settled results of another, with some of them changed.

        The keys of the changes are `$in.NAME`, the id of an ask, `NODE.config.FIELD`, and `model` for each
        model that the flow names. Dependents of a change run again, and so do nodes that had not settled;
        all other values are reused. The original run is not changed, and may be in any state. Raises
        FlowInvalid for invalid changes, AnswerRefused for an answer that does not fit, FlowEdited as
        `resume` does.
        """
        with USER_FRAMES:
            async with self.forking(run, changes=changes, edited=edited) as forked:
                return await forked

    def forking(
        self, run: str | Result, *, changes: Mapping[str, object], edited: Edited = "refuse"
    ) -> AbstractAsyncContextManager[Run]:
        """Execute a fork for the duration of the block, as `start` does for a new run; see `fork`."""
        from dataflow.durable.fork import prepare_forked  # as in start
        from dataflow.runtime.run import executing  # as above

        one_of("edited", edited, Edited)
        id = run if isinstance(run, str) else run.run_id
        if self.settings.store is None:
            raise DataflowError(STORE_REQUIRED(f"run {id}"))
        return executing(partial(prepare_forked, self, id, dict(changes), edited))

    async def diff(self, first: str | Result, second: str | Result) -> Differences:
        """Compare two runs in the store of the flow; see `diff`."""
        from dataflow.inspection.diff import diff  # as above

        one, other = (run if isinstance(run, str) else run.run_id for run in (first, second))
        if self.settings.store is None:
            raise DataflowError(STORE_REQUIRED(f"run {one}"))
        return await diff(self.settings.store, one, other, self)

    def live(self, /, **inputs: Any) -> AbstractAsyncContextManager[Live]:
        """Keep the flow evaluated for the duration of the block: only dependents of a change are recomputed.

        `async with flow.live(...) as session:` gives a `Live`. The session is kept in memory and is not a
        run: the settings `timeout` and `keep` do not apply, and a `store` is only used by nodes with a
        memo. Raises FlowInvalid for inputs that do not fit.
        """
        from dataflow.live.session import live  # as in start

        with USER_FRAMES:
            return live(self, read_inputs(self.name, self.wiring.inputs, inputs))

    async def open(self, /, **inputs: Any) -> Live:
        """Open a live session without a block, as for the cells of a notebook.

        A background task keeps it open until `await session.aclose()`, or until the event loop ends. Use
        `live` where a block is possible. Raises FlowInvalid for inputs that do not fit.
        """
        from dataflow.live.session import Background  # loaded on first use

        with USER_FRAMES:
            return await Background(self.live(**inputs)).open()

    @overload
    async def pull(self, port: str, /, **inputs: Any) -> Any: ...
    @overload
    async def pull(self, port: T, /, **inputs: Any) -> T: ...
    async def pull(self, port: object, /, **inputs: Any) -> Any:
        """Run only the dependencies of a port, and return its value (on-demand evaluation).

        The port belongs to the flow itself, not to a loop or map, or is the name of an output. Raises
        RunFailed if the run fails, Paused if it pauses, DataflowError if the port has no value.
        """
        with USER_FRAMES:
            async with self.start(port, **inputs) as run:
                inputs.clear()  # so that only the run refers to them (S8.5)
                result = await run
            [output] = result.declared
            if output in result.outputs:
                return result.outputs[output]
            if result.status == "paused":
                raise Paused(result)
            from dataflow.runtime.result import no_value  # as above

            raise no_value(result, output, port)

    def to_mermaid(self) -> str:
        """Draw the flow as Mermaid text, whether or not it has problems."""
        from dataflow.inspection.drawing import mermaid  # rarely needed

        return mermaid(self.wiring)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Show the flow in a notebook as its drawing, and its problems."""
        from dataflow.base.pages import bundle, pre, table  # only notebooks show flows
        from dataflow.secrets.known import redacted

        drawing = redacted(self.to_mermaid())
        problems = table(("problems",), [(str(problem),) for problem in self.check()])
        shown = bundle(repr(self), filter(None, [pre(drawing, "mermaid"), problems]))
        return {**shown, "text/vnd.mermaid": drawing}

    def to_dict(self) -> dict[str, Any]:
        """Return the flow as a native document; raises FlowInvalid if it cannot be serialized.

        A function that cannot be imported by name, such as a lambda, cannot be serialized.
        """
        from dataflow.formats.native.writer import dump  # as above

        self.compile()
        return dump(self.wiring_with_settings)

    @property
    def report(self) -> Sequence[Remark]:
        """The differences in meaning from the foreign file that it was loaded from."""
        return [remark for flow in flows_within(self.wiring) for remark in flow.report]

    @classmethod
    def load(cls, path: str | PathLike[str], *, format: str | None = None, **options: str) -> Flow:
        """Load and check a document, YAML or JSON; raises FormatError or FlowInvalid.

        It is a native document, or a file of another system, whose format is detected by its content unless
        `format` names it. `options` are the options of that format, such as `branch="nightly"`. Loading
        imports the files that the document names under `uses`: load only files you trust.
        """
        from dataflow.loading import read_document  # as above

        with USER_FRAMES:
            read = read_document(path, Flow.from_wiring, format=format, options=options)
            with Flow.from_wiring(*read) as loaded:
                return loaded


def _check_places(store: object, memo: object) -> None:
    """Raise ValueError for an invalid store or memo."""
    if store is memo is None:
        return
    from dataflow.memo.table import ProcessMemo  # imported only if one is given
    from dataflow.stores import Store

    if not isinstance(store, Store | None):
        expected = "a Store, such as Store.sqlite(path)"
        raise ArgumentInvalid(ARGUMENT_INVALID(name="store", expected=expected, found=repr(store)))
    if not isinstance(memo, ProcessMemo | Store | None):
        expected = "a ProcessMemo or a Store"
        raise ArgumentInvalid(ARGUMENT_INVALID(name="memo", expected=expected, found=repr(memo)))
