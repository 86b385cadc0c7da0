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


def test_what_can_be_no_plain_value_is_shown_as_text() -> None:
    for value in (OwnNumber(7), OwnDate(2026, 1, 2)):
        expected = repr(value)
        assert redacted([having(value, VALUE)]) == [expected]


def test_a_tuple_keeps_its_names_and_has_marks_in_its_attributes() -> None:
    found = redacted(having(OwnPair(VALUE, 2), [VALUE, "b"]))
    assert (type(found), found.first, found.more) == (OwnPair, MARK, [MARK, "b"])


def test_bytes_of_a_class_of_their_own_are_copied_without_calling_it() -> None:
    assert redacted([OwnBytes(VALUE.encode())]) == [MARK.encode()]


def test_a_value_that_is_its_own_attribute_is_copied_once() -> None:
    value = having(OwnPair(VALUE, 2), None)
    value.more = [value, value]
    found = redacted(value)
    assert found.more[0] is found.more[1] is found


def test_the_value_of_a_member_is_found() -> None:
    found: list[Any] = redacted([Key.MAIN, Key.BOXED])
    assert found == [f"<Key.MAIN: '{MARK}'>", f"<Key.BOXED: ['{MARK}']>"]


def test_an_attribute_of_a_member_is_found() -> None:
    assert redacted(Box(Star.SUN)).held == "<Star.SUN: 1>"


def test_a_member_that_is_text_is_told_as_text() -> None:
    assert redacted([Word.MAIN, Word.OTHER]) == [MARK, "harmless"]


def test_a_member_without_a_secret_is_the_same() -> None:
    assert redacted({VALUE: [Key.OTHER, Word.OTHER]})[MARK] == [Key.OTHER, Word.OTHER]


def test_a_buffer_keeps_its_class() -> None:
    for kind in (bytes, bytearray, memoryview):
        found = redacted(Box(kind(f"has {VALUE}".encode()))).held
        assert (type(found), bytes(found)) == (kind, f"has {MARK}".encode())


def test_a_view_of_a_part_leads_to_no_secret_beside_it() -> None:
    found = redacted([memoryview(f"harmless {VALUE}".encode())[:8]])[0]
    assert (bytes(found), found.obj) == (b"harmless", b"harmless")


def test_a_view_that_goes_in_steps_is_looked_through() -> None:
    doubled = b"".join(bytes([one, one]) for one in VALUE.encode())
    assert bytes(redacted(memoryview(doubled)[::2])) == MARK.encode()


def test_a_view_that_was_released_stays() -> None:
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


def test_an_error_without_a_secret_is_the_same_object() -> None:
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
