"""The conditions of an if, and what answers to an approval come to: tables of what holds."""

from __future__ import annotations

from typing import Any, Final, Literal

from dataflow_formats.agentflow.file import Condition, checks, text_of
from dataflow_formats.agentflow.nodes import normalised

CONDITIONS: Final[list[tuple[Literal["equal", "contains"], str, str, bool]]] = [
    ("equal", "yes", "yes", True),
    ("equal", "YES", "yes", True),
    ("equal", "yes", "Yes", True),
    ("equal", " yes ", "yes", True),
    ("equal", "yes", "yes ", False),
    ("equal", "yes", "yes!", False),
    ("equal", "", "", False),
    ("equal", "  ", "  ", False),
    ("equal", "straße", "STRASSE", False),
    ("contains", "yes", "abc yes", True),
    ("contains", " WORLD ", "Hello World", True),
    ("contains", "yes", "no", False),
    ("contains", "", "no", False),
    ("contains", " ", "a b", False),
]


def test_a_condition_compares_in_lower_case_and_trims_its_value() -> None:
    found = [Condition(operator=operator, value=value).holds(text) for operator, value, text, _ in CONDITIONS]
    assert found == [holds for *_, holds in CONDITIONS]


def test_what_is_no_text_is_compared_as_json() -> None:
    values: list[Any] = ["Yes", None, True, 1.5, [1, "ä"], {"a": None}]
    texts = ["Yes", "", "true", "1.5", '[1,"ä"]', '{"a":null}']
    assert [text_of(value) for value in values] == texts


def test_conditions_are_looked_at_up_to_the_first_that_holds() -> None:
    conditions = [Condition(value=value) for value in ("a", "b", "c")]
    assert checks(conditions, "b") == [False, True]
    assert checks(conditions, "d") == [False, False, False]
    assert checks([], "d") == []


ANSWERS: Final[list[tuple[Any, tuple[str, str]]]] = [
    ("reject", ("reject", "")),
    ("I REJECT this", ("reject", "")),
    ("fine", ("approve", "")),
    ("", ("approve", "")),
    (None, ("approve", "")),
    (7, ("approve", "")),
    (False, ("approve", "")),
    (["reject"], ("approve", "")),
    ({}, ("approve", "")),
    ({"decision": "Reject", "note": "no"}, ("reject", "no")),
    ({"decision": "maybe", "note": "ok "}, ("approve", "ok ")),
    ({"decision": ["reject"], "note": 1}, ("approve", "")),
    ({"note": "reject"}, ("approve", "reject")),
]


def test_any_answer_comes_to_a_decision_and_a_note() -> None:
    assert [normalised(answer) for answer, _ in ANSWERS] == [found for _, found in ANSWERS]
