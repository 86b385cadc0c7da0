"""The `Flow` class: build, check, run, start, resume, fork and draw a flow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from dataflow.compiler.definition import Definition
from dataflow.core.inputs import read_inputs
from dataflow.core.policy import Edited, Settings, one_of, telemetry_of
from dataflow.core.wiring import flows_within
from dataflow.errors import DataflowError, Paused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from os import PathLike

    from dataflow.compiler.names import FindFunction, FindType
    from dataflow.core.policy import Errors, Limit, Telemetry
    from dataflow.core.wiring import Remark, Wiring
    from dataflow.inspection.diff import Differences
    from dataflow.live.session import Live
    from dataflow.memo.table import ProcessMemo
    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run
    from dataflow.stores import Store


__all__ = ["Flow", "Forkable"]

T = TypeVar("T")


class Forkable(Definition):
    """A flow whose runs have settings, and can be forked and compared."""

    def using(
        self,
        *,
        max_concurrency: int | None = None,
        limits: Mapping[str, Limit | int] | None = None,
        errors: Errors | None = None,
        timeout: float | None = None,
        keep: bool = True,
        store: Store | None = None,
        memo: ProcessMemo | Store | None = None,
        telemetry: Telemetry | bool | None = None,
    ) -> Self:
        """Return the flow with these settings for its runs, the others by default; this one is not changed.

        `max_concurrency` bounds the node functions that run at once, `limits` those that name a limit: a
        number for each run, or a `Limit` (S15.1). `timeout` bounds a whole run, in seconds.
        `errors` is `fail_fast` unless set, or as in the flow around it; `continue` finishes what does not
        depend on a failure before the run fails (S9.4). With `keep=False` a value is let go when its last
        reader has come to its end; the result then has the outputs of the flow and no other value (S8.5).
        With a `store` runs live in it: they are resumed by their id, also after a crash (S12). `memo` is
        where outcomes are remembered in place of `process_memo`, if it is a `ProcessMemo`, or in place of the
        store of the runs, if it is a `Store` (S13.1). With `telemetry` runs are told to OpenTelemetry as
        spans, without content unless a `Telemetry` says so (S19).
        """
        if store is not None or memo is not None:
            _check_places(store, memo)
        other = self._copied()
        told = telemetry_of(telemetry)
        other.settings = Settings(errors, max_concurrency, limits, timeout, keep, store, memo, told)
        return other

    async def fork(
        self, run: str | Result, *, changes: Mapping[str, object], edited: Edited = "refuse"
    ) -> Result:
        """Make a new run of what another has settled, with some of it changed, and go on with it (S13.5).

        The keys of the changes are `$in.NAME`, the id of an ask, `NODE.config.FIELD`, and `model` for each
        model that the flow names. What depends on a change runs again, and what had not settled runs; every
        other value is used again. The run stays as it was, and may be in any state. Raises FlowInvalid for
        changes that cannot be, AnswerRefused for an answer that does not fit, FlowEdited as `resume` does.
        """
        async with self.forking(run, changes=changes, edited=edited) as forked:
            return await forked

    def forking(
        self, run: str | Result, *, changes: Mapping[str, object], edited: Edited = "refuse"
    ) -> AbstractAsyncContextManager[Run]:
        """Execute a fork while the block runs, as `start` does with a new run; see `fork`."""
        from dataflow.durable.fork import prepare_forked  # brings asyncio, as running does
        from dataflow.runtime.run import executing

        one_of("edited", edited, Edited)
        id = run if isinstance(run, str) else run.run_id
        if self.settings.store is None:
            raise DataflowError(
                f"run {id} is to be forked, but the flow has no store to find it in: "
                "say flow.using(store=...).fork(...)"
            )
        return executing(partial(prepare_forked, self, id, dict(changes), edited))

    async def diff(self, first: str | Result, second: str | Result) -> Differences:
        """Tell what two runs in the store of the flow differ in, the first cause first; see `diff`."""
        from dataflow.inspection.diff import diff  # as above

        if self.settings.store is None:
            raise DataflowError("the flow has no store to find runs in: say flow.using(store=...).diff(...)")
        ids = [run if isinstance(run, str) else run.run_id for run in (first, second)]
        return await diff(self.settings.store, *ids)


def _check_places(store: object, memo: object) -> None:
    """Raise ValueError for what runs cannot live in, or outcomes be remembered in."""
    from dataflow.memo.table import ProcessMemo  # both only where one is given
    from dataflow.stores import Store

    if not isinstance(store, Store | None):
        raise ValueError(f"store must be a Store, such as Store.sqlite(path), found {store!r}")
    if not isinstance(memo, ProcessMemo | Store | None):
        raise ValueError(f"memo must be a ProcessMemo or a Store, found {memo!r}")


class Flow(Forkable):
    """A flow: wire it, then run it. `with Flow("name") as f:` checks it at the end of the block.

    Whatever is wrong with it is raised at once, as one FlowInvalid, there or before its first run.
    """

    @classmethod
    def from_wiring(cls, wiring: Wiring, find_type: FindType, find_function: FindFunction) -> Flow:
        """Make a flow of a wiring that a format has read."""
        made = Flow(wiring.name)
        made._restart(wiring)
        made.settings = wiring.settings
        made._find_type = find_type
        made._find_function = find_function
        return made

    async def __call__(self, /, **inputs: Any) -> Any:
        """Run the flow and return its outputs by name, without those that were skipped.

        Raises Paused if the run pauses, RunFailed if it fails.
        """
        result = await self.run(**inputs)
        if result.status == "paused":
            raise Paused(result)
        return result.outputs

    async def run(self, /, **inputs: Any) -> Result:
        """Run the flow to its end; raises RunFailed if it fails, FlowInvalid for wrong inputs.

        It runs on the event loop it is awaited in, asyncio or trio. Cancelling the caller cancels the run.
        """
        started = self.start(**inputs)
        inputs.clear()  # from here on only the run holds them (S8.5)
        async with started as run:
            return await run

    def run_sync(self, /, **inputs: Any) -> Result:
        """Run the flow from synchronous code, also while an event loop is running in this thread.

        Raises as `run` does. Ctrl-C cancels the run.
        """
        from dataflow.runtime.tasks import run_sync  # as below

        started = self.start(**inputs)
        inputs.clear()  # from here on only the run holds them (S8.5)
        return run_sync(started, f"dataflow run_sync {self.name}")

    def start(self, port: object = None, /, **inputs: Any) -> AbstractAsyncContextManager[Run]:
        """Run the flow, or only what a port of it needs, while the block runs; the block ends with the run.

        `async with flow.start(...) as run:` gives the `Run`; leaving the block waits for it, an error in the
        block cancels it. A port is given as to `pull`, and is then the only output, called like it. Call
        `run.events()` first thing to miss none. A failure that nobody awaited is raised at the end.
        """
        from dataflow.runtime.run import executing, new_run_id  # as above
        from dataflow.runtime.start import prepare_anew  # brings asyncio, which no flow needs to be wired

        plan = self.compile() if port is None else self.compile_for(port)
        values = read_inputs(self.name, plan.wiring.inputs, inputs)
        inputs.clear()  # from here on only the run holds them (S8.5)
        if self.settings.store is None:
            return executing(partial(prepare_anew, plan, values, self.settings, new_run_id()))
        from dataflow.durable.ownership import prepare_stored  # most runs live in no store

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
        """Go on with a run that has paused, failed, was cancelled or interrupted (S11.3).

        It is given by its id in the store of the flow, or by the result of a run without a store that has
        paused. What has settled stands and is not computed again. Raises RunTaken if somebody else is
        executing it or was faster, AnswerRefused for an answer that does not fit, FlowEdited if what has
        settled is no longer in the flow as it was (S11.4); in all of these the run stays as it was.
        """
        async with self.resuming(run, answers, edited=edited) as resumed:
            return await resumed

    def resuming(
        self,
        run: str | Result,
        answers: Mapping[str, object] | None = None,
        *,
        edited: Edited = "refuse",
    ) -> AbstractAsyncContextManager[Run]:
        """Go on with a run while the block runs, as `start` does with a new one; see `resume`."""
        from dataflow.runtime.run import executing  # as in start

        one_of("edited", edited, Edited)
        given = dict(answers or {})
        if not isinstance(run, str) and (run.lives_in_memory or self.settings.store is None):
            from dataflow.runtime.start import prepare_again  # as above

            return executing(partial(prepare_again, self.compile(), run, given))
        if self.settings.store is None:
            raise DataflowError(
                f"run {run} is given by its id, but the flow has no store to find it in: "
                "say flow.using(store=...).resume(...)"
            )
        from dataflow.durable.ownership import plan_of_run, prepare_resumed  # as above

        id, store = run if isinstance(run, str) else run.run_id, self.settings.store
        plan_for = partial(plan_of_run, self, store=store)
        return executing(partial(prepare_resumed, plan_for, self.settings, id, given, edited))

    def live(self, /, **inputs: Any) -> AbstractAsyncContextManager[Live]:
        """Keep the flow evaluated while the block runs: what did not change is not computed again (S13.4).

        `async with flow.live(...) as session:` gives a `Live`. It lives in memory and is no run: the
        settings `timeout` and `keep` do not count, a `store` only for what nodes with a memo remember.
        Raises FlowInvalid for inputs that do not fit.
        """
        from dataflow.live.session import live  # as in start

        return live(self, read_inputs(self.name, self.wiring.inputs, inputs))

    @overload
    async def pull(self, port: str, /, **inputs: Any) -> Any: ...
    @overload
    async def pull(self, port: T, /, **inputs: Any) -> T: ...
    async def pull(self, port: object, /, **inputs: Any) -> Any:
        """Run only what a port needs, and return its value (S8.1).

        The port is one of the flow's own, not inside a loop or map, or names an output. Raises RunFailed if
        the run fails, Paused if it pauses, DataflowError if the port has no value.
        """
        async with self.start(port, **inputs) as run:
            inputs.clear()  # from here on only the run holds them (S8.5)
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
        from dataflow.inspection.drawing import mermaid  # a drawing is rarely wanted

        return mermaid(self.wiring)

    def to_dict(self) -> dict[str, Any]:
        """Return the flow as a native document; raises FlowInvalid where it has no document form.

        A function without a name that can be imported, such as a lambda, has none.
        """
        from dataflow.formats.native.writer import dump  # as above

        self.compile()
        return dump(replace(self.wiring, settings=self.settings))

    @property
    def report(self) -> Sequence[Remark]:
        """Where it means something else than in the foreign file that it was loaded from."""
        return [remark for flow in flows_within(self.wiring) for remark in flow.report]

    @classmethod
    def load(cls, path: str | PathLike[str], *, format: str | None = None, **options: str) -> Flow:
        """Load and check a document, YAML or JSON; raises FormatError or FlowInvalid.

        It is a native document, or a file of another system, which is told by its content unless `format`
        names its format. `options` are what a format can be told besides, such as `branch="nightly"`.
        Loading imports what the document names under `uses`: load only files you trust.
        """
        from dataflow.loading import read_document  # as above

        read = read_document(path, Flow.from_wiring, format=format, options=options)
        with Flow.from_wiring(*read) as loaded:
            return loaded
