"""What the tests of the command line share: the command in this process, with what it wrote."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from dataflow.cli import main
from tests.cli.processes import EXAMPLES
from tests.support.steady import let_no_slice_end


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        return self.err.splitlines()[-1]

    @property
    def codes(self) -> list[str]:
        return re.findall(r"\b(DF\d{4})\b", self.err)

    @property
    def json(self) -> Any:
        return json.loads(self.out.splitlines()[-1])


Cli: TypeAlias = Callable[..., Done]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    let_no_slice_end(monkeypatch)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in this process; `:name` stands for an example flow."""
    monkeypatch.setattr(sys, "path", sys.path[:])  # targets in Python add to it
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Done:
        code = main([EXAMPLES + one if one.startswith(":") else one for one in arguments])
        return Done(code, *capsys.readouterr())

    return run


class Window(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make standard error a terminal of some size."""

    def open_window(columns: int = 80, lines: int = 24) -> None:
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", str(lines))
        monkeypatch.setattr(sys, "stderr", Window())

    return open_window
