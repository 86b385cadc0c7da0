"""The outputs by which nodes are left that steer the walk."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Exit", "case_exit", "case_of"]


class Exit(StrEnum):
    """What an output is called in files and in traces."""

    IF_TRUE = "IfTrue"
    IF_FALSE = "IfFalse"
    SWITCH_CASE = "SwitchCase"  # with the name of the case
    SWITCH_DEFAULT = "SwitchDefault"
    LOOP_BODY = "LoopBody"
    LOOP_DONE = "LoopDone"


def case_exit(case: str) -> str:
    """Return the output of a case, by the name of the case: `SwitchCase(paid)`."""
    return f"{Exit.SWITCH_CASE}({case})"


def case_of(exit: str) -> str | None:
    """Return the case that an output is of, None for one that is of no case."""
    begins = f"{Exit.SWITCH_CASE}("
    return exit[len(begins) : -1] if exit.startswith(begins) else None
