"""The ports that the result of a function gives (S1.3)."""

from __future__ import annotations

import collections.abc as abc
import typing
from collections import namedtuple
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Coroutine
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Required, TypedDict

import pytest
from pydantic import BaseModel

from dataflow import SKIP, ExecutionContext, Maybe
from dataflow.core.ports import OutPort, PortKind
from dataflow.core.signature import Shape, read_result


class Model(BaseModel):
    a: int


class Parts(NamedTuple):
    title: str
    chunks: list[str]


class Partial(NamedTuple):
    title: str
    note: Maybe[str] = SKIP


@dataclass
class Box:
    content: int
    note: Maybe[str] = SKIP
    made: bool = field(default=False, init=False)
    limit: typing.ClassVar[int] = 3


class Total(TypedDict):
    words: int
    lines: NotRequired[int]


class Loose(TypedDict, total=False):
    words: Required[int]
    lines: int


class WithOut(NamedTuple):
    out: int
    other: int


Bare = namedtuple("Bare", ["a", "b"])  # noqa: PYI024 - as users do


async def plain(a: int, b: str = "x", c=None): ...  # type: ignore[no-untyped-def]  # as users write


def out(type: object, conditional: bool = False) -> OutPort:
    return OutPort("out", type, PortKind.DATA, conditional)


def named(name: str, type: object, conditional: bool = False) -> OutPort:
    return OutPort(name, type, PortKind.DATA, conditional)


@pytest.mark.parametrize(
    ("annotation", "shape", "result"),
    [
        (str, Shape.SINGLE, (out(str),)),
        (Any, Shape.SINGLE, (out(Any),)),
        (type(None), Shape.SINGLE, (out(type(None)),)),
        (Maybe[str], Shape.SINGLE, (out(str, conditional=True),)),
        (Model, Shape.SINGLE, (out(Model),)),
        (Literal["a"], Shape.SINGLE, (out(Literal["a"]),)),
        (Parts | None, Shape.SINGLE, (out(Parts | None),)),
        (dict[str, int], Shape.SINGLE, (out(dict[str, int]),)),
        (tuple[int, str], Shape.SINGLE, (out(tuple[int, str]),)),
        (AsyncIterator[int], Shape.SINGLE, (out(AsyncIterator[int]),)),
        (Awaitable[int], Shape.SINGLE, (out(Awaitable[int]),)),
        (ExecutionContext, Shape.SINGLE, (OutPort("out", ExecutionContext, PortKind.CONTEXT),)),
        (Parts, Shape.FIELDS, (out(Parts), named("title", str), named("chunks", list[str]))),
        (Annotated[Parts, "x"], Shape.FIELDS, (out(Parts), named("title", str), named("chunks", list[str]))),
        (
            Maybe[Parts],
            Shape.FIELDS,
            (out(Parts, True), named("title", str, True), named("chunks", list[str], True)),
        ),
        (Partial, Shape.FIELDS, (out(Partial, True), named("title", str), named("note", str, True))),
        (Bare, Shape.FIELDS, (out(Bare), named("a", Any), named("b", Any))),
        (
            Box,
            Shape.FIELDS,
            (out(Box, True), named("content", int), named("note", str, True), named("made", bool)),
        ),
        (Total, Shape.KEYS, (out(Total, True), named("words", int), named("lines", int, True))),
        (Loose, Shape.KEYS, (out(Loose, True), named("words", int), named("lines", int, True))),
    ],
)
def test_the_result_of_a_coroutine_function_gives_ports(
    annotation: object, shape: Shape, result: tuple[OutPort, ...]
) -> None:
    async def function() -> None: ...

    returns, problems = read_result(function, annotation)
    assert problems == []
    assert (returns.shape, returns.ports) == (shape, result)


@pytest.mark.parametrize(
    ("annotation", "shape", "type"),
    [
        (Awaitable[int], Shape.SINGLE, int),
        (Coroutine[Any, Any, int], Shape.SINGLE, int),
        (typing.Awaitable, Shape.SINGLE, Any),
        (abc.Awaitable, Shape.SINGLE, Any),
        (Awaitable[Parts], Shape.FIELDS, Parts),
        (AsyncIterator[int], Shape.PIECES, list[int]),
        (AsyncGenerator[int, None], Shape.PIECES, list[int]),
        (AsyncIterable[Parts], Shape.PIECES, list[Parts]),
        (abc.AsyncIterator, Shape.PIECES, list),
    ],
)
def test_what_a_plain_function_returns_is_awaited_or_read(
    annotation: object, shape: Shape, type: object
) -> None:
    def function() -> None: ...

    returns, problems = read_result(function, annotation)
    assert (returns.shape, returns.type, problems) == (shape, type, [])
    assert returns.ports[0] == out(type)


@pytest.mark.parametrize(
    ("annotation", "type"),
    [(AsyncIterator[str], list[str]), (AsyncGenerator[int, None], list[int]), (Any, list)],
)
def test_an_async_generator_gives_the_list_of_its_yields(annotation: object, type: object) -> None:
    async def function() -> AsyncIterator[int]:
        yield 1

    returns, _ = read_result(function, annotation)
    assert (returns.shape, returns.ports) == (Shape.PIECES, (out(type),))


def test_no_field_may_be_called_out() -> None:
    returns, problems = read_result(plain, WithOut)
    assert problems == ["the result's field 'out' has the name of the whole; rename it"]
    assert [port.name for port in returns.ports] == ["out", "other"]
