"""Standard output and error: the result goes to the one, everything else to the other.

Neither fails for a character that the encoding lacks; it is written as an escape. Who has gone away from
the other end of standard error is not missed; of standard output, it is told.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dataflow.cli.exits import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_terminal", "read_stdin", "result_stream", "shout", "tell", "tolerant", "write"]


@contextmanager
def tolerant() -> Iterator[None]:
    """Write what the encodings of both streams lack as escapes, while the block runs."""
    with ExitStack() as stack:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stack.callback(_restore, stream, stream.errors)
                stream.reconfigure(errors="backslashreplace")
        yield


def _restore(stream: io.TextIOWrapper, errors: str | None) -> None:
    if not stream.closed:  # by code of the flow
        stream.reconfigure(errors=errors)


@contextmanager
def result_stream(*, alone: bool) -> Iterator[TextIO | None]:
    """Yield the stream for the result; `alone`: whatever else is written to it goes to standard error.

    That holds for what nodes print and for what the programs write that they start.
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
    """Open another stream to where this one writes."""
    return os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="backslashreplace")


def _descriptor(stream: TextIO | None) -> int | None:
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):  # a stream without a file, or a closed one
        return None


def write(stream: TextIO | None, text: str) -> bool:
    """Write a text and its line end at once; returns False if nobody is there any more to read it.

    Raises Refused if it cannot be written for another reason.
    """
    if stream is None:
        return False
    if stream.closed:
        raise Refused([Problem("the output cannot be written: the flow has closed standard output")])
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        _give_up(stream)
        if isinstance(error, BrokenPipeError):
            return False
        raise Refused([Problem(f"the output cannot be written: {error.strerror}")]) from error
    return True


def tell(text: str) -> None:
    """Write a line to standard error, if that is possible."""
    with suppress(Refused):
        write(sys.stderr, text)


def shout(text: str) -> None:
    """Write a line to standard error past its buffer, which a signal may have interrupted at work."""
    descriptor = _descriptor(sys.stderr)
    if descriptor is not None:
        encoding = sys.stderr.encoding or "utf-8"  # what the live tree puts in its place names none
        with suppress(OSError):
            os.write(descriptor, f"{text}\n".encode(encoding, "backslashreplace"))


def _give_up(stream: TextIO) -> None:
    """Let what is still buffered vanish, so that nothing complains of it when the process ends."""
    descriptor = _descriptor(stream)
    if descriptor is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether somebody may be looking at the stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def read_stdin() -> str:
    """Read standard input to its end as UTF-8; raises UnicodeDecodeError or OSError."""
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read().decode("utf-8-sig")
