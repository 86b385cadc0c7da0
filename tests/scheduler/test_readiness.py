"""The firing rule as tables (S4, S5), what a node returned (S3.2), and what frames share (S2.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, NotRequired, TypedDict, TypeVar

import pytest

from dataflow import SKIP, Config, Failure, Maybe, NodeFailed, Port, Ports
from dataflow.base.failure import failure_of
from dataflow.compiler.plan import Feed, ScopePlan
from dataflow.core.nodetype import NodeType, derive
from dataflow.core.states import NO_EDGE, Errored, Skip
from dataflow.scheduler.arguments import outputs_of
from dataflow.scheduler.firing_rule import (
    Conflict,
    Decision,
    Fires,
    Poisoned,
    Skipped,
    decide,
    live_values,
)
from dataflow.scheduler.frames import Frame, OpenedFlow, Unhandled
from tests.support.codes import codes

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


MAPPINGS = ["attempts", "opened", "reasons", "metadata", "digests", "memos", "pulling", "taken"]
SETS = ["awaits", "dead_inputs", "undemanded", "lost", "withdrawn"]
SKIPPED = Skip("", "a reason")

#: What writes to a frame, and what it writes to.
WRITERS: dict[str, Callable[[Frame], object]] = {
    "dead_inputs": lambda frame: frame.note_dead_input(0),
    "awaits": lambda frame: frame.note_awaited(0),
    "reasons": lambda frame: frame.note_reason(0, SKIPPED),
    "opened": lambda frame: frame.note_opened(0, OpenedFlow()),
    "failures": lambda frame: frame.note_failures([unhandled()]),
    "metadata": lambda frame: frame.note_metadata(0, {"a": 1}),
    "attempts": lambda frame: frame.attempts_at(0),
    "digests": lambda frame: frame.note_digest(0, b"digest"),
    "memos": lambda frame: frame.note_memo(0, "told"),
}


PLAN = ScopePlan(initial=[None], waits=[0], states=bytearray(1), demanded=1)


def a_frame() -> Frame:
    return Frame(PLAN, 0, "fail_fast")


def unhandled() -> Unhandled:
    error = ValueError("bad")
    return Unhandled(0, failure_of(error, "a", "a", 1), error)


def test_what_a_new_frame_shares_refuses_to_be_written_to() -> None:
    frame = a_frame()
    for name in MAPPINGS:
        mapping: MutableMapping[Any, Any] = getattr(frame, name)
        with pytest.raises(AssertionError, match="written to by none"):
            mapping[0] = None
    assert [name for name in SETS if not isinstance(getattr(frame, name), frozenset)] == []
    assert frame.failures == ()


def test_what_one_frame_notes_is_in_it_and_not_in_another() -> None:
    for name, write in WRITERS.items():
        frame, other = a_frame(), a_frame()
        write(frame)
        assert (len(getattr(frame, name)), len(getattr(other, name))) == (1, 0)


T = TypeVar("T")


class Parts(NamedTuple):
    title: str
    chunks: list[str]


class Shot(NamedTuple):
    png: Maybe[bytes] = SKIP
    error: Maybe[str] = SKIP


@dataclass
class Box(Generic[T]):
    content: T


class Counts(TypedDict):
    words: int
    lines: NotRequired[int]


class Names(Config):
    exits: tuple[str, ...] = ("yes", "no")


async def text() -> str: ...  # type: ignore[empty-body]  # never called
async def maybe_text() -> Maybe[str]: ...  # type: ignore[empty-body]  # as above
async def untyped(): ...  # type: ignore[no-untyped-def]  # as users write
async def parts() -> Parts: ...  # type: ignore[empty-body]  # as above
async def maybe_parts() -> Maybe[Parts]: ...  # type: ignore[empty-body]  # as above
async def maybe_counts() -> Maybe[Counts]: ...  # type: ignore[empty-body]  # as above
async def shot() -> Shot: ...  # type: ignore[empty-body]  # as above
async def box() -> Box[int]: ...  # type: ignore[empty-body]  # as above
async def counts() -> Counts: ...  # type: ignore[empty-body]  # as above
async def named(names: Names) -> dict[str, int]: ...  # type: ignore[empty-body]  # as above


async def pieces() -> AsyncIterator[int]:
    yield 1


NAMED = derive(
    named,
    ports=lambda config: Ports(outputs={name: Port(int, conditional=name == "no") for name in config.exits}),
).configured(Names())

PARTS = Parts("t", ["c"])
WORDS: Counts = {"words": 3}
BOTH: Counts = {"words": 3, "lines": 1}
BOX = Box(3)


RETURNED: list[tuple[Callable[..., Any], object, dict[str, Any]]] = [
    (text, "x", {"out": "x"}), (text, None, {"out": None}), (maybe_text, "x", {"out": "x"}),
    (maybe_text, SKIP, {"out": SKIP}), (untyped, 3, {"out": 3}), (pieces, [1, 2], {"out": [1, 2]}),
    (parts, PARTS, {"out": PARTS, "title": "t", "chunks": ["c"]}),
    (shot, Shot(png=b""), {"out": SKIP, "png": b"", "error": SKIP}),
    (shot, Shot(b"", "late"), {"out": Shot(b"", "late"), "png": b"", "error": "late"}),
    (shot, Shot(), {"out": SKIP, "png": SKIP, "error": SKIP}),
    (box, BOX, {"out": BOX, "content": 3}),
    (counts, BOTH, {"out": BOTH, "words": 3, "lines": 1}),
    (counts, WORDS, {"out": SKIP, "words": 3}),
]  # fmt: skip


def test_each_port_gets_its_value() -> None:
    for function, result, outputs in RETURNED:
        assert dict(outputs_of("n", derive(function), result)) == outputs
    for function, whole in ((parts, PARTS), (box, BOX), (counts, BOTH)):
        assert outputs_of("n", derive(function), whole)["out"] is whole
    for given in ({"yes": 1, "no": 2}, {"yes": 1}, {"yes": 1, "no": SKIP}):
        assert dict(outputs_of("n", NAMED, given)) == given


TWO_EXITS = derive(
    named,
    ports=lambda _: Ports(
        outputs={"a": Port(int, exit="x"), "b": Port(str, exit="x"), "c": Port(int, exit="y"), "d": Port(int)}
    ),
).configured(Names())


def test_a_result_left_out_whole_leaves_every_port_out() -> None:
    for made in map(derive, (maybe_parts, maybe_counts)):
        outputs = outputs_of("n", made, SKIP)
        assert all(outputs.get(name, SKIP) is SKIP for name in made.outputs)


REFUSED: list[tuple[NodeType, object, str]] = [
    (derive(text), SKIP, "DF0807 n.out"),
    (derive(parts), Parts(SKIP, []), "DF0807 n.title"),
    (derive(parts), ("t", ["c"]), "DF0805 n"),
    (derive(parts), None, "DF0805 n"),
    (derive(parts), {"title": "t", "chunks": []}, "DF0805 n"),
    (derive(box), 3, "DF0805 n"),
    (derive(counts), {}, "DF0807 n.words"),
    (derive(counts), [], "DF0805 n"),
    (derive(counts), {"words": 3, "chars": 1}, "DF0806 n.chars"),
    (derive(counts), {"words": 3, "out": 1}, "DF0806 n.out"),
    (NAMED, {"no": 1}, "DF0807 n.yes"),
    (NAMED, {"yes": SKIP}, "DF0807 n.yes"),
    (NAMED, {"yes": 1, "maybe": 2}, "DF0806 n.maybe"),
    (NAMED, "yes", "DF0805 n"),
    (NAMED, None, "DF0805 n"),
    (TWO_EXITS, {"a": 1, "c": 2, "d": 3}, "DF0808 n"),
]


def test_a_result_that_breaks_the_declaration_is_an_error() -> None:
    for node_type, result, problem in REFUSED:
        with pytest.raises(NodeFailed) as caught:
            outputs_of("n", node_type, result)
        assert codes(caught.value) == [problem]
    with pytest.raises(NodeFailed) as caught:
        outputs_of("n", NAMED, {"maybe": 2})
    assert caught.value.diagnostics[0].available == ("yes", "no")
