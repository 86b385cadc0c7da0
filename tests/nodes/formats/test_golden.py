"""Files of other systems and the native documents that they become, held side by side."""

from __future__ import annotations

from typing import Final

import pytest

from dataflow import Flow
from dataflow.formats.native.writer import dump_yaml
from tests.nodes.formats.golden import DOCUMENTS, FILES, converted, original

EACH: Final = pytest.mark.parametrize("document", DOCUMENTS)


@EACH
def test_a_file_becomes_its_document(document: str) -> None:
    assert dump_yaml(original(document).wiring) == converted(document).read_text(encoding="utf-8")


@EACH
def test_a_document_loads_as_the_same_flow(document: str) -> None:
    flow = Flow.load(converted(document))
    assert flow.check() == []
    assert flow.to_dict() == original(document).to_dict()


def test_each_file_has_its_document() -> None:
    assert FILES.keys() == {document.partition(".")[0] for document in DOCUMENTS}
