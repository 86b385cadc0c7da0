"""The fuzzer of loaders tries some inputs, and finds what is planted."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from dataflow import FormatError
from tests.properties.fuzz_native import TooSlowError, corpus, examine, files_of, fuzz, spoilt

ENOUGH = 300
ENOUGH_OF_A_FORMAT = 40


def test_each_input_becomes_a_flow_or_a_clear_error(tmp_path: Path) -> None:
    assert len(corpus()) > 100
    report = fuzz(0, iter(range(ENOUGH)), tmp_path)
    assert (report.failure, report.tried) == ("", ENOUGH)
    assert report.outcomes.keys() == {
        "loaded, and fit to run",
        "loaded, with problems",
        "refused with FlowInvalid",
        "refused with FormatError",
    }


@pytest.mark.parametrize("format", ["agentflow", "agentron", "cagent", "clickweave", "hifide"])
def test_a_spoilt_file_of_a_format_is_loaded_or_refused_with_its_place(format: str, tmp_path: Path) -> None:
    report = fuzz(3, iter(range(ENOUGH_OF_A_FORMAT)), tmp_path, documents=files_of(format))
    assert (report.failure, report.tried) == ("", ENOUGH_OF_A_FORMAT)


def test_what_is_no_clear_error_is_reported_with_its_seed_and_its_input(tmp_path: Path) -> None:
    name, text = spoilt(random.Random("5/2"))
    third = text.encode(errors="surrogatepass")
    for error, reported in (
        (KeyError("x"), "KeyError: 'x'"),
        (RecursionError(), "RecursionError"),
        (FormatError("flow.yaml", "is bad"), "AssertionError: no place: flow.yaml: DF0506 is bad"),
        (TooSlowError("took more than 20 s"), "TooSlowError: took more than 20 s"),
    ):

        def breaks_at_the_third(path: Path, *, imports: bool, error: BaseException = error) -> list[str]:
            if path.read_bytes() == third:
                raise error
            return examine(path, imports=imports)

        report = fuzz(5, itertools.count(), tmp_path, breaks_at_the_third)
        assert report.tried == 2
        assert report.failure.startswith(f"seed 5, input 2, {name}:\n{text!r}\nTraceback")
        assert reported in report.failure
