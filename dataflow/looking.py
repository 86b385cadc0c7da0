"""Looking at a run in a store: restored as far as its journal tells, neither executed nor changed (S12.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from dataflow.events import Reporter
from dataflow.past import fold
from dataflow.replaying import replay
from dataflow.restoring import Restoring
from dataflow.result import Result
from dataflow.scheduler import Scheduler
from dataflow.starting import memo_for
from dataflow.storable import storable_of
from dataflow.threads import call_in_thread
from dataflow.values import Reader

if TYPE_CHECKING:
    from dataflow.past import Past
    from dataflow.plan import FlowPlan
    from dataflow.policy import Settings
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
