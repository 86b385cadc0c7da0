"""Problems as data: their text, places, locations and JSON."""

from __future__ import annotations

import copy
import pickle
from typing import Final

import pytest

from dataflow import Location
from dataflow.authoring import Kind, kinds_of
from dataflow.diagnostics import secrets
from dataflow.diagnostics.catalogue import AREAS, by_code
from dataflow.diagnostics.diagnostic import joined
from dataflow.packs.registry import installed_diagnostics
from dataflow.secrets.known import know
from tests.support.known_secrets import forgetting

VALUE: Final = "tok-9f-of-the-test"

UNKNOWN: Final = Kind("XX0001", "the {what} has no input {found!r}", hint="write {what}.PORT")
MISMATCH: Final = Kind("XX0002", "", expected="int")
PLACED: Final = UNKNOWN(
    "load.ulr",
    port="ulr",
    found="ulr",
    available=["retries", "url"],
    near="ulr",
    what="node",
    location=Location("flow.yaml", 3, 5),
)


def test_a_text_has_location_code_place_problem_choices_and_hint() -> None:
    assert str(PLACED) == (
        "flow.yaml:3:5: XX0001 load.ulr: the node has no input 'ulr'; available: url, retries; "
        "write node.PORT"
    )


def test_expected_and_found_follow_the_problem_unless_it_names_them() -> None:
    assert str(MISMATCH(found="str")) == "XX0002 expected int, found str"
    assert str(MISMATCH("a", expected="list", found="str")) == "XX0002 a: expected list, found str"
    assert str(Kind("XX3", "wrong {found}")(expected="a", found="b")) == "XX3 wrong b; expected a"


def test_an_empty_choice_is_reported() -> None:
    assert str(Kind("XX4", "no such node")(available=[])) == "XX4 no such node; none are available"


def test_braces_in_values_are_kept() -> None:
    assert str(UNKNOWN("{a}", found="{b!r}", what="{c}")).endswith(
        "{a}: the {c} has no input '{b!r}'; write {c}.PORT"
    )


def test_a_problem_is_on_one_line() -> None:
    assert str(UNKNOWN("a\nb", found="\x1b", what="n\t")).count("\n") == 0


def test_places_are_joined() -> None:
    assert [joined("a", "b"), joined("a", "[2].x"), joined("a", ".x"), joined("", "b"), joined("a", "")] == [
        "a: b",
        "a[2].x",
        "a.x",
        "b",
        "a",
    ]
    assert PLACED.within("node 'outer'").place == "node 'outer': load.ulr"


def test_the_first_location_counts() -> None:
    assert PLACED.at(Location("other.py", 1)).location == Location("flow.yaml", 3, 5)
    assert (
        str(MISMATCH(found="str").at(Location("other.py", 1))) == "other.py:1: XX0002 expected int, found str"
    )


def test_all_fields_are_in_the_json() -> None:
    assert PLACED.as_json() == {
        "code": "XX0001",
        "text": "load.ulr: the node has no input 'ulr'; available: url, retries; write node.PORT",
        "file": "flow.yaml", "line": 3, "column": 5, "place": "load.ulr", "port": "ulr", "expected": None,
        "found": "ulr", "available": ["url", "retries"], "hint": "write node.PORT",
    }  # fmt: skip


def test_secrets_are_masked() -> None:
    with forgetting():
        know("TOKEN", VALUE)
        problem = UNKNOWN(VALUE, found=VALUE, available=[VALUE], what=VALUE)
        assert VALUE not in str(problem)
        assert VALUE not in str(problem.as_json())


def test_problems_are_equal_by_value_copied_and_pickled() -> None:
    assert pickle.loads(pickle.dumps(PLACED)) == copy.deepcopy(PLACED) == PLACED
    assert len({PLACED, copy.deepcopy(PLACED), PLACED.within("a")}) == 2


def test_an_outline_has_the_names_of_the_fields() -> None:
    assert [UNKNOWN.outline, MISMATCH.outline, Kind("X", "a {b:g}", expected="${c}").outline] == [
        "the WHAT has no input FOUND; write WHAT.PORT", "expected int, found VALUE", "a B; expected ${c}",
    ]  # fmt: skip


def test_a_code_is_used_once() -> None:
    with pytest.raises(ValueError, match="DF1001"):
        by_code(kinds_of(secrets))


def test_kinds_are_complete_and_in_their_area() -> None:
    tables = [*map(kinds_of, AREAS), *installed_diagnostics().values()]
    kinds = [kind for table in tables for kind in table]
    assert [kind.code for kind in kinds if not (kind.meaning and kind.example and kind.cure)] == []
    areas = [sorted({kind.code[:-2] for kind in kinds_of(area)}) for area in AREAS]
    assert [codes for codes in areas if len(codes) > 1] == []
    assert areas == sorted(areas)
