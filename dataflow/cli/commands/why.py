"""`dataflow why`: explain the state of a port of a stored run, back to the decision or failure (S3.3).

The journal is read first, then the flow where it has more details. If the flow is not available, the
explanation by the journal is used, with a note that it may be incomplete.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from dataflow.cli.output import ExitCode, Refused, tell, write
from dataflow.cli.paths import read_path, with_paths
from dataflow.cli.storage import (
    FlowOption,
    JsonObjectOption,
    RunArgument,
    StoreOption,
    find_run,
    place_named,
    refusing_runs,
)
from dataflow.cli.targets import flow_of
from dataflow.diagnostics.commands import FLOW_CHANGED, NO_SUCH_PORT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.compiler.plan import FlowPlan
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.flows import Flow
    from dataflow.inspection.stored_run import PastRun
    from dataflow.runtime.reasons import Explanation
    from dataflow.stores import Store

__all__ = ["why"]


def why(
    run: RunArgument,
    port: Annotated[
        str,
        typer.Argument(
            metavar="PORT", help="A node, node.port or an output of the flow.", show_default=False
        ),
    ],
    file: FlowOption = None,
    as_json: JsonObjectOption = False,
    store: StoreOption = None,
) -> None:
    """Explain the state of a node or port of a run, back to the decision, the failure or the open ask.

    The flow is imported where it explains a chain of skips better than the journal.
    """
    from dataflow.inspection.stored_run import read_run  # loaded on first use

    place, path, _ = place_named(store, file)
    with refusing_runs():
        found = read_run(place, find_run(place, run, path))
    explanation = _explain(place, found, file, port)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        lines, reasons = str(explanation).split("\n"), explanation.as_json()
        write_json(sys.stdout, {"run": found.run.id, "port": port, "why": lines, "reasons": reasons})
    else:
        write(sys.stdout, with_paths(str(explanation), found.past.firings))


def _explain(store: Store, found: PastRun, file: str | None, port: str) -> Explanation:
    """Explain a node, port or output; raises Refused for one that does not exist.

    `file` replaces the target of the run.
    """
    from dataflow.durable.replay import look_at  # loaded on first use
    from dataflow.inspection.stored_reasons import StoredReasons

    reasons = StoredReasons(found)
    explanation = reasons.explain(port)
    if explanation is None:
        port = read_path(port)
        explanation = reasons.explain(port)
    if explanation is not None and reasons.is_complete(explanation, port):
        return explanation
    try:
        flow, plan = _flow_of(store, found, file)
    except Refused as refused:
        if explanation is None:
            problem = refused.problems[0]
            raise Refused([_no_port(found, port), problem], ExitCode.USAGE) from refused
        tell(f"note: this is as far as the journal tells, for lack of its flow: {refused.problems[0]}")
        return explanation
    try:
        with refusing_runs():
            look = partial(look_at, plan, flow.settings, store, found.run.id)
            told = anyio.run(look).explain(port)
            return max(told, explanation or told, key=lambda one: len(one.reasons))  # how far it goes back
    except Refused as refused:
        if explanation is None:
            raise Refused([_no_port(found, port, plan.outputs)], ExitCode.USAGE) from refused
        return explanation


def _flow_of(store: Store, found: PastRun, file: str | None) -> tuple[Flow, FlowPlan]:
    """Load the flow; raises Refused also if it was edited since the run began."""
    from dataflow.inspection.stored_reasons import plan_if_unedited  # loaded on first use

    run = found.run
    flow = flow_of(run, file)
    with refusing_runs():
        plan = plan_if_unedited(found, flow, store)
    if plan is None:
        raise Refused([FLOW_CHANGED(f"run {run.id}", flow=run.flow)])
    return flow, plan


def _no_port(found: PastRun, port: str, outputs: Iterable[str] = ()) -> Diagnostic:
    known = {*outputs, *found.past.firings, *found.not_begun}
    return NO_SUCH_PORT(run=found.run.id, port=port, available=known, near=port)
