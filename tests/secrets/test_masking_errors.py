"""Secrets in errors, and in what has led to them, are found (S12.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dataflow.secrets.known import redacted
from tests.support.secret_kinds import VALUE, Box, OwnError, caused, noted

pytestmark = pytest.mark.usefixtures("token_known")


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
