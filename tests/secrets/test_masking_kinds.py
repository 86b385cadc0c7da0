"""Secrets in derived classes, members of enums, buffers and errors are found (S12.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dataflow.secrets.known import redacted
from tests.support.secret_kinds import (
    DERIVED,
    MARK,
    VALUE,
    Box,
    Key,
    OwnBytes,
    OwnDate,
    OwnError,
    OwnNumber,
    OwnPair,
    Star,
    Word,
    caused,
    having,
    noted,
)

pytestmark = pytest.mark.usefixtures("token_known")


def test_an_attribute_of_what_is_derived_from_a_built_in_class_is_found(subtests: pytest.Subtests) -> None:
    for kind, make in DERIVED.items():
        with subtests.test(kind):
            value = having(make(), Box([VALUE]))
            for found in (redacted(value), redacted([Box(value)])[0].held):
                assert VALUE not in repr(getattr(found, "more", None))
                assert found == make()
            harmless = having(make(), Box(["harmless"]))
            assert redacted(harmless) is harmless
            assert redacted([VALUE, harmless])[1] is harmless


def test_derived_values_are_copied_or_shown_as_text() -> None:
    for value in (OwnNumber(7), OwnDate(2026, 1, 2)):
        expected = repr(value)
        assert redacted([having(value, VALUE)]) == [expected]
    found = redacted(having(OwnPair(VALUE, 2), [VALUE, "b"]))
    assert (type(found), found.first, found.more) == (OwnPair, MARK, [MARK, "b"])
    assert redacted([OwnBytes(VALUE.encode())]) == [MARK.encode()]
    value = having(OwnPair(VALUE, 2), None)
    value.more = [value, value]
    found = redacted(value)
    assert found.more[0] is found.more[1] is found


def test_members_of_enums_are_shown_with_marks() -> None:
    found: list[Any] = redacted([Key.MAIN, Key.BOXED])
    assert found == [f"<Key.MAIN: '{MARK}'>", f"<Key.BOXED: ['{MARK}']>"]
    assert redacted(Box(Star.SUN)).held == "<Star.SUN: 1>"
    assert redacted([Word.MAIN, Word.OTHER]) == [MARK, "harmless"]
    assert redacted({VALUE: [Key.OTHER, Word.OTHER]})[MARK] == [Key.OTHER, Word.OTHER]


def test_buffers_and_views_are_looked_through() -> None:
    for kind in (bytes, bytearray, memoryview):
        found = redacted(Box(kind(f"has {VALUE}".encode()))).held
        assert (type(found), bytes(found)) == (kind, f"has {MARK}".encode())
    found = redacted([memoryview(f"harmless {VALUE}".encode())[:8]])[0]
    assert (bytes(found), found.obj) == (b"harmless", b"harmless")
    doubled = b"".join(bytes([one, one]) for one in VALUE.encode())
    assert bytes(redacted(memoryview(doubled)[::2])) == MARK.encode()
    view = memoryview(VALUE.encode())
    view.release()
    assert redacted([VALUE, view])[1] is view


def in_a_ring() -> Exception:
    first, second = ValueError("harmless"), OwnError(VALUE)
    first.__cause__, second.__context__ = second, first
    return first


def test_an_error_that_leads_to_a_secret_is_told_as_text() -> None:
    cases: list[tuple[Callable[[], Exception], str]] = [
        (caused, "ValueError('harmless')"),
        (lambda: caused(is_hidden=True), "ValueError('harmless')"),
        (lambda: noted(f"see {VALUE}"), "ValueError('harmless')"),
        (in_a_ring, "ValueError('harmless')"),
        (lambda: OwnError(VALUE), "OwnError"),
        (lambda: ExceptionGroup("all", [caused()]), "ExceptionGroup('all', [ValueError('harmless')])"),
    ]
    for make, told in cases:
        assert redacted(Box(make())).held == told, make
    error = noted("harmless")
    error.__cause__ = OwnError("harmless")
    assert redacted([VALUE, error])[1] is error


def test_a_chain_of_many_errors_is_looked_through() -> None:
    error: Exception = ValueError(VALUE)
    for _ in range(20_000):
        error, before = ValueError("harmless"), error
        error.__cause__ = before
    told: Any = redacted(error)
    assert told == "ValueError('harmless')"
    while error.__cause__ is not None:  # as Python frees a chain by calls within calls
        error = error.__cause__  # type: ignore[assignment]  # each but the last has one
