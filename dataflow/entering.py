"""Entering: the values that a run is given, checked and made its own (S1.7, S3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.checking import check_value
from dataflow.errors import FlowInvalid, ValueMismatch
from dataflow.ports import MISSING
from dataflow.separation import separate
from dataflow.wording import choices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.wiring import FlowInput

__all__ = ["read_inputs"]


def read_inputs(flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check what a run of the flow is given; raises FlowInvalid with every problem."""
    problems = [f"there is no input {name!r}; {choices(declared)}" for name in given if name not in declared]
    values = {}
    for name, port in declared.items():
        value = given.get(name, port.default)
        if value is MISSING:
            problems.append(f"input {name!r} is required")
            continue
        try:
            values[name] = separate(check_value(value, port.type))  # the caller keeps its own (S3.4)
        except ValueMismatch as mismatch:
            problems.append(f"input {name!r}: {mismatch}")
    if problems:
        raise FlowInvalid(flow, problems)
    return values
