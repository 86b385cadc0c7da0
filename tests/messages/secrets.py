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
    Row("a secret that is nowhere", given(NAME)),
    Row("a short secret", given(NAME, "abc")),
    Row("bytes for a secret", of_bytes),
    Row("a name of a secret", given("my secret")),
    Row("a secret that is not text", given(NAME, b"bytes")),
    Row("a secret that is changed", changed),
]
