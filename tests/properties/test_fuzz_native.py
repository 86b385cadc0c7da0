"""The fuzzer of the native loader tries some inputs, and finds what is planted."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from dataflow import FormatError
from tests.properties.fuzz_native import TooSlowError, examine, fuzz
from tests.properties.mutating import corpus, spoilt

ENOUGH = 300


def test_each_input_becomes_a_flow_or_a_clear_error(tmp_path: Path) -> None:
    report = fuzz(0, iter(range(ENOUGH)), tmp_path)
    assert report.failure == ""
    assert report.tried == ENOUGH
    assert report.outcomes.keys() == {
        "loaded, and fit to run",
        "loaded, with problems",
        "refused with FlowInvalid",
        "refused with FormatError",
    }


def test_its_documents_are_many() -> None:
    assert len(corpus()) > 100


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("x"), "KeyError: 'x'"),
        (RecursionError(), "RecursionError"),
        (FormatError("flow.yaml", "is bad"), "AssertionError: no place: flow.yaml: is bad"),
        (TooSlowError("took more than 20 s"), "TooSlowError: took more than 20 s"),
    ],
)
def test_what_is_no_clear_error_is_told_with_its_seed_and_its_input(
    tmp_path: Path, error: BaseException, told: str
) -> None:
    def breaks_at_the_third(path: Path, *, imports: bool) -> list[str]:
        if path.read_bytes() == third:
            raise error
        return examine(path, imports=imports)

    name, text = spoilt(random.Random("5/2"))
    third = text.encode(errors="surrogatepass")
    report = fuzz(5, itertools.count(), tmp_path, breaks_at_the_third)
    assert report.tried == 2
    assert report.failure.startswith(f"seed 5, input 2, {name}:\n{text!r}\nTraceback")
    assert told in report.failure
