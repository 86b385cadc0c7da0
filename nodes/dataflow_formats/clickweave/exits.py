"""The outputs by which nodes are left that steer the walk."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["Exit", "case_exit", "case_port", "exit_of", "port_of"]

_CASE: Final = "case "


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
    return f"{Exit.SWITCH_CASE.value}({case})"


def case_port(case: str) -> str:
    """Return the port of a case, which has no name of its own kind: a case may be called anything."""
    return f"{_CASE}{case}"


def port_of(exit: str) -> str:
    """Return the port of a node that stands for an output."""
    begins = f"{Exit.SWITCH_CASE}("
    return case_port(exit[len(begins) : -1]) if exit.startswith(begins) else exit


def exit_of(port: str) -> str:
    """Return the output that a port stands for."""
    return case_exit(port.removeprefix(_CASE)) if port.startswith(_CASE) else port
