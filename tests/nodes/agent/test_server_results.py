"""What the results of servers come to, part by part."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dataflow import Image
from dataflow_agent.servers.results import content_of


def part(kind: str, **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(type=kind, **fields)


def test_a_result_is_its_texts_or_its_structure_and_its_images() -> None:
    cases: list[Any] = [
        ([part("text", text="a"), part("text", text="b")], {"result": "a"}, "a\nb"),
        ([], {"ü": [1]}, '{"ü":[1]}'),
        ([], None, ""),
        ([part("image", mime_type="image/png", data="MQ==")], None, (Image("image/png", b"1"),)),
        (
            [part("image", mime_type="image/png", data="MQ=="), part("text", text="a")],
            None,
            ("a", Image("image/png", b"1")),
        ),
        ([part("resource", resource=SimpleNamespace(text="inside"))], None, "inside"),
        (
            [part("resource", resource=SimpleNamespace())],
            None,
            "[resource, which cannot be shown]",
        ),
        ([part("resource_link", name="a file", uri="file:///a")], None, "[a file](file:///a)"),
        ([part("audio", data="MQ==")], None, "[audio, which cannot be shown]"),
    ]
    for content, structured, told in cases:
        assert content_of(SimpleNamespace(content=content, structured_content=structured)) == told
