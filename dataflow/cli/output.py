"""Output streams, exit codes, errors and formatting of the command line."""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from dataflow.base.failure import Interruption
from dataflow.base.wording import conceal, visible
from dataflow.diagnostics.commands import FAILED, OUTPUT_UNWRITABLE
from dataflow.errors import DataflowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "MOST_REASON",
    "ExitCode",
    "Interrupted",
    "Refused",
    "code_of_signal",
    "duration",
    "is_terminal",
    "one_line",
    "problems_in",
    "read_stdin",
    "result_stream",
    "shout",
    "table",
    "tell",
    "tolerant",
    "write",
    "write_line",
]

MOST_REASON: Final = 200  # characters of the reason for the state of a firing


@contextmanager
def tolerant() -> Iterator[None]:
    """Write characters that the encodings of both streams lack as escapes during the block."""
    with ExitStack() as stack:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stack.callback(_restore, stream, stream.errors)
                stream.reconfigure(errors="backslashreplace")
        yield


def _restore(stream: io.TextIOWrapper, errors: str | None) -> None:
    if not stream.closed:  # the flow may have closed it
        stream.reconfigure(errors=errors)


@contextmanager
def result_stream(*, alone: bool) -> Iterator[TextIO | None]:
    """Yield the stream for the result; with `alone` all other output is redirected to standard error.

    This includes output of nodes, and of programs that they start.
    """
    own = sys.stdout
    if not alone or own is None:
        yield own
        return
    with ExitStack() as stack:
        aside = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        descriptor = _descriptor(aside)
        if _descriptor(own) == 1 and descriptor is not None:
            copy = stack.enter_context(_copy_of(own))
            own.flush()
            os.dup2(descriptor, 1)
            stack.callback(os.dup2, copy.fileno(), 1)
            own = copy
        stack.enter_context(redirect_stdout(aside))
        yield own


def _copy_of(stream: TextIO) -> TextIO:
    """Open another stream to the same file."""
    return os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="backslashreplace")


def _descriptor(stream: TextIO | None) -> int | None:
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):  # a stream without a file, or a closed one
        return None


def write(stream: TextIO | None, text: str) -> bool:
    """Write a line with secrets masked, as `write_line` does."""
    return write_line(stream, conceal(text))


def write_line(stream: TextIO | None, text: str) -> bool:
    """Write a line and flush; returns False if the reader has closed the stream.

    Raises Refused if writing fails for another reason.
    """
    if stream is None:
        return False
    if stream.closed:
        raise Refused([OUTPUT_UNWRITABLE(reason="the flow has closed standard output")])
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        _give_up(stream)
        if isinstance(error, BrokenPipeError):
            return False
        raise Refused([OUTPUT_UNWRITABLE(reason=error.strerror)]) from error
    return True


def tell(text: str) -> None:
    """Write a line to standard error if possible."""
    with suppress(Refused):
        write(sys.stderr, text)


def shout(text: str) -> None:
    """Write a line to standard error without its buffer, which a signal handler must not use."""
    descriptor = _descriptor(sys.stderr)
    if descriptor is not None:
        encoding = sys.stderr.encoding or "utf-8"  # the replacement by the live tree has none
        with suppress(OSError):
            os.write(descriptor, f"{conceal(text)}\n".encode(encoding, "backslashreplace"))


def _give_up(stream: TextIO) -> None:
    """Discard buffered output, so that flushing it does not fail at the end of the process."""
    descriptor = _descriptor(stream)
    if descriptor is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether the stream is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def read_stdin() -> str:
    """Read standard input to its end as UTF-8; raises UnicodeDecodeError or OSError."""
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read().decode("utf-8-sig")


class ExitCode(IntEnum):
    """The exit codes; a command that was ended by a signal has 128 plus its number."""

    COMPLETED = 0
    FAILED = 1
    USAGE = 2
    PAUSED = 3


def code_of_signal(number: int) -> int:
    """Return the exit code after a signal: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
    return 128 + number


class Refused(Exception):
    """Raised when a command cannot be executed; the problems are printed without a traceback."""

    def __init__(
        self, problems: Sequence[Diagnostic], code: ExitCode = ExitCode.FAILED, trace: str = ""
    ) -> None:
        self.problems = tuple(problems)
        self.code = code
        self.trace = trace
        super().__init__("\n".join(map(str, problems)))

    @property
    def reason(self) -> BaseException | None:
        """The first exception in the chain of causes, if any."""
        reason = self.__cause__
        while reason is not None and reason.__cause__ is not None:
            reason = reason.__cause__
        return reason


class Interrupted(Interruption):
    """Raised by Ctrl-C, SIGTERM and SIGHUP while no run exists to cancel."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"signal {number}")


def problems_in(error: BaseException, where: str = "") -> list[Diagnostic]:
    """Return the problems that an exception carries; `where` locates one that is not the engine's."""
    if isinstance(error, DataflowError) and error.diagnostics:
        return list(error.diagnostics)
    return [FAILED(type=type(error).__name__, message=error, where=where)]


def one_line(text: str, limit: int = 500) -> str:
    """Return a text on one line, shortened to `limit` characters."""
    line = " ".join(visible(conceal(text)[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def duration(seconds: float) -> str:
    """Format a duration for people."""
    seconds = max(seconds, 0.0)
    if seconds < 0.1:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 48 else f"{hours // 24} days"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
