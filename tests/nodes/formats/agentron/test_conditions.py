"""The conditions of edges, by their truth tables."""

from __future__ import annotations

from typing import Final

from dataflow_formats.agentron.file import Condition, first_that_holds, holds

CASES: Final = [
    ("message_type", "done", "done", True),
    ("message_type", "done", "Done", False),
    ("message_type", "done", "done ", False),
    ("message_type", "done", "all done", False),
    ("message_type", "done", '{"type": "done"}', True),
    ("message_type", "done", '{"type": "open"}', False),
    ("message_type", "done", '{"kind": "done"}', False),
    ("message_type", "done", '["done"]', False),
    ("message_type", "done", '{"type": "done"', False),
    ("message_type", "1", '{"type": 1}', False),
    ("message_type", "", "", True),
    ("message_type", "", "x", False),
    ("content_contains", "yes", "Yes!", True),
    ("content_contains", "YES", "oh yes", True),
    ("content_contains", "yes", "no", False),
    ("content_contains", "STRASSE", "Straße", True),
    ("content_contains", '"type"', '{"type": "done"}', True),
    ("content_contains", "", "", True),
    ("content_contains", "", "x", True),
    ("content_contains", "x", "", False),
    ("mood", "good", "bad", True),
    ("", "", "", True),
]


def test_a_condition_holds_or_not() -> None:
    found = [holds(Condition(type=kind, value=value), output) for kind, value, output, _ in CASES]
    assert found == [outcome for *_, outcome in CASES]


def test_an_edge_without_a_condition_is_always_followed() -> None:
    assert holds(None, "")


def first(*values: str | None, output: str) -> int | None:
    """Return the first of several conditions that holds; None stands for an edge without a condition."""
    conditions = [
        None if value is None else Condition(type="content_contains", value=value) for value in values
    ]
    return first_that_holds(conditions, output)


def test_the_first_condition_that_holds_counts() -> None:
    assert first("a", "b", output="b") == 1
    assert first("a", "b", output="a b") == 0
    assert first("a", "b", output="c") is None
    assert first(output="a") is None
    assert first("a", None, output="c") == 1


def test_what_nests_too_deep_to_be_read_has_no_type() -> None:
    assert not holds(Condition(type="message_type", value="done"), "[" * 100_000)
