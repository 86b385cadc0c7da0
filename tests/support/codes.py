"""The codes and places of problems, for comparison."""

from __future__ import annotations

from collections.abc import Iterable

from dataflow import DataflowError, Diagnostic

__all__ = ["codes", "found_of"]


def codes(problems: Iterable[Diagnostic | str] | DataflowError) -> list[str]:
    """Return the code and the place of each problem: `DF0203 load.text`."""
    found = problems.diagnostics if isinstance(problems, DataflowError) else problems
    return [one if isinstance(one, str) else f"{one.code} {one.place}".rstrip() for one in found]


def found_of(problems: Iterable[Diagnostic | str]) -> list[tuple[str, ...]]:
    """Return the code with the place of each problem, what was expected and what was found."""
    return [
        (one,) if isinstance(one, str) else (f"{one.code} {one.place}".rstrip(), one.expected, one.found)
        for one in problems
    ]
