"""A log line reads as it did without a known secret, but for the secrets (S12.4)."""

from __future__ import annotations

import logging
from collections import UserDict
from dataclasses import dataclass
from typing import Any, Final

import pytest

from dataflow.secrets.secret import redact_logs
from tests.support.secret_kinds import MARK, VALUE, Box, Key, OwnError, caused, secrets_within

pytestmark = pytest.mark.usefixtures("token_known")


def record_of(message: object, *arguments: object) -> logging.LogRecord:
    """Make a record as a logger does."""
    redact_logs()
    return logging.getLogRecordFactory()("a", logging.INFO, "f", 1, message, arguments, None)


class Owner:
    """Is shown without its secret, by which it finds what it is shown as."""

    def __init__(self) -> None:
        self.token = VALUE

    def __repr__(self) -> str:
        return {VALUE: "the owner"}[self.token]


class Closed(Owner):
    """Cannot be copied, so its copy is a text."""

    def __del__(self) -> None:
        pass


class Few(list[Any]):
    def __repr__(self) -> str:
        return f"{len(self)} of them"


@dataclass
class Uses:
    key: Key

    def __str__(self) -> str:
        return f"uses {self.key.name}"


LINES: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "the owner": ("%s", (Owner(),)),
    "[the owner]": ("%s", ([Closed()],)),
    "Key.MAIN": ("%(key)s", (UserDict(key=Key.MAIN),)),
    "[1 of them]": ("%s", ([Few([VALUE])],)),
    "uses MAIN": ("%s", (Uses(Key.MAIN),)),
    "100% of the owner": ("100%% of %s", (Owner(),)),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_without_a_secret_reads_as_before(line: str) -> None:
    message, arguments = LINES[line]
    assert record_of(message, *arguments).getMessage() == line


def test_a_record_that_could_show_a_secret_keeps_the_line_alone() -> None:
    record = record_of("%s", Box(VALUE))
    assert (record.msg, record.args) == (f"Box(held='{MARK}')", None)


def test_a_record_without_a_secret_keeps_what_it_was_given() -> None:
    record = record_of("%s is %d", "a", 1)
    assert (record.msg, record.args) == ("%s is %d", ("a", 1))


@pytest.mark.parametrize(
    ("message", "arguments"), [(caused(), ()), ("%s", (caused(),))], ids=["message", "argument"]
)
def test_a_logger_tells_an_error_by_its_text(message: object, arguments: tuple[object, ...]) -> None:
    assert record_of(message, *arguments).getMessage().endswith("harmless")


@pytest.mark.parametrize(
    ("message", "arguments"), [(caused(), ()), ("%s", (caused(),))], ids=["message", "argument"]
)
def test_a_record_has_nothing_of_what_has_led_to_an_error(
    message: object, arguments: tuple[object, ...]
) -> None:
    record = record_of(message, *arguments)
    assert not secrets_within([record.msg, record.args])


class Ends(OwnError):
    def __str__(self) -> str:
        raise SystemExit


def test_what_ends_the_process_when_it_is_told_does_so_for_no_logger() -> None:
    assert record_of("%s", Ends("harmless")).msg == "%s"
