"""Why something in a stored run is what it is: as its journal tells, and its flow where that is more (S3.3).

The journal tells states, failures, and what waits for what. A skip may come from skips: the chain of those is
told by the flow, joins included, which is looked for where the run says it is. Without it the journal's own
chain is told, and that there may be more.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import anyio

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.past_reasons import PastReasons
from dataflow.cli.run_flows import flow_of
from dataflow.cli.storage import refusing_runs
from dataflow.cli.streams import tell
from dataflow.looking import look_at
from dataflow.reasons import ReasonKind
from dataflow.states import ENDED
from dataflow.storable import storable_of
from dataflow.storing import plan_of_run
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.cli.past_runs import PastRun
    from dataflow.flows import Flow
    from dataflow.plan import FlowPlan
    from dataflow.reasons import Explanation
    from dataflow.stores import Store

__all__ = ["Reasons"]

#: What may come from skips.
SKIPS: Final = frozenset(
    {ReasonKind.SKIP, ReasonKind.NOT_DEMANDED, ReasonKind.RACE_LOST, ReasonKind.DISABLED}
)


class Reasons:
    """Tells the reasons of one run; `file` is where its flow is, if not where the run says."""

    def __init__(self, store: Store, found: PastRun, file: str | None) -> None:
        self._store = store
        self._found = found
        self._file = file
        self._journal = PastReasons(found)

    def explain(self, port: str) -> Explanation:
        """Tell why a node, port or output is what it is; raises Refused for one that there is not."""
        told = self._journal.explain(port)
        if told is not None and not self._may_be_more(told, port):
            return told
        try:
            flow, plan = self._flow()
        except Refused as refused:
            if told is None:
                raise self._unknown(port, refused.problems) from refused
            tell(f"note: this is as far as the journal tells, for lack of its flow: {refused.problems[0]}")
            return told
        try:
            with refusing_runs():
                return self._restored(flow, plan, port)
        except Refused as refused:
            if told is None:
                text = self._no_port(port, plan.outputs)
                raise Refused([Problem(text)], ExitCode.USAGE) from refused
            return told

    def _may_be_more(self, told: Explanation, port: str) -> bool:
        """Tell whether the flow may tell more: of skips, and of outputs that joins make."""
        kind = told.reasons[0].kind
        is_of_joins = kind is ReasonKind.UNSETTLED and port in self._journal.outputs
        return kind in SKIPS or (is_of_joins and self._found.run.status in ENDED)

    def _flow(self) -> tuple[Flow, FlowPlan]:
        """Load the flow; raises Refused also if it is not as it was when the run began."""
        run, past = self._found.run, self._found.past
        flow = flow_of(run, self._file)
        with refusing_runs():
            plan = plan_of_run(flow, past, self._store)
            shape = storable_of(plan).shape
        if self._found.stored.readable(past.told.get("shape")) != shape:
            raise Refused([Problem(f"flow {run.flow!r} has been edited since run {run.id} began")])
        return flow, plan

    def _restored(self, flow: Flow, plan: FlowPlan, port: str) -> Explanation:
        look = partial(look_at, plan, flow.settings, self._store, self._found.run.id)
        return anyio.run(look).explain(port)

    def _no_port(self, port: str, outputs: Iterable[str] = ()) -> str:
        known = {*outputs, *self._found.past.firings, *self._found.not_begun}
        return f"run {self._found.run.id} has no node or port {port!r}; {choices(nearest(known, port))}"

    def _unknown(self, port: str, problems: tuple[Problem, ...]) -> Refused:
        told = f"{self._no_port(port)}; whether it is an output only its flow can tell: {problems[0]}"
        return Refused([Problem(told)], ExitCode.USAGE)
