from __future__ import annotations

import pytest

from dataflow.cli.output import duration, one_line


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.00 s"),
        (0.004, "0.00 s"),
        (0.099, "0.10 s"),
        (0.35, "0.3 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3725, "1 h 02 min"),
        (260_000, "3 days"),
    ],
)
def test_a_duration_reads_as_people_write_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_line_has_no_line_ends_and_a_limit() -> None:
    assert one_line("a\n  b\t\rc") == "a b \\rc"
    assert one_line("word " * 100, 20) == "word word word wo..."
