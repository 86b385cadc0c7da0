"""The command line as a process, on pipes and on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Self

EXAMPLES: Final = str(Path(__file__).with_name("examples.py"))
COMMAND: Final = (sys.executable, "-m", "dataflow.cli")
SEQUENCE: Final = re.compile(r"\x1b\[\??([0-9;]*)([A-Za-z])")


def environment(**changes: str) -> dict[str, str]:
    names = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "CI")
    return {key: value for key, value in os.environ.items() if key not in names} | changes


@contextmanager
def started(
    *arguments: str, start_new_session: bool = False, **environ: str
) -> Iterator[subprocess.Popen[str]]:
    """Start the command line on pipes; whatever is left of it is killed at the end of the block."""
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(**environ),
        start_new_session=start_new_session,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def dataflow(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], check=False, encoding="utf-8", env=environment(), capture_output=True
    )


def read_until(stream: IO[str] | None, text: str) -> str:
    assert stream is not None
    read = ""
    for line in stream:
        read += line
        if text in line:
            return read
    raise AssertionError(f"ended without {text!r}: {read}")


@dataclass
class Screen:
    """As much of a terminal as the live tree needs: what it shows, and how tall it ever was."""

    rows: list[str] = field(default_factory=lambda: [""])
    row: int = 0
    column: int = 0
    cursor: bool = True

    def feed(self, text: str) -> None:
        place = 0
        while place < len(text):
            sequence = SEQUENCE.match(text, place)
            if sequence is not None:
                self._control(sequence[1], sequence[2], sequence[0])
                place = sequence.end()
            else:
                self._write(text[place])
                place += 1

    def _control(self, number: str, kind: str, whole: str) -> None:
        if kind == "A":
            self.row -= int(number or 1)
        elif kind == "K":
            self.rows[self.row] = ""
        elif whole in ("\x1b[?25l", "\x1b[?25h"):
            self.cursor = kind == "h"

    def _write(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append("")
        else:
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + letter + line[self.column + 1 :]
            self.column += 1

    @property
    def lines(self) -> list[str]:
        return [row.rstrip() for row in self.rows if row.strip()]


class Terminal:
    """The command line, or another program, on a terminal of its own."""

    program: tuple[str, ...] = COMMAND

    def __init__(self, *arguments: str, rows: int = 24, columns: int = 80, **environ: str) -> None:
        self.raw = ""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [*self.program, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(**{"TERM": "xterm-256color", **environ}),
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def read_until(self, text: str) -> None:
        while text not in self.raw:
            assert self._read(), f"ended without {text!r}: {self.raw}"

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        while self._read():
            pass
        return self.process.wait()

    def _read(self) -> bool:
        try:
            found = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self.raw += found.decode("utf-8", "replace")
        return bool(found)

    @property
    def screen(self) -> Screen:
        screen = Screen()
        screen.feed(self.raw)
        return screen
