"""Secrets in bytes, and in views of them, are found (S12.4)."""

from __future__ import annotations

import pytest

from dataflow.secrets.known import redacted
from tests.support.secret_kinds import MARK, VALUE, Box

pytestmark = pytest.mark.usefixtures("token_known")


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
