from __future__ import annotations

import pytest

from dataflow.cli.texts import counted, duration, one_line, visible


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
        (3725, "62 min 05 s"),
    ],
)
def test_a_duration_reads_as_people_write_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_control_characters_become_visible() -> None:
    assert visible("a\x1b[2J\x00\x7f\x9b\tb\nc é") == "a\\x1b[2J\\x00\\x7f\\x9b\tb\nc é"


def test_one_line_has_no_line_ends_and_a_limit() -> None:
    assert one_line("a\n  b\t\rc") == "a b \\x0dc"
    assert one_line("word " * 100, 20) == "word word word wo..."


def test_a_count_has_its_noun_in_the_right_number() -> None:
    assert [counted(number, "item") for number in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
