"""Unhandled: which failures of a run nothing has handled, also if its process died before (S11.3). Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dataflow.compiler.addresses import form_of, opener_of, scopes_of
from dataflow.compiler.plan import FlowOf
from dataflow.core.states import NodeState, RunStatus
from dataflow.scheduler.failures import handles_failures, tolerates_failures

if TYPE_CHECKING:
    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.durable.past import Past

__all__ = ["unhandled_in"]

FAILURES: Final = frozenset({NodeState.FAILED, NodeState.TIMED_OUT})
_ATTEMPT: Final = re.compile(r"~(\d+)$")


def unhandled_in(plan: FlowPlan, past: Past) -> frozenset[str]:
    """Return the firings whose failures nothing has handled.

    The record of the end of a run names them; without one they are told from the flow.
    """
    failed = [
        path for path, firing in past.firings.items() if firing.state in FAILURES and firing.failed_at == path
    ]
    if past.status is not RunStatus.RUNNING or not failed:
        return past.failures
    nodes = {
        scope.form_of(node): (scope, node)
        for scope in scopes_of(plan)
        for node in scope.plan.nodes
        if node.is_visible
    }
    return frozenset(path for path in failed if not _is_handled(path, nodes, past))


def _is_handled(path: str, nodes: dict[str, tuple[PlacedScope, PlanNode]], past: Past) -> bool:
    """Tell whether what has failed handles that, or what is around it does, or has tried again."""
    while True:
        found = nodes.get(form_of(path))
        if found is None:
            return True  # the flow was edited
        scope, node = found
        if handles_failures(node) or tolerates_failures(scope.owner):
            return True
        if scope.owner is None:
            return False
        frame = path if node.names_frame else path.rpartition("/")[0]
        path = opener_of(frame, scope.owner)
        if isinstance(scope.owner.action, FlowOf) and _attempt(frame) != past.attempt_at_flow(path):
            return True
        if past.state_of(path) is NodeState.DONE:
            return True


def _attempt(frame: str) -> int:
    """Tell in which attempt at a flow node a frame was opened."""
    found = _ATTEMPT.search(frame)
    return 1 if found is None else int(found[1])
