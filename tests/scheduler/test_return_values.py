"""What a node function returned becomes the values of its output ports (S3.2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, NotRequired, TypedDict, TypeVar

import pytest

from dataflow import SKIP, Config, Maybe, NodeFailed, Port, Ports
from dataflow.core.nodetype import NodeType, derive
from dataflow.scheduler.arguments import outputs_of
from tests.support.codes import codes

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
]


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
