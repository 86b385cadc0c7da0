"""Errors of pydantic are converted to problems of a document."""

from __future__ import annotations

from typing import Annotated, Any, Final

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from dataflow.diagnostics.documents import VALUE_INVALID
from dataflow.formats.problems import Problem, describe_value, problems_of, write_path

PATHS: Final[dict[tuple[str | int, ...], str]] = {
    ("nodes", "page", "type"): "nodes.page.type",
    ("edges", 2, "target"): "edges[2].target",
    ("nodes", "my node.x", "inputs", "p", "merge", 0): "nodes.my%20node%2Ex.inputs.p.merge[0]",
    (): "",
}
DESCRIBED: Final[list[tuple[Any, str]]] = [
    (None, "null"),
    (True, "true"),
    (1.5, "1.5"),
    ("a'b", '"a\'b"'),
    ("x" * 100, f"'{'x' * 18}... 64 characters ...{'x' * 18}'"),
    ([], "an empty list"),
    ([1, 2], "a list of 2"),
    ({}, "an empty mapping"),
    ({"a": 1, "b": 2}, "a mapping with a, b"),
    (dict.fromkeys("abcdef"), "a mapping with a, b, c, d, e, ..."),
    ({"k" * 100: 1}, f"a mapping with {'k' * 19}... 62 characters ...{'k' * 19}"),
]


def test_a_path_is_written_as_references_are() -> None:
    assert {path: write_path(path) for path in PATHS} == PATHS


def test_a_value_is_described_briefly() -> None:
    assert [describe_value(value) for value, _ in DESCRIBED] == [text for _, text in DESCRIBED]


def test_a_message_of_pydantic_is_passed_on() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Annotated[str, Field(pattern="^a")]]).validate_python(["ab", "b"])
    problem = VALUE_INVALID(expected="string should match pattern '^a'", found="'b'")
    assert problems_of(caught.value, ["ab", "b"]) == [Problem((1,), problem)]
