"""Entering: the values that a run is given, checked and made its own (S1.7, S3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.base.copies import separate
from dataflow.base.wording import choices
from dataflow.core.ports import MISSING
from dataflow.errors import FlowInvalid, ValueMismatch
from dataflow.types.validation import check_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.core.wiring import FlowInput

__all__ = ["read_inputs", "read_some"]


def read_inputs(flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check what a run of the flow is given; raises FlowInvalid with every problem."""
    missing = [
        f"input {name!r} is required"
        for name, port in declared.items()
        if given.get(name, port.default) is MISSING
    ]
    defaults = {name: port.default for name, port in declared.items() if port.default is not MISSING}
    return _read(flow, declared, {**defaults, **given}, missing)


def read_some(flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check new values of some inputs; raises FlowInvalid with every problem."""
    return _read(flow, declared, given, [])


def _read(
    flow: str, declared: Mapping[str, FlowInput], given: Mapping[str, Any], missing: list[str]
) -> dict[str, Any]:
    problems = [f"there is no input {name!r}; {choices(declared)}" for name in given if name not in declared]
    problems += missing
    values = {}
    for name, port in declared.items():
        value = given.get(name, MISSING)
        if value is MISSING:
            continue
        try:
            values[name] = separate(check_value(value, port.type))  # the caller keeps its own (S3.4)
        except ValueMismatch as mismatch:
            problems.append(f"input {name!r}: {mismatch}")
    if problems:
        raise FlowInvalid(flow, problems)
    return values
