"""Secrets in members of enums are found (S12.4)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow.secrets.known import redacted
from tests.support.secret_kinds import MARK, VALUE, Box, Key, Star, Word

pytestmark = pytest.mark.usefixtures("token_known")


def test_the_value_of_a_member_is_found() -> None:
    found: list[Any] = redacted([Key.MAIN, Key.BOXED])
    assert found == [f"<Key.MAIN: '{MARK}'>", f"<Key.BOXED: ['{MARK}']>"]


def test_an_attribute_of_a_member_is_found() -> None:
    assert redacted(Box(Star.SUN)).held == "<Star.SUN: 1>"


def test_a_member_that_is_text_is_told_as_text() -> None:
    assert redacted([Word.MAIN, Word.OTHER]) == [MARK, "harmless"]


def test_a_member_without_a_secret_is_the_same() -> None:
    assert redacted({VALUE: [Key.OTHER, Word.OTHER]})[MARK] == [Key.OTHER, Word.OTHER]
