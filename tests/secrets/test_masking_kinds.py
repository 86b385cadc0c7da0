"""Secrets in what is derived from built-in classes are found (S12.4)."""

from __future__ import annotations

import pytest

from dataflow.secrets.known import redacted
from tests.support.secret_kinds import (
    DERIVED,
    MARK,
    VALUE,
    Box,
    OwnBytes,
    OwnDate,
    OwnNumber,
    OwnPair,
    having,
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
