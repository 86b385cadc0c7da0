"""Forkable: what a flow does with runs that are there: it forks them, and tells two of them apart (S13.5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dataflow.definitions import Definition
from dataflow.errors import DataflowError
from dataflow.policy import Edited, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from dataflow.differing import Differences
    from dataflow.result import Result
    from dataflow.run import Run

__all__ = ["Forkable"]


class Forkable(Definition):
    """A flow of which runs can be forked and compared."""

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
        from dataflow.forking import prepare_forked  # brings asyncio, as running does
        from dataflow.run import executing

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
        from dataflow.differing import diff  # as above

        if self.settings.store is None:
            raise DataflowError("the flow has no store to find runs in: say flow.using(store=...).diff(...)")
        ids = [run if isinstance(run, str) else run.run_id for run in (first, second)]
        return await diff(self.settings.store, *ids)
