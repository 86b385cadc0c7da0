"""Branches pass their value to one output; the others are skips (S16.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from dataflow import Flow, NameUnknown
from tests.support.codes import codes

KINDS: tuple[Literal["low"], Literal["high"]] = ("low", "high")


def pick(n: int) -> Any:
    return {0: "low", 1: "high", 2: None}.get(n, "other")


def test_a_branch_may_be_named() -> None:
    built = Flow()
    branch = built.when(1, lambda n: n > 3, name="is_big")
    exits = built.switch(1, pick, KINDS, name="sizes")
    assert (repr(branch.yes), repr(exits["low"])) == ("'is_big.yes'", "'sizes.low'")
    built.when(1, lambda n: n > 3, name="is_big")
    assert codes(built.check()) == ["DF0202 is_big"]


def test_an_unknown_case_of_a_switch_is_refused() -> None:
    exits: Any = Flow().switch(1, pick, KINDS)
    with pytest.raises(NameUnknown, match="DF0219") as caught:
        exits["hihg"]
    assert isinstance(caught.value, KeyError)
    assert caught.value.diagnostics[0].available == ("low", "high")


async def decide(n: int) -> bool:
    return n > 3


def test_a_branch_with_an_invalid_config_is_a_problem() -> None:
    cases: list[tuple[str, Callable[[Any], object]]] = [
        ("DF0503 when.config.predicate", lambda f: f.when(1, "no function")),
        ("DF0415 switch.config.cases.0", lambda f: f.switch(1, pick, [1, 2])),
        ("DF0503 switch.config.pick", lambda f: f.switch(1, 3, ["a"])),
        ("DF0503 when.config.predicate", lambda f: f.when(1, decide)),
        ("DF0503 switch.config.pick", lambda f: f.switch(1, decide, ["a"])),
    ]
    for problem, wire in cases:
        built = Flow()
        wire(built)
        assert problem in codes(built.check())
