"""Names in paths and references."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow.core.wiring import Reference, encode, parse_reference, write_reference


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("plain", "plain"),
        ("", ""),
        ("größe-1_ß", "größe-1_ß"),
        ("a.b", "a%2Eb"),
        ("a/b", "a%2Fb"),
        ("a[0]", "a%5B0%5D"),
        ("~$%", "%7E%24%25"),
        ("a b\tc\n", "a%20b%09c%0A"),
        ("a\u2003b", "a%E2%80%83b"),
        ("(a, 'b')", "(a,%20'b')"),
    ],
)
def test_what_has_a_meaning_in_paths_is_encoded(name: str, encoded: str) -> None:
    assert encode(name) == encoded


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("a", Reference("a", "out")),
        ("a.out", Reference("a", "out")),
        ("a.title", Reference("a", "title")),
        ("a.$done", Reference("a", "$done")),
        ("a.$error", Reference("a", "$error")),
        ("a.b.c", Reference("a", "b.c")),
        ("a%2Eb.c%20d", Reference("a.b", "c d")),
        ("%24in.x", Reference("$in", "x")),
        ("$in.name", Reference("$in", "name")),
        ("$carry.x", Reference("$carry", "x")),
        ("$item.item", Reference("$item", "item")),
        ("$in.a%2Eb", Reference("$in", "a.b")),
    ],
)
def test_a_reference_is_read(text: str, reference: Reference) -> None:
    assert parse_reference(text) == reference


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' is no source: write `node.port`, `node` or `$in.name`"),
        (".out", "'.out' is no source: write `node.port`, `node` or `$in.name`"),
        ("a.", "'a.' is no source: write `node.port`, `node` or `$in.name`"),
        ("$in", "'$in' is no source: write `$in.name`"),
        ("$carry", "'$carry' is no source: write `$carry.name`"),
        ("$in.", "'$in.' is no source: write `node.port`, `node` or `$in.name`"),
        ("$out.x", "'$out.x' is no source: there is no '$out'; choices: $in, $carry, $item"),
        ("$out", "'$out' is no source: there is no '$out'; choices: $in, $carry, $item"),
    ],
)
def test_anything_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_reference(text)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        (Reference("a"), "a"),
        (Reference("a", "title"), "a.title"),
        (Reference("a.b", "c/d"), "a%2Eb.c%2Fd"),
        (Reference("a", "$done"), "a.$done"),
        (Reference("$in", "out"), "$in.out"),
        (Reference("$in", "a b"), "$in.a%20b"),
        (Reference("$carry", "x"), "$carry.x"),
    ],
)
def test_a_reference_is_written(reference: Reference, text: str) -> None:
    assert write_reference(reference) == text


@given(node=st.text(min_size=1), port=st.text(min_size=1))
def test_what_is_written_reads_the_same(node: str, port: str) -> None:
    for reference in (Reference(node, port), Reference(node), Reference("$in", port)):
        if reference.node in ("$in", "$carry", "$item") and reference.node == node:
            continue
        assert parse_reference(write_reference(reference)) == reference


def test_a_reference_reads_as_node_and_port() -> None:
    assert str(Reference("a")) == "a.out"
    assert str(Reference("$in", "name")) == "$in.name"
