"""The ports that the result of a function gives (S1.3)."""

from __future__ import annotations

import collections.abc as abc
import typing
from collections import namedtuple
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Coroutine
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Required, TypedDict

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


Bare = namedtuple("Bare", ["a", "b"])  # noqa: PYI024 - as users do


async def plain(a: int, b: str = "x", c=None): ...  # type: ignore[no-untyped-def]  # as users write


def out(type: object, conditional: bool = False) -> OutPort:
    return OutPort("out", type, PortKind.DATA, conditional)


def named(name: str, type: object, conditional: bool = False) -> OutPort:
    return OutPort(name, type, PortKind.DATA, conditional)


def test_the_result_of_a_coroutine_function_gives_ports() -> None:
    single: list[object] = [
        *(str, Any, type(None), Model, Literal["a"], Parts | None, dict[str, int], tuple[int, str]),
        *(AsyncIterator[int], Awaitable[int]),
    ]
    parts = (out(Parts), named("title", str), named("chunks", list[str]))
    skipped = (out(Parts, True), named("title", str, True), named("chunks", list[str], True))
    keys = (named("words", int), named("lines", int, True))
    cases: list[tuple[object, Shape, tuple[OutPort, ...]]] = [
        *((annotation, Shape.SINGLE, (out(annotation),)) for annotation in single),
        (Maybe[str], Shape.SINGLE, (out(str, conditional=True),)),
        (ExecutionContext, Shape.SINGLE, (OutPort("out", ExecutionContext, PortKind.CONTEXT),)),
        (Parts, Shape.FIELDS, parts),
        (Annotated[Parts, "x"], Shape.FIELDS, parts),
        (Maybe[Parts], Shape.FIELDS, skipped),
        (Partial, Shape.FIELDS, (out(Partial, True), named("title", str), named("note", str, True))),
        (Bare, Shape.FIELDS, (out(Bare), named("a", Any), named("b", Any))),
        (
            Box,
            Shape.FIELDS,
            (out(Box, True), named("content", int), named("note", str, True), named("made", bool)),
        ),
        (Total, Shape.KEYS, (out(Total, True), *keys)),
        (Loose, Shape.KEYS, (out(Loose, True), *keys)),
    ]
    for annotation, shape, result in cases:
        returns, problems = read_result(plain, annotation)
        assert (returns.shape, returns.ports, problems) == (shape, result, [])


def test_the_result_of_a_plain_function_is_awaited_or_iterated() -> None:
    def function() -> None: ...

    cases: list[tuple[object, Shape, object]] = [
        (Awaitable[int], Shape.SINGLE, int),
        (Coroutine[Any, Any, int], Shape.SINGLE, int),
        (typing.Awaitable, Shape.SINGLE, Any),
        (abc.Awaitable, Shape.SINGLE, Any),
        (Awaitable[Parts], Shape.FIELDS, Parts),
        (AsyncIterator[int], Shape.PIECES, list[int]),
        (AsyncGenerator[int, None], Shape.PIECES, list[int]),
        (AsyncIterable[Parts], Shape.PIECES, list[Parts]),
        (abc.AsyncIterator, Shape.PIECES, list),
    ]
    for annotation, shape, result in cases:
        returns, problems = read_result(function, annotation)
        assert (returns.shape, returns.type, problems) == (shape, result, [])
        assert returns.ports[0] == out(result)
