"""Preparing: what is done before a run without a store is executed, anew or after a pause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from dataflow.base.backend import caller
from dataflow.errors import DataflowError
from dataflow.runtime.run import Prepared
from dataflow.runtime.starting import NewStart, ResumedStart, memo_for, reporter_for
from dataflow.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Settings
    from dataflow.runtime.result import Result

__all__ = ["prepare_again", "prepare_anew"]


async def prepare_anew(plan: FlowPlan, inputs: dict[str, Any], settings: Settings, run_id: str) -> Prepared:
    """Prepare a new run, which takes the inputs over and empties the dict (S8.5)."""
    reporter = reporter_for(settings, plan.name, run_id, caller())
    scheduler = Scheduler(plan, settings, reporter, anyio.current_time, memo_for(plan))
    return Prepared(scheduler, NewStart(inputs))


async def prepare_again(plan: FlowPlan, result: Result, answers: Mapping[str, object]) -> Prepared:
    """Prepare a run to go on that has paused and lives in its result.

    Raises RunTaken if it has gone on already, AnswerRefused for an answer that does not fit; then it stays.
    """
    paused = result._paused  # noqa: SLF001 - hidden from users, not from the engine
    if paused is None:
        raise DataflowError(
            f"run {result.run_id} is {result.status} and lives in no store; only a paused run lives in its "
            "result: run the flow with a store, and resume it by its id"
        )
    scheduler = paused.look(result.run_id)
    if scheduler.plan.wiring is not plan.wiring:
        raise DataflowError(
            f"run {result.run_id} belongs to flow {scheduler.plan.name!r}, not to flow {plan.name!r}"
        )
    read = {id: scheduler.asking.read(id, value, "resume") for id, value in answers.items()}
    paused.take()
    seq = scheduler.reporter.seq
    scheduler.reporter = reporter_for(scheduler.settings, plan.name, result.run_id, caller(), seq)
    scheduler.timing.go_on(anyio.current_time)
    return Prepared(scheduler, ResumedStart(read))
