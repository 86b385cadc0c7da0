"""The firing rule as tables: what becomes of a node once its inputs have settled (S4, S5)."""

from __future__ import annotations

from typing import Any

from dataflow import Failure
from dataflow.compiler.plan import Feed
from dataflow.core.states import NO_EDGE, Errored, Skip
from dataflow.scheduler.firing_rule import (
    Conflict,
    Decision,
    Fires,
    Poisoned,
    Skipped,
    decide,
    live_values,
)

SKIP_A = Skip("a", "not taken")
SKIP_B = Skip("b", "not taken either")
ERROR = Errored("c", Failure("c", "c", 1, "ValueError", "no", ""))
OTHER_ERROR = Errored("d", Failure("d", "d", 1, "KeyError", "no", ""))


def feed(port: str, *slots: int, **more: Any) -> Feed:
    return Feed(port, slots, tuple(f"source{slot}.out" for slot in slots), **more)


ONE = feed("x", 0)
OPTIONAL = feed("x", 0, required=False)
SECOND = feed("y", 1)
OPTIONAL_SECOND = feed("y", 1, required=False)
PAIR = feed("x", 0, 1)
MANY = feed("xs", 0, 1, many=True)
OPTIONAL_MANY = feed("xs", 0, 1, many=True, required=False)
TAKES = feed("x", 0, takes_failure=True)
TAKES_PAIR = feed("x", 0, 1, takes_failure=True)

CASES: list[tuple[str, list[Feed], list[Any], Decision]] = [
    ("a node without connected ports fires", [], [], Fires()),
    ("a value lets it fire", [ONE], ["v"], Fires()),
    ("values on all ports let it fire", [ONE, SECOND], ["v", "w"], Fires()),
    ("falsy values are values", [ONE, SECOND], [None, 0], Fires()),
    ("a skip on a required port skips it", [ONE], [SKIP_A], Skipped("x", SKIP_A, (), ("x",))),
    (
        "a skip on one required port names the live ones",
        [ONE, SECOND],
        [SKIP_A, "w"],
        Skipped("x", SKIP_A, ("y",), ("x",)),
    ),
    (
        "the first dead required port is the reason",
        [ONE, SECOND],
        [SKIP_A, SKIP_B],
        Skipped("x", SKIP_A, (), ("x", "y")),
    ),
    ("a skip on an optional port takes its default", [OPTIONAL, SECOND], [SKIP_A, "w"], Fires()),
    ("an optional port without an edge in this round is not connected", [OPTIONAL], [NO_EDGE], Fires()),
    ("a required one is a skip", [ONE], [NO_EDGE], Skipped("x", NO_EDGE, (), ("x",))),
    (
        "of an optional port the edge that counts is the reason",
        [feed("x", 0, 1, required=False)],
        [NO_EDGE, SKIP_A],
        Skipped("x", SKIP_A, (), ("x",)),
    ),
    (
        "skips on all optional ports skip it",
        [OPTIONAL, OPTIONAL_SECOND],
        [SKIP_A, SKIP_B],
        Skipped("x", SKIP_A, (), ("x", "y")),
    ),
    (
        "a required port is the reason before an optional one",
        [OPTIONAL, SECOND],
        [SKIP_A, SKIP_B],
        Skipped("x", SKIP_A, (), ("x", "y")),
    ),
    (
        "a dead required port beside a dead optional and a live one",
        [OPTIONAL, SECOND, feed("z", 2)],
        [SKIP_A, SKIP_B, "u"],
        Skipped("y", SKIP_B, ("z",), ("x", "y")),
    ),
    ("an error poisons it", [ONE], [ERROR], Poisoned(ERROR)),
    ("an error on an optional port poisons it too", [OPTIONAL, SECOND], [ERROR, "w"], Poisoned(ERROR)),
    ("an error counts more than a skip", [ONE, SECOND], [SKIP_A, ERROR], Poisoned(ERROR)),
    (
        "the first error in order of the ports is the cause",
        [ONE, SECOND],
        [OTHER_ERROR, ERROR],
        Poisoned(OTHER_ERROR),
    ),
    ("an error on one of several edges is an error of the port", [PAIR], ["v", ERROR], Poisoned(ERROR)),
    ("an error beside a skip is one too", [PAIR], [SKIP_A, ERROR], Poisoned(ERROR)),
    ("an error on a many-port poisons it", [MANY], ["v", ERROR], Poisoned(ERROR)),
    ("one live edge of two is taken", [PAIR], [SKIP_A, "w"], Fires()),
    ("no live edge of two skips it", [PAIR], [SKIP_A, SKIP_B], Skipped("x", SKIP_A, (), ("x",))),
    (
        "two live edges are a conflict",
        [PAIR],
        ["v", "w"],
        Conflict("x", ("source0.out", "source1.out")),
    ),
    (
        "a conflict counts more than a skip on another port",
        [feed("y", 2), PAIR],
        ["v", "w", SKIP_A],
        Conflict("x", ("source0.out", "source1.out")),
    ),
    ("an error counts more than a conflict", [PAIR, feed("y", 2)], ["v", "w", ERROR], Poisoned(ERROR)),
    (
        "the first conflict is told",
        [PAIR, feed("y", 0, 1)],
        ["v", "w"],
        Conflict("x", ("source0.out", "source1.out")),
    ),
    ("a many-port takes all that is live", [MANY], ["v", "w"], Fires()),
    ("a many-port takes what is live", [MANY], [SKIP_A, "w"], Fires()),
    (
        "a required many-port with nothing live skips it",
        [MANY],
        [SKIP_A, SKIP_B],
        Skipped("xs", SKIP_A, (), ("xs",)),
    ),
    (
        "an optional many-port with nothing live takes its default",
        [OPTIONAL_MANY, feed("y", 2)],
        [SKIP_A, SKIP_B, "u"],
        Fires(),
    ),
    ("a many-port without edges is no obstacle", [feed("xs", many=True), feed("y", 0)], ["v"], Fires()),
    ("a port of the type Failure takes an error as its value", [TAKES], [ERROR], Fires()),
    ("it takes no skip, which is no news", [TAKES], [SKIP_A], Skipped("x", SKIP_A, (), ())),
    ("it takes the one error", [TAKES_PAIR], [SKIP_A, ERROR], Fires()),
    (
        "two errors on it are a conflict",
        [TAKES_PAIR],
        [ERROR, OTHER_ERROR],
        Conflict("x", ("source0.out", "source1.out")),
    ),
    (
        "an error it takes does not save another port",
        [TAKES, SECOND],
        [ERROR, OTHER_ERROR],
        Poisoned(OTHER_ERROR),
    ),
]


def test_the_firing_rule() -> None:
    assert {name: decide(feeds, values) for name, feeds, values, _ in CASES} == {
        name: decision for name, _, _, decision in CASES
    }


def test_the_live_values_are_those_that_are_neither_skip_nor_error() -> None:
    values: list[list[Any]] = [["v", "w"], [SKIP_A, None], [ERROR, 0], [SKIP_A, ERROR]]
    assert [live_values([0, 1], one) for one in values] == [[0, 1], [1], [1], []]
