"""The codes, places and fields of problems, for comparison."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dataflow import DataflowError, Diagnostic


def codes(problems: Iterable[Diagnostic] | DataflowError) -> list[str]:
    """Return the code and the place of each problem: `DF0203 load.text`."""
    return [f"{one.code} {one.place}".rstrip() for one in _listed(problems)]


def found_of(problems: Iterable[Diagnostic]) -> list[tuple[str, ...]]:
    """Return the code with the place of each problem, what was expected and what was found."""
    return [(f"{one.code} {one.place}".rstrip(), one.expected, one.found) for one in problems]


def located(problems: Iterable[Diagnostic] | DataflowError) -> list[str]:
    """Return the line, column, code and place of each problem: `3:10 DF0122 nodes.load.type`."""
    listed = _listed(problems)
    return [f"{replace(one.location, file='')} {one.code} {one.place}".strip() for one in listed]


def _listed(problems: Iterable[Diagnostic] | DataflowError) -> Iterable[Diagnostic]:
    return problems.diagnostics if isinstance(problems, DataflowError) else problems
