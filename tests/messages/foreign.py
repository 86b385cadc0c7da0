# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is told of files of other systems before, or whichever, format reads them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from tests.messages.saving import files
from tests.messages.telling import Row, Stimulus
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


TOY: Final = "toy = tests.formats.toy:FORMAT"

# fmt: off
ROWS: Final = [
    Row("an option that the format does not have", loaded({"toy": ["a"]}, TOY, joins="once"), "1:1 a file of toy has no option 'joins'; choices: branch"),
    Row("an option of a native document", loaded({"dataflow": 1}, branch="a"), "DIR/flow.json:1:1: is a native document, which has no option 'branch'"),
    Row("several formats", loaded({"toy": ["a"]}, TOY, "twin = tests.formats.toy:TWIN"), "DIR/flow.json:1:1: could be of the formats 'toy' and 'twin'; say which"),
    Row("a format that raises", loaded({"toy": {}}, "faulty = tests.formats.toy:FAULTY"), "DIR/flow.json: format 'faulty' cannot translate it: KeyError: 'returns'"),
    Row("a format without a document", loaded({"toy": {"returns": 1}}, "faulty = tests.formats.toy:FAULTY"), "DIR/flow.json: format 'faulty' translates it to 1; expected a document"),
    Row("no known format", loaded({"tay": 1}), "DIR/flow.json:1:1: is a file of no known format: write `dataflow: 1`, or say the format; choices: agentflow, agentron, cagent, clickweave, hifide"),
    Row("a broken format", loaded({"tay": 1}, "toy = tests.formats.nowhere:FORMAT"), "DIR/flow.json:1:1: is of no format that can be used; format toy: tests.formats.nowhere:FORMAT cannot be imported: ModuleNotFoundError: No module named 'tests.formats.nowhere'"),
    Row("no format", loaded({"tay": 1}, "toy = tests.formats.toy:translate"), "DIR/flow.json:1:1: is of no format that can be used; format toy: tests.formats.toy:translate cannot be imported: TypeError: tests.formats.toy:translate is of type function; expected a Format"),
]
# fmt: on
