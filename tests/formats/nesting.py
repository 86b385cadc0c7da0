"""What the tests of formats nest flows with: everything but files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow import Flow
from dataflow.core.functions import import_function
from dataflow.packs.registry import find_type

if TYPE_CHECKING:
    from dataflow.core.wiring import Wiring

__all__ = ["nest"]


def nest(given: Wiring | str) -> Flow:
    assert not isinstance(given, str), "these tests read no files"
    return Flow.from_wiring(given, find_type, import_function)
