"""How a command ends: its exit code, and the error that ends it early (S20)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from dataflow.base.failure import Interruption

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ExitCode", "Interrupted", "Problem", "Refused", "code_of_signal"]


class ExitCode(IntEnum):
    """The exit codes; a command that a signal ended has 128 and the signal's number."""

    COMPLETED = 0
    FAILED = 1
    USAGE = 2
    PAUSED = 3


def code_of_signal(number: int) -> int:
    """Return the exit code of what a signal has ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + number


class Problem(NamedTuple):
    """What is wrong, and where as far as that is known."""

    text: str
    file: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part not in (None, ""))
        return f"{place}: {self.text}" if place else self.text


class Refused(Exception):
    """Raised when a command cannot be carried out; the problems are told without a traceback."""

    def __init__(
        self, problems: Sequence[Problem], code: ExitCode = ExitCode.FAILED, trace: str = ""
    ) -> None:
        self.problems = tuple(problems)
        self.code = code
        self.trace = trace
        super().__init__("\n".join(map(str, problems)))

    @property
    def reason(self) -> BaseException | None:
        """The first of the exceptions that led here, if any did."""
        reason = self.__cause__
        while reason is not None and reason.__cause__ is not None:
            reason = reason.__cause__
        return reason


class Interrupted(Interruption):
    """Raised by Ctrl-C and SIGTERM while no run is there to be cancelled."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"signal {number}")
