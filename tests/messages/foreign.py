# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is reported about files of other systems, whatever their format."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, field_validator

from dataflow import Diagnostic, Flow
from dataflow.authoring import Notes, PartReader, unique_ids
from tests.messages.telling import Row, Stimulus, files
from tests.support.installed import install

__all__ = ["ROWS"]


def loaded(data: Any, *points: str, **options: str) -> Stimulus:
    """Load a file, with these entry points of formats installed as well."""

    def make(folder: Path) -> object:
        for name in points:
            install(folder, name.partition(" ")[0], f"{name}\n", group="dataflow.formats")
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        sys.path.insert(0, str(folder))
        try:
            return Flow.load(folder / "flow.json", **options)
        finally:
            sys.path.remove(str(folder))

    return files(make)


def read(part: Any, use: Callable[[PartReader], object]) -> Stimulus:
    """Read a part of a file with the tools of authors of formats."""

    def stimulus() -> list[Diagnostic]:
        notes = Notes()
        use(PartReader(notes, part, ("nodes", 0), "node 'a'"))
        return [problem.diagnostic for problem in notes.problems]

    return stimulus


class Strict(BaseModel, extra="forbid"):
    size: int = 0

    @field_validator("size")
    @classmethod
    def _is_even(cls, size: int) -> int:
        if size % 2:
            raise ValueError("the size is odd")
        return size


TOY: Final = "toy = tests.formats.toy:FORMAT"

# fmt: off
ROWS: Final = [
    Row("an option that the format does not have", loaded({"toy": ["a"]}, TOY, joins="once")),
    Row("an option of a native document", loaded({"dataflow": 1}, branch="a")),
    Row("several formats", loaded({"toy": ["a"]}, TOY, "twin = tests.formats.toy:TWIN")),
    Row("a format that raises", loaded({"toy": {}}, "faulty = tests.formats.toy:FAULTY")),
    Row("a format without a document", loaded({"toy": {"returns": 1}}, "faulty = tests.formats.toy:FAULTY")),
    Row("no known format", loaded({"tay": 1})),
    Row("a broken format", loaded({"tay": 1}, "toy = tests.formats.nowhere:FORMAT")),
    Row("no format", loaded({"tay": 1}, "toy = tests.formats.toy:translate")),
    Row("a problem without a kind", read({}, lambda part: part.problem("is of an older version"))),
    Row("an id twice", read({"x": [{"id": "b"}, {"id": "b"}]}, lambda part: unique_ids(part.entries("x", "node")))),
    Row("a part that a model refuses", read({"size": 1}, lambda part: part.checked(Strict))),
]
# fmt: on
