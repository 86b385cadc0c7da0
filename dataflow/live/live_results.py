"""What a live session has come to, as runs tell it: a result, and the error of a port that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.base.copies import separate
from dataflow.core.states import UNSETTLED, is_dead
from dataflow.errors import RunFailed
from dataflow.runtime.result import Result

if TYPE_CHECKING:
    from typing import Literal

    from dataflow.core.states import Errored
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["failed", "snapshot"]


def snapshot(scheduler: Scheduler, status: Literal["paused", "failed"]) -> Result:
    """Return what everything has come to by now."""
    values, plan = scheduler.root.values, scheduler.plan
    tokens = {name: values[slot] for name, slot in plan.outputs.items()}
    outputs = {
        name: separate(token)
        for name, token in tokens.items()
        if not is_dead(token) and token is not UNSETTLED
    }
    asks = scheduler.asking.asks if status == "paused" else ()
    return Result(scheduler.reporter.run, status, outputs, (), asks, _plan=plan, _root=scheduler.root)


def failed(scheduler: Scheduler, token: Errored) -> RunFailed:
    """Make the error of a port that a failure has come to; `__cause__` is the node's own exception."""
    raised = [one.error for one in scheduler.root.failures if one.failure == token.failure]
    error = RunFailed(snapshot(scheduler, "failed"), [token.failure])
    error.__cause__ = raised[0] if raised else None
    return error
