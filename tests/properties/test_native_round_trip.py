"""Native documents survive being read and written, whatever stands in them; any text is read or refused."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dataflow import DataflowError
from dataflow.formats.native.document import json_schema
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow.formats.writer import write_yaml
from tests.formats.nesting import nest
from tests.properties.documents import canonical, constants, documents
from tests.properties.fuzz_native import refused
from tests.support.json_schemas import is_valid

SCHEMA: Any = json_schema()


@given(documents)
def test_a_document_is_read_and_written_in_its_one_form(document: dict[str, Any]) -> None:
    assert dump(load(json.dumps(document), "flow.json", nest)) == canonical(document)


@given(documents)
def test_what_is_written_is_read_as_the_same_wiring(document: dict[str, Any]) -> None:
    wiring = load(write_yaml(document), "flow.yaml", nest)
    written = dump(wiring)
    again = load(json.dumps(written), "flow.json", nest)
    assert json.dumps(dump(again)) == json.dumps(written)
    assert json.dumps(dump(load(dump_yaml(again), "flow.yaml", nest))) == json.dumps(written)


def read_or_refused(text: str, name: str) -> None:
    try:
        load(text, name, nest)
    except DataflowError as error:
        refused(error)


@given(st.text() | st.text("{}[]:,-'\"\n &*!|>%@#? ab1~"), st.sampled_from(["flow.yaml", "flow.json"]))
def test_any_text_is_read_or_refused(text: str, name: str) -> None:
    read_or_refused(text, name)


@given(constants)
def test_any_value_is_read_or_refused(value: object) -> None:
    for document in (value, {"dataflow": 1, "nodes": value, "inputs": {"a": {"type": value}}}):
        read_or_refused(json.dumps(document), "flow.json")


@settings(max_examples=50)
@given(documents)
def test_a_document_satisfies_the_published_schema(document: dict[str, Any]) -> None:
    assert is_valid(document, SCHEMA, SCHEMA)
    assert is_valid(dump(load(json.dumps(document), "flow.json", nest)), SCHEMA, SCHEMA)
