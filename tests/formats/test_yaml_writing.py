"""Documents are written as YAML that is read back the same."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from dataflow.formats.reader import read
from dataflow.formats.writer import LONGEST_KEY, WIDTH, write_yaml

awkward = st.sampled_from(
    [
        "", " ", "\n", "a\n", "a\n\n", "\na", " a\nb", "a \nb ", "a\n \nb", "a\tb\nc", "a\r\nb", "-",
        "- a", "a: b", "a:", "#", "a #b", "a#b", "yes", "ON", "null", "~", "1", "1e3", "0x1F", "1_000",
        "1:30", "2020-01-01", ".inf", "<<", "=", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "'", '"',
        "\\", "{", "[a", "a]", "a,b", "?", "? a", "$in.path", "./a.py", "../b", "/etc", "m:f", "a.$error",
        "---", "...", "\x7f", "\x85", "a\u2028b", "\ufeff", "a\x85\nb", "é\nü", "\U0001f600", "\ufffe",
        "nodes", "edges", "x" * 120, "x " * 80, "a:b:c", "a  b", "é",
    ]
)  # fmt: skip
texts = st.text(max_size=12) | st.text("ab:#-\n \t'\"{}[],&*!|>%@`?.~$", max_size=12) | awkward
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=25,
)
documents = st.dictionaries(texts, values, min_size=1, max_size=5)


@given(documents)
@example({"k" * (LONGEST_KEY + 1): {"a": [{"b": "c" * WIDTH}]}, "d": {"e" * (LONGEST_KEY + 1): 1}})
@example({"a": [[["b" * WIDTH], "c"], {"d": "e\nf\n"}], "g": [{}], "h": [[]], "i": ["j\nk"]})
def test_what_is_written_is_read_the_same(document: dict[str, Any]) -> None:
    found = read(write_yaml(document), "flow.yaml")[0]
    assert json.dumps(found) == json.dumps(document)


@given(documents)
def test_readers_of_yaml_1_1_read_it_the_same(document: dict[str, Any]) -> None:
    assert json.dumps(yaml.safe_load(write_yaml(document))) == json.dumps(document)


def test_short_values_take_one_line_and_nodes_their_own() -> None:
    document = {
        "dataflow": 1,
        "name": "on",
        "nodes": {
            "page": {"type": "control.read_text", "inputs": {"path": "$in.path"}},
            "loop": {"loop": {"nodes": {"a": {"type": "m:f"}}, "edges": [{"source": "a"}]}},
            "long": {"type": "x", "values": {"text": "word " * 30}},
            "lines": {"type": "x", "values": {"text": "one\n\n  two\n", "short": "a\nb"}},
        },
        "edges": [],
        "meta": {"list": ["a", [1, 2], {"b": "it's"}]},
    }
    assert (
        write_yaml(document)
        == f"""\
dataflow: 1
name: "on"
nodes:
  page: {{type: control.read_text, inputs: {{path: $in.path}}}}
  loop:
    loop:
      nodes:
        a: {{type: m:f}}
      edges:
        - {{source: a}}
  long:
    type: x
    values:
      text: "{"word " * 30}"
  lines:
    type: x
    values:
      text: |
        one

          two
      short: |-
        a
        b
edges: []
meta: {{list: [a, [1, 2], {{b: "it's"}}]}}
"""
    )
