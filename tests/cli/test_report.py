from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dataflow import Failure
from dataflow.cli.options import Options
from dataflow.cli.report import Outcome, output_text, tell_outcome
from dataflow.runtime.result import Result


def outcome(status: Any, failures: Sequence[Failure] = (), warnings: Sequence[str] = ()) -> Outcome:
    nothing: Any = None
    return Outcome(Result("id", status, {}, warnings, _plan=nothing, _root=nothing), failures, 1.25)


def failure(number: int, message: str = "no", attempt: int = 1) -> Failure:
    return Failure(f"n{number}", f"n{number}", attempt, "ValueError", message, "the traceback\n")


def test_of_many_failures_and_warnings_only_some_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    many = outcome("failed", [failure(number) for number in range(30)], [f"w{n}" for n in range(30)])
    tell_outcome(many, Options())
    lines = capsys.readouterr().err.splitlines()
    assert lines[19:22] == ["warning: w19", "warning: and 10 more", "n0: ValueError: no"]
    assert lines[-2:] == ["and 10 more failures", "failed: n0: ValueError: no (and 29 more)"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one line\n", "out: one line"),
        ("two\n\nlines", "out:\n  two\n\n  lines"),
        ("", "out: "),
        (5, "out: 5"),
        (["é", None], 'out: ["é", null]'),
    ],
)
def test_an_output_stands_beside_its_name_or_below_it(value: object, text: str) -> None:
    assert output_text("out", value, shorten=False) == text
    assert output_text("out", value, shorten=True) == text


def test_a_long_output_is_shortened_on_a_terminal_only() -> None:
    long = "\n".join(f"line {number}\x1b" for number in range(1000))
    assert output_text("out", long, shorten=False).count("\n") == 1000
    *lines, note = output_text("out", long, shorten=True).splitlines()
    assert lines == ["out:", *(f"  line {number}\\x1b" for number in range(20))]
    assert note == "  ... (9,889 characters; --full or --json gives them all)"
    assert len(output_text("out", "x" * 10_000, shorten=True)) < 2_200
