"""Branches pass their value on to one exit; the others are skips (S16.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from dataflow import Flow, RunFailed


async def test_when_passes_the_value_to_one_exit() -> None:
    with Flow() as built:
        branch = built.when(built.input("n", int), lambda n: n > 3)
        built.output("yes", branch.yes)
        built.output("no", branch.no)
    assert dict((await built.run(n=4)).outputs) == {"yes": 4}
    assert dict((await built.run(n=3)).outputs) == {"no": 3}


KINDS: tuple[Literal["low"], Literal["high"]] = ("low", "high")


def pick(n: int) -> Any:
    return {0: "low", 1: "high", 2: None}.get(n, "other")


@pytest.mark.parametrize(("n", "outputs"), [(0, {"low": 0}), (1, {"high": 1}), (2, {})])
async def test_switch_passes_the_value_to_the_case_that_is_picked(n: int, outputs: dict[str, int]) -> None:
    with Flow() as built:
        exits = built.switch(built.input("n", int), pick, KINDS)
        for name, port in exits.items():
            built.output(name, port)
    assert dict((await built.run(n=n)).outputs) == outputs


@pytest.mark.parametrize(
    ("n", "outputs"), [(0, {"low": 0}), (1, {"default": 1}), (2, {}), (3, {"default": 3})]
)
async def test_the_default_case_takes_what_no_other_does(n: int, outputs: dict[str, int]) -> None:
    with Flow() as built:
        exits = built.switch(built.input("n", int), pick, ["low", "default"])
        for name, port in exits.items():
            built.output(name, port)
    assert dict((await built.run(n=n)).outputs) == outputs


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        (
            lambda built: built.when(1, lambda n: n),
            "node 'when' got int 1 from its predicate; expected a bool",
        ),
        (
            lambda built: built.when(1, lambda _n: None),
            "node 'when' got None from its predicate; expected a bool",
        ),
        (
            lambda built: built.switch(3, pick, ["low", "high"]),
            "node 'switch' picked str 'other', which is no case; choices: low, high, or None for none of them",  # noqa: E501 - a whole message
        ),
        (
            lambda built: built.when(1, lambda _n: 0, name="is_big"),
            "node 'is_big' got int 0 from its predicate; expected a bool",
        ),
        (
            lambda built: built.switch(3, pick, ["low"], name="sizes"),
            "node 'sizes' picked str 'other', which is no case; choices: low, or None for none of them",
        ),
    ],
)
async def test_a_branch_that_cannot_be_decided_fails(wire: Callable[[Any], object], message: str) -> None:
    built = Flow()
    wire(built)
    with pytest.raises(RunFailed) as caught:
        await built.run()
    assert caught.value.failures[0].message == message


def test_a_branch_may_be_named() -> None:
    built = Flow()
    branch = built.when(1, lambda n: n > 3, name="is_big")
    exits = built.switch(1, pick, KINDS, name="sizes")
    assert (repr(branch.yes), repr(exits["low"])) == ("'is_big.yes'", "'sizes.low'")
    built.when(1, lambda n: n > 3, name="is_big")
    assert built.check() == ["node id 'is_big' is used twice"]


def test_a_case_that_a_switch_has_not_is_told_with_the_choices() -> None:
    exits: Any = Flow().switch(1, pick, KINDS)
    with pytest.raises(KeyError) as caught:
        exits["hihg"]
    assert caught.value.args == ("the switch has no case 'hihg'; choices: low, high",)


async def decide(n: int) -> bool:
    return n > 3


DECIDES = "expected a plain function, found the async function decide; decide inside a node"

NO_FUNCTION = "expected a function, written module:qualname, found"


@pytest.mark.parametrize(
    ("wire", "problem"),
    [
        (
            lambda built: built.when(1, "no function"),
            f"node 'when' (control.if): config predicate: {NO_FUNCTION} 'no function'",
        ),
        (
            lambda built: built.switch(1, pick, [1, 2]),
            "node 'switch' (control.switch): config cases.0: expected a valid string, found int 1",
        ),
        (
            lambda built: built.switch(1, 3, ["a"]),
            f"node 'switch' (control.switch): config pick: {NO_FUNCTION} 3",
        ),
        (
            lambda built: built.when(1, decide),
            f"node 'when' (control.if): config predicate: {DECIDES}",
        ),
        (
            lambda built: built.switch(1, decide, ["a"]),
            f"node 'switch' (control.switch): config pick: {DECIDES}",
        ),
    ],
)
def test_a_branch_that_cannot_be_is_a_problem(wire: Callable[[Any], object], problem: str) -> None:
    built = Flow()
    wire(built)
    assert problem in built.check()
