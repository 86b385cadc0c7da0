"""Explain a port for `dataflow why`: from the journal, and from the flow where it has more details (S3.3).

The flow is loaded from the target of the run. If it is not available, the explanation by the journal is used,
with a note that it may be incomplete.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio

from dataflow.base.wording import choices, nearest
from dataflow.cli.output import ExitCode, Problem, Refused, tell
from dataflow.cli.storage import refusing_runs
from dataflow.cli.targets import flow_of
from dataflow.durable.replay import look_at
from dataflow.inspection.stored_reasons import StoredReasons, plan_if_unedited

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.compiler.plan import FlowPlan
    from dataflow.flows import Flow
    from dataflow.inspection.stored_run import PastRun
    from dataflow.runtime.reasons import Explanation
    from dataflow.stores import Store

__all__ = ["explain_port"]


def explain_port(store: Store, found: PastRun, file: str | None, port: str) -> Explanation:
    """Explain a node, port or output; raises Refused for one that does not exist.

    `file` replaces the target of the run.
    """
    reasons = StoredReasons(found)
    explanation = reasons.explain(port)
    if explanation is not None and reasons.is_complete(explanation, port):
        return explanation
    try:
        flow, plan = _flow_of(store, found, file)
    except Refused as refused:
        if explanation is None:
            problem = refused.problems[0]
            text = f"{_no_port(found, port)}; whether it is an output only its flow can tell: {problem}"
            raise Refused([Problem(text)], ExitCode.USAGE) from refused
        tell(f"note: this is as far as the journal tells, for lack of its flow: {refused.problems[0]}")
        return explanation
    try:
        with refusing_runs():
            look = partial(look_at, plan, flow.settings, store, found.run.id)
            return anyio.run(look).explain(port)
    except Refused as refused:
        if explanation is None:
            raise Refused([Problem(_no_port(found, port, plan.outputs))], ExitCode.USAGE) from refused
        return explanation


def _flow_of(store: Store, found: PastRun, file: str | None) -> tuple[Flow, FlowPlan]:
    """Load the flow; raises Refused also if it was edited since the run began."""
    run = found.run
    flow = flow_of(run, file)
    with refusing_runs():
        plan = plan_if_unedited(found, flow, store)
    if plan is None:
        raise Refused([Problem(f"flow {run.flow!r} has been edited since run {run.id} began")])
    return flow, plan


def _no_port(found: PastRun, port: str, outputs: Iterable[str] = ()) -> str:
    known = {*outputs, *found.past.firings, *found.not_begun}
    return f"run {found.run.id} has no node or port {port!r}; {choices(nearest(known, port))}"
