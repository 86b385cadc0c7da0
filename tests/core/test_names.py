"""Names in paths and references."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ArgumentInvalid
from dataflow.core.wiring import Reference, encode, parse_reference, write_reference


def test_what_has_a_meaning_in_paths_is_encoded() -> None:
    names = {
        "plain": "plain",
        "": "",
        "größe-1_ß": "größe-1_ß",
        "a.b": "a%2Eb",
        "a/b": "a%2Fb",
        "a[0]": "a%5B0%5D",
        "~$%": "%7E%24%25",
        "a b\tc\n": "a%20b%09c%0A",
        "a\u2003b": "a%E2%80%83b",
        "(a, 'b')": "(a,%20'b')",
    }
    assert {name: encode(name) for name in names} == names


def test_a_reference_is_read_and_written() -> None:
    both = {
        "a": Reference("a", "out"),
        "a.title": Reference("a", "title"),
        "a.$done": Reference("a", "$done"),
        "a.$error": Reference("a", "$error"),
        "a%2Eb.c%20d": Reference("a.b", "c d"),
        "a%2Eb.c%2Fd": Reference("a.b", "c/d"),
        "%24in.x": Reference("$in", "x"),
        "$in.name": Reference("$in", "name"),
        "$in.out": Reference("$in", "out"),
        "$carry.x": Reference("$carry", "x"),
        "$item.item": Reference("$item", "item"),
        "$in.a%2Eb": Reference("$in", "a.b"),
    }
    read = {**both, "a.out": Reference("a"), "a.b.c": Reference("a", "b.c")}
    assert {text: parse_reference(text) for text in read} == read
    ambiguous = "%24in.x"  # a node that is called like the inputs; written, it is one of them
    del both[ambiguous]
    assert {text: write_reference(reference) for text, reference in both.items()} == {
        text: text for text in both
    }


def test_any_other_text_is_not_a_reference() -> None:
    expected = {
        **dict.fromkeys(["", ".out", "a.", "$in."], "`node.port`, `node` or `$in.name`"),
        "$in": "`$in.name`",
        "$carry": "`$carry.name`",
        "$out.x": "",
        "$out": "",
    }
    found = {}
    for text in expected:
        with pytest.raises(ValueError, match="DF0212") as caught:
            parse_reference(text)
        assert isinstance(caught.value, ArgumentInvalid)
        found[text] = caught.value.diagnostics[0].expected
    assert found == expected


@given(node=st.text(min_size=1), port=st.text(min_size=1))
def test_what_is_written_reads_the_same(node: str, port: str) -> None:
    for reference in (Reference(node, port), Reference(node), Reference("$in", port)):
        if reference.node in ("$in", "$carry", "$item") and reference.node == node:
            continue
        assert parse_reference(write_reference(reference)) == reference
