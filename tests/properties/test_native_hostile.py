"""Whatever stands in a file: it is read, or refused with a clear error; nothing else happens."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from dataflow import FlowInvalid, FormatError
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow.formats.writer import write_yaml
from tests.formats.nesting import nest
from tests.properties.documents import constants, documents
from tests.properties.mutating import places_in

DIGEST: Final = Path("docs/examples/digest.yaml").read_text("utf-8")
WORDS: Final = r"""
{ } [ ] : , - # ' " | > |2- ? &a *a ! !!str !!int !x --- ... \ \u \ud800 \udc00 <<: null ~ true on .nan 1e999
0x é 🙂 {value:1} {merge:[a]} loop: nodes: $in $carry. type: a.b.c % dataflow: 2 edges:
"""
FRAGMENTS: Final = [
    *WORDS.split(),
    *(": ", "- ", " #", "? ", "!!str ", "\n", "\n  ", "\n---\n", "%YAML 1.1\n---\n", "{value: 1}", "type: "),
    *("\t", "\r", "\x00", "\x85", "\u2028", "\ufeff", "\ud800", "9" * 1001),
]

texts = st.sampled_from(FRAGMENTS) | st.text(max_size=3)
bases = st.just(DIGEST) | documents.map(write_yaml) | documents.map(json.dumps)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Take characters out of a document and put others in, here and there."""
    text: str = draw(bases)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 6))
        text = text[:start] + draw(texts) + text[end:]
    return text


@st.composite
def misshapen(draw: st.DrawFn) -> dict[str, Any]:
    """Put a part where another belongs, or give one another name."""
    document: dict[str, Any] = copy.deepcopy(draw(documents))
    for _ in range(draw(st.integers(1, 3))):
        container, step = draw(st.sampled_from(places_in(document)))
        item = container[step]
        other, key = draw(st.sampled_from(places_in(document)))
        put = copy.deepcopy(draw(st.sampled_from([other[key], item]) | constants))
        if isinstance(container, dict) and draw(st.booleans()):
            container[draw(st.sampled_from([*map(str, document), "type", "loop", "each", "x"]))] = put
        else:
            container[step] = put
    return document


def read_or_refused(text: str, name: str) -> None:
    refused: FormatError | FlowInvalid | None = None
    try:
        wiring = load(text, name, nest)
    except (FormatError, FlowInvalid) as error:
        refused = error
    if isinstance(refused, FormatError):
        assert min(refused.line or 0, refused.column or 0) >= 1
        assert len(str(refused)) < 1000
    elif refused is not None:
        assert len(refused.diagnostics) == len(refused.problems) > 0
        assert all(problem.location.line and problem.location.column for problem in refused.diagnostics)
    else:
        written = dump(wiring)
        again = dump(load(dump_yaml(wiring), "flow.yaml", nest))
        assert json.dumps(again) == json.dumps(written)


@given(mutated(), st.sampled_from(["flow.yaml", "flow.json"]))
def test_a_changed_text_is_read_or_refused(text: str, name: str) -> None:
    read_or_refused(text, name)


@given(st.text() | st.text("{}[]:,-'\"\n &*!|>%@#? ab1~"), st.sampled_from(["flow.yaml", "flow.json"]))
def test_any_text_is_read_or_refused(text: str, name: str) -> None:
    read_or_refused(text, name)


@given(misshapen())
def test_a_misshapen_document_is_read_or_refused(document: dict[str, Any]) -> None:
    read_or_refused(json.dumps(document), "flow.json")


@given(constants)
def test_any_value_is_read_or_refused(value: object) -> None:
    read_or_refused(json.dumps(value), "flow.json")
    read_or_refused(
        json.dumps({"dataflow": 1, "nodes": value, "inputs": {"a": {"type": value}}}), "flow.json"
    )
