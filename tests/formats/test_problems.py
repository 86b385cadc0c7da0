"""What pydantic finds, told in words of the format."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from dataflow.formats.problems import Problem, describe_value, problems_of, write_path


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (("nodes", "page", "type"), "nodes.page.type"),
        (("edges", 2, "target"), "edges[2].target"),
        (("nodes", "my node.x", "inputs", "p", "merge", 0), "nodes.my%20node%2Ex.inputs.p.merge[0]"),
        ((), ""),
    ],
)
def test_a_path_is_written_as_references_are(path: tuple[str | int, ...], written: str) -> None:
    assert write_path(path) == written


@pytest.mark.parametrize(
    ("value", "text"),
    [
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
    ],
)
def test_what_stands_in_a_document_is_described_shortly(value: object, text: str) -> None:
    assert describe_value(value) == text


def test_what_pydantic_says_in_its_own_words_is_passed_on() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Annotated[str, Field(pattern="^a")]]).validate_python(["ab", "b"])
    told = "expected string should match pattern '^a', found 'b'"
    assert problems_of(caught.value, ["ab", "b"]) == [Problem((1,), told)]
