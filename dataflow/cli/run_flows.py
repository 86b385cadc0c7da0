"""The flow of a run in the store: loaded from where the run says that it is, or from where somebody says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.targets import load, refusing, target_kept

if TYPE_CHECKING:
    from dataflow.flows import Flow
    from dataflow.stores import StoredRun

__all__ = ["flow_of"]


def flow_of(run: StoredRun, file: str | None) -> Flow:
    """Load the flow of a run, from where the run says that it is unless somebody knows better."""
    target = file or run.target
    if not target:
        problem = f"run {run.id} does not say where its flow {run.flow!r} is; give it with --flow FILE"
        raise Refused([Problem(problem)], ExitCode.USAGE)
    try:
        flow = load(target, imports=True)
        with refusing(target):
            flow.compile()
    except Refused as refused:
        if file is not None or _is_there(target):
            raise
        advice = Problem(
            f"run {run.id} has its flow from {target}; if it is elsewhere now, give it with --flow FILE"
        )
        raise Refused([*refused.problems, advice], refused.code, refused.trace) from refused.__cause__
    if file is not None:
        flow.target = target_kept(file)
    return flow


def _is_there(target: str) -> bool:
    """Tell whether there is something where the flow was, though it may be broken now."""
    from dataflow.cli.flow_targets import Kind, target_of  # pulls in the formats

    parts = target_of(target)
    return parts.kind is not Kind.MODULE and Path(parts.place).exists()
