"""What is said of secrets; their values are in none of it (S12.4)."""

from __future__ import annotations

import os
from typing import Any, Final

from dataflow import Secret
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]

NAME: Final = "DATAFLOW_NO_SUCH_SECRET"


def given(name: str, value: Any = None) -> Stimulus:
    return lambda: Secret(name, value).reveal()


def changed() -> None:
    Secret(NAME).name = "other"


def of_bytes() -> object:
    """Reveal what the environment has as bytes that are no text."""
    os.environb[NAME.encode()] = b"\xff" * 8
    try:
        return Secret(NAME).reveal()
    finally:
        del os.environb[NAME.encode()]


ROWS: Final = [
    Row(
        "a secret that is nowhere",
        given(NAME),
        f"secret '{NAME}' is missing: set the environment variable of that name",
    ),
    Row(
        "a short secret",
        given(NAME, "abc"),
        f"secret '{NAME}' is too short to be kept: it has 3 characters, expected at least 8",
    ),
    Row("bytes for a secret", of_bytes, f"secret '{NAME}' is no text: it has bytes that are no UTF-8"),
    Row(
        "a name of a secret",
        given("my secret"),
        "the name of a secret consists of letters, digits, `_`, `.` and `-`, and begins with no digit",
    ),
    Row(
        "a secret that is no text",
        given(NAME, b"bytes"),
        f"the value of secret '{NAME}' must be text, found bytes",
    ),
    Row("a secret that is changed", changed, "a secret cannot be changed"),
]
