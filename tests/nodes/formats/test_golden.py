"""Files of other systems and the native documents that they become, held side by side."""

from __future__ import annotations

from dataflow import Flow
from dataflow.formats.native.writer import dump_yaml
from tests.nodes.formats.golden import DOCUMENTS, FILES, converted, original


def test_a_file_becomes_its_document() -> None:
    found = {document: dump_yaml(original(document).wiring) for document in DOCUMENTS}
    assert found == {document: converted(document).read_text(encoding="utf-8") for document in DOCUMENTS}


def test_a_document_loads_as_the_same_flow() -> None:
    flows = {document: Flow.load(converted(document)) for document in DOCUMENTS}
    assert [document for document, flow in flows.items() if flow.check()] == []
    assert {document: flow.to_dict() for document, flow in flows.items()} == {
        document: original(document).to_dict() for document in DOCUMENTS
    }


def test_each_file_has_its_document() -> None:
    assert FILES.keys() == {document.partition(".")[0] for document in DOCUMENTS}
