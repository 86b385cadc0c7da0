"""The page on stored values has every kind that there is, and what is refused as it is told."""

from __future__ import annotations

import re
from typing import Final

import pytest

from dataflow.errors import ValueRefused
from dataflow.values.classes import OWN, classes_of
from dataflow.values.kinds import KINDS, NUMBER_BITS
from dataflow.values.reader import Reader
from dataflow.values.refusals import MOST_LEVELS
from dataflow.values.writer import MOST_BYTES, MOST_TEXT, Writer
from tests.docs.pages import DOCS

PAGE: Final = (DOCS / "reference" / "stored-values.md").read_text(encoding="utf-8")
#: What stands under "$" in the rows of the table.
_, *ROWS = re.findall(r"^\| .+? \| `([^`|]+)`[^|]* \| .+? \|$", PAGE, re.MULTILINE)


def test_the_table_has_each_kind_class_and_size_and_a_refusal() -> None:
    written = [kind.name for kind in KINDS]
    special = sorted(Reader(classes_of([]), lambda _: b"", "runs.db")._readers)
    assert [row for row in ROWS if row in written] == written
    others = [row for row in ROWS if row not in written and ":" not in row and row != "$"]
    assert sorted(others) == special
    named = [re.search(rf"^\| .*`{kind.__name__}`.* \| `dataflow:", PAGE, re.MULTILINE) for kind in OWN]
    assert all(named)
    for size in (NUMBER_BITS, MOST_TEXT, MOST_BYTES, MOST_LEVELS):
        assert f"{size:,} " in PAGE
    with pytest.raises(ValueRefused) as caught:
        Writer(classes_of([]), lambda *_: None).write({"h": [0, object()]}, "a.out")
    assert f"```text\n{caught.value}\n```" in PAGE
