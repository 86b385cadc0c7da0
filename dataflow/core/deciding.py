"""What the engine knows of branches and tests, without the configs of the branches: ids, and answers."""

from __future__ import annotations

from typing import Final

from dataflow.errors import NodeFailed
from dataflow.types.validation import described

__all__ = ["IF_ID", "SWITCH_ID", "VALUE", "checked_answer"]

IF_ID: Final = "control.if"
SWITCH_ID: Final = "control.switch"

VALUE: Final = "value"


def checked_answer(answer: object, node: str, source: str) -> bool:
    """Return the answer of a node's predicate or test; raises NodeFailed for anything but a bool (S16.3)."""
    if not isinstance(answer, bool):
        raise NodeFailed(node, f"got {described(answer)} from its {source}; expected a bool")
    return answer
