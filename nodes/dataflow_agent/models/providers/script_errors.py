"""What goes wrong with a script: the mistake is in the test, so no agent takes it for a result (S10.6)."""

from __future__ import annotations

from dataflow import Failure
from dataflow_agent.models.errors import ModelFailed

__all__ = ["ScriptEnded", "ScriptFailed", "script_failure"]


class ScriptFailed(ModelFailed):
    """Raised when the function of a script has raised what is no ModelFailed, which is its cause."""

    is_lasting = True


class ScriptEnded(ScriptFailed):
    """Raised when a script has no answer to a request."""


def script_failure(failure: Failure) -> ScriptFailed | None:
    """Return the error of a script that a failure tells of, None if it is of something else."""
    for kind in (ScriptFailed, ScriptEnded):
        if failure.type == kind.__name__:
            return kind("", failure.message)
    return None
