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


def test_a_line_without_a_secret_reads_as_before() -> None:
    for line, (message, arguments) in LINES.items():
        assert record_of(message, *arguments).getMessage() == line


def test_a_record_that_could_show_a_secret_keeps_the_line_alone() -> None:
    record = record_of("%s", Box(VALUE))
    assert (record.msg, record.args) == (f"Box(held='{MARK}')", None)
    record = record_of("%s is %d", "a", 1)
    assert (record.msg, record.args) == ("%s is %d", ("a", 1))
    assert record_of("%s", Ends("harmless")).msg == "%s"


def test_a_logger_writes_the_text_of_an_error_and_keeps_nothing_of_its_causes() -> None:
    cases: list[tuple[object, tuple[object, ...]]] = [(caused(), ()), ("%s", (caused(),))]
    for message, arguments in cases:
        record = record_of(message, *arguments)
        assert record.getMessage().endswith("harmless"), message
        assert not secrets_within([record.msg, record.args]), message


class Ends(OwnError):
    def __str__(self) -> str:
        raise SystemExit
