"""Looking at a run in a store: restored as far as its journal tells, neither executed nor changed (S12.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from dataflow.core.events import Reporter
from dataflow.core.threads import call_in_thread
from dataflow.durable.past import fold
from dataflow.durable.replaying import replay
from dataflow.durable.restoring import Restoring
from dataflow.durable.storable import storable_of
from dataflow.runtime.result import Result
from dataflow.runtime.start import memo_for
from dataflow.scheduler.scheduler import Scheduler
from dataflow.values.reader import Reader

if TYPE_CHECKING:
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Settings
    from dataflow.durable.past import Past
    from dataflow.stores import Store

__all__ = ["look_at"]


async def look_at(plan: FlowPlan, settings: Settings, store: Store, run: str) -> Result:
    """Return what has settled of a run, without its outputs; failures that nothing handled are not in it.

    The plan must be that of the run's flow. Raises StoreError.
    """
    past = await call_in_thread(_read, (store, run))
    reader = Reader(storable_of(plan).classes, store.blob, str(store))
    scheduler = Scheduler(plan, settings, Reporter(run), anyio.current_time, memo_for(plan))
    restoring = scheduler.restoring = Restoring(scheduler, past, (), reader.read)
    await replay(scheduler, restoring, reader.read(past.told["inputs"], f"the inputs of run {past.run}"))
    asks = scheduler.asking.asks
    return Result(run, past.status.value, {}, asks=asks, _plan=plan, _root=scheduler.root)


def _read(store: Store, run: str) -> Past:
    return fold(run, store.records(run), str(store))
