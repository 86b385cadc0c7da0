"""Forkable: the settings of the runs of a flow; what it does with runs that are there (S13.5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from dataflow.compiler.definition import Definition
from dataflow.core.policy import Edited, Settings, one_of, telemetry_of
from dataflow.errors import DataflowError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from dataflow.core.policy import Errors, Limit, Telemetry
    from dataflow.inspection.diff import Differences
    from dataflow.memo.table import ProcessMemo
    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run
    from dataflow.stores import Store

__all__ = ["Forkable"]


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
