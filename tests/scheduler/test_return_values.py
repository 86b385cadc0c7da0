"""What a node function returned becomes the values of its output ports (S3.2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, NotRequired, TypedDict, TypeVar

import pytest

from dataflow import SKIP, Config, Maybe, NodeFailed, Port, Ports
from dataflow.core.nodetype import derive
from dataflow.scheduler.arguments import exits_taken, outputs_of

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


@pytest.mark.parametrize(
    ("function", "result", "outputs"),
    [
        (text, "x", {"out": "x"}),
        (text, None, {"out": None}),
        (maybe_text, "x", {"out": "x"}),
        (maybe_text, SKIP, {"out": SKIP}),
        (untyped, 3, {"out": 3}),
        (pieces, [1, 2], {"out": [1, 2]}),
        (parts, PARTS, {"out": PARTS, "title": "t", "chunks": ["c"]}),
        (shot, Shot(png=b""), {"out": SKIP, "png": b"", "error": SKIP}),
        (shot, Shot(b"", "late"), {"out": Shot(b"", "late"), "png": b"", "error": "late"}),
        (shot, Shot(), {"out": SKIP, "png": SKIP, "error": SKIP}),
        (box, BOX, {"out": BOX, "content": 3}),
        (counts, BOTH, {"out": BOTH, "words": 3, "lines": 1}),
        (counts, WORDS, {"out": SKIP, "words": 3}),
    ],
)
def test_each_port_gets_its_value(
    function: Callable[..., Any], result: object, outputs: dict[str, Any]
) -> None:
    assert dict(outputs_of("n", derive(function), result)) == outputs


@pytest.mark.parametrize(("function", "result"), [(parts, PARTS), (box, BOX), (counts, BOTH)])
def test_the_whole_is_the_result_itself(function: Callable[..., Any], result: object) -> None:
    assert outputs_of("n", derive(function), result)["out"] is result


@pytest.mark.parametrize(
    ("result", "outputs"),
    [
        ({"yes": 1, "no": 2}, {"yes": 1, "no": 2}),
        ({"yes": 1}, {"yes": 1}),
        ({"yes": 1, "no": SKIP}, {"yes": 1, "no": SKIP}),
    ],
)
def test_configured_ports_take_a_dict(result: dict[str, Any], outputs: dict[str, Any]) -> None:
    assert dict(outputs_of("n", NAMED, result)) == outputs


TWO_EXITS = derive(
    named,
    ports=lambda _: Ports(
        outputs={"a": Port(int, exit="x"), "b": Port(str, exit="x"), "c": Port(int, exit="y"), "d": Port(int)}
    ),
).configured(Names())


def test_ports_of_exits_are_conditional() -> None:
    told = {name: (port.exit, port.conditional) for name, port in TWO_EXITS.outputs.items()}
    assert told == {"a": ("x", True), "b": ("x", True), "c": ("y", True), "d": (None, False)}


@pytest.mark.parametrize(
    ("result", "taken"),
    [({}, []), ({"a": 1}, ["x"]), ({"a": 1, "b": "t", "c": SKIP}, ["x"]), ({"c": 1}, ["y"])],
)
def test_one_exit_is_taken_or_none(result: dict[str, Any], taken: list[str]) -> None:
    assert exits_taken(TWO_EXITS, outputs_of("n", TWO_EXITS, {"d": 1, **result})) == taken


def test_values_on_two_exits_are_an_error() -> None:
    with pytest.raises(NodeFailed) as caught:
        outputs_of("n", TWO_EXITS, {"a": 1, "c": 2, "d": 3})
    assert str(caught.value) == "node 'n' gave values on the exits 'x' and 'y'; expected those of one"


@pytest.mark.parametrize("function", [maybe_parts, maybe_counts])
def test_a_result_left_out_whole_leaves_every_port_out(function: Callable[..., Any]) -> None:
    made = derive(function)
    outputs = outputs_of("n", made, SKIP)
    assert all(outputs.get(name, SKIP) is SKIP for name in made.outputs)


LEFT_OUT = (
    "node 'n' left out its output port {!r}, which it always has to give; "
    "declare it as Maybe[...] if it may be left out"
)
CONFIGURED = LEFT_OUT.replace("Maybe[...]", "Port(..., conditional=True)")


@pytest.mark.parametrize(
    ("function", "result", "text"),
    [
        (text, SKIP, LEFT_OUT.format("out", "out")),
        (parts, Parts(SKIP, []), LEFT_OUT.format("title", "out, title, chunks")),
        (parts, ("t", ["c"]), "node 'n' returned tuple; expected Parts"),
        (parts, None, "node 'n' returned NoneType; expected Parts"),
        (parts, {"title": "t", "chunks": []}, "node 'n' returned dict; expected Parts"),
        (box, 3, "node 'n' returned int; expected Box"),
        (counts, {}, LEFT_OUT.format("words", "out, words, lines")),
        (counts, [], "node 'n' returned list; expected a dict of its ports, choices: words, lines"),
        (
            counts,
            {"words": 3, "chars": 1},
            "node 'n' returned the undeclared output port 'chars'; choices: words, lines",
        ),
        (
            counts,
            {"words": 3, "out": 1},
            "node 'n' returned the undeclared output port 'out'; choices: words, lines",
        ),
    ],
)
def test_a_result_that_breaks_the_declaration_is_an_error(
    function: Callable[..., Any], result: object, text: str
) -> None:
    with pytest.raises(NodeFailed) as caught:
        outputs_of("n", derive(function), result)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"no": 1}, CONFIGURED.format("yes", "yes, no")),
        ({"yes": SKIP}, CONFIGURED.format("yes", "yes, no")),
        ({"yes": 1, "maybe": 2}, "node 'n' returned the undeclared output port 'maybe'; choices: yes, no"),
        ("yes", "node 'n' returned str; expected a dict of its ports, choices: yes, no"),
        (None, "node 'n' returned NoneType; expected a dict of its ports, choices: yes, no"),
    ],
)
def test_a_dict_that_breaks_the_configured_ports_is_an_error(result: object, text: str) -> None:
    with pytest.raises(NodeFailed) as caught:
        outputs_of("n", NAMED, result)
    assert str(caught.value) == text
