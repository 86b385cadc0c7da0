"""Which parameters of a function are ports, their kinds, and what its result gives (S1.2, S1.3)."""

from __future__ import annotations

import collections.abc as abc
import copy
import functools
import pickle
import typing
from collections import namedtuple
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired, Required, TypedDict

import pytest
from pydantic import BaseModel

from dataflow import SKIP, Config, Diagnostic, ExecutionContext, Maybe, Signal, Tools
from dataflow.core.ports import (
    MISSING,
    InPort,
    OutPort,
    PortKind,
    in_port,
    out_port,
)
from dataflow.core.signature import (
    Parameters,
    Shape,
    hints_of,
    is_node_function,
    read_parameters,
    read_result,
)
from tests.support.codes import codes

if typing.TYPE_CHECKING:
    from nowhere import Nothing  # type: ignore[import-not-found]  # as users do, and then wonder


class Style(Config):
    words: int = 10


class Other(Config):
    lines: int = 1


class Model(BaseModel):
    a: int


class Parts(NamedTuple):
    title: str
    chunks: list[str]


def ports(function: Callable[..., Any], configured: bool = False) -> tuple[Parameters, list[Diagnostic]]:
    hints, problems = hints_of(function)
    parameters, more = read_parameters(function, hints, configured)
    return parameters, [*problems, *more]


def data(name: str, type: object, default: object = MISSING, many: bool = False) -> InPort:
    return InPort(name, type, PortKind.DATA, default, many)


async def plain(a: int, b: str = "x", c=None): ...  # type: ignore[no-untyped-def]  # as users write
async def by_keyword(*, a: int, b: int = 3) -> None: ...
async def several(first: str, *rest: int, last: bool = False) -> None: ...
async def kinds(context: ExecutionContext, tools: Tools, go: Signal) -> None: ...
async def styled(text: str, style: Style) -> None: ...
async def styled_by_default(style: Style = Style(words=3), *, text: str) -> None: ...  # noqa: B008 - frozen
async def twice(a: Style, b: Other) -> None: ...
async def open_ended(style: Style, **values: object) -> None: ...
async def unresolved(a: Nothing, b: int) -> Parts: ...  # type: ignore[empty-body]


@functools.wraps(by_keyword)
async def logged(*args: Any, **kwargs: Any) -> None: ...
async def fetch(url: str, wait: float = 1.0, retries: int = 2) -> None: ...


class Caller:
    async def __call__(self, a: int) -> str: ...  # type: ignore[empty-body]

    async def method(self, b: int) -> str: ...  # type: ignore[empty-body]


def taking(positional: str, keywords: str, *ports: InPort, **more: Any) -> Parameters:
    return Parameters(ports, tuple(positional.split()), keywords=tuple(keywords.split()), **more)


MORE = (data("wait", float, 1.0), data("retries", int, 2))
PARAMETERS: Final[list[tuple[Callable[..., Any], Parameters]]] = [
    (plain, taking("a b c", "", data("a", int), data("b", str, "x"), data("c", Any, None))),
    (by_keyword, taking("", "a b", data("a", int), data("b", int, 3))),
    (
        several,
        taking(
            "first", "last", data("first", str), data("rest", int, (), many=True), data("last", bool, False),
            star="rest",
        ),
    ),
    (
        kinds,
        taking(
            "context tools go", "", InPort("context", ExecutionContext, PortKind.CONTEXT),
            InPort("tools", Tools, PortKind.TOOLS, lazy=True), InPort("go", Signal, PortKind.SIGNAL),
        ),
    ),
    (styled, taking("text style", "", data("text", str), config=Style, config_name="style")),
    (
        styled_by_default,
        taking(
            "style", "text", data("text", str), config=Style, config_name="style",
            config_default=Style(words=3),
        ),
    ),
    (Caller(), taking("a", "", data("a", int))),
    (Caller().method, taking("b", "", data("b", int))),
    (functools.partial(fetch, "http://x"), taking("wait retries", "", *MORE)),
    (
        functools.partial(fetch, wait=2.0),
        taking("url", "wait retries", data("url", str), data("wait", float, 2.0), MORE[1]),
    ),
    (logged, taking("", "a b", data("a", int), data("b", int, 3))),
]  # fmt: skip


def test_parameters_are_ports() -> None:
    for function, parameters in PARAMETERS:
        assert ports(function) == (parameters, [])


def test_parameters_that_cannot_be_ports_are_problems() -> None:
    class Local: ...

    async def local(a: Local) -> None: ...

    async def raising(a: int) -> None: ...

    raising.__annotations__["a"] = "1 / 0"
    cases: dict[Callable[..., Any], str] = {
        open_ended: "DF0406", twice: "DF0407", unresolved: "DF0404 .a", raising: "DF0404 .a",
        local: "DF0404 .a",
    }  # fmt: skip
    for function, problem in cases.items():
        assert codes(ports(function)[1]) == [problem]
    hints, _ = hints_of(unresolved)
    assert hints == {"a": Any, "b": int, "return": Parts}


async def pieces() -> AsyncIterator[int]:
    yield 1


def returns_awaitable(a: int) -> Awaitable[int]: ...  # type: ignore[empty-body]
def returns_iterator(a: int) -> AsyncIterator[int]: ...  # type: ignore[empty-body]
def blocking(a: int) -> int: ...  # type: ignore[empty-body]


def test_a_node_function_is_awaited_or_iterated_asynchronously() -> None:
    functions: list[object] = [
        *(plain, pieces, returns_awaitable, returns_iterator, Caller(), Caller().method),
        *(functools.partial(plain, 1), functools.partial(returns_awaitable, 1)),
    ]
    assert all(map(is_node_function, functions))
    others: list[object] = [blocking, functools.partial(blocking, 1), len, Parts, 3, None]
    assert not any(map(is_node_function, others))


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
        (abc.Awaitable, Shape.SINGLE, Any),
        (Awaitable[Parts], Shape.FIELDS, Parts),
        (AsyncIterator[int], Shape.PIECES, list[int]),
        (AsyncIterable[Parts], Shape.PIECES, list[Parts]),
        (abc.AsyncIterator, Shape.PIECES, list),
    ]
    for annotation, shape, result in cases:
        returns, problems = read_result(function, annotation)
        assert (returns.shape, returns.type, problems) == (shape, result, [])
        assert returns.ports[0] == out(result)


def test_a_marker_stays_itself_and_is_neither_true_nor_false() -> None:
    for marker, name in ((SKIP, "SKIP"), (MISSING, "MISSING")):
        assert repr(marker) == name
        assert copy.copy(marker) is marker
        assert copy.deepcopy([marker])[0] is marker
        assert pickle.loads(pickle.dumps(marker)) is marker
        with pytest.raises(TypeError, match=name):
            bool(marker)


def test_ports_of_plain_types_that_are_alike_are_shared() -> None:
    assert in_port("told", str, "") is in_port("told", str, "")
    assert out_port("told", str, conditional=True) is out_port("told", str, conditional=True)
    for default in (MISSING, "", "a", 1, True, None):
        assert in_port("told", str, default).default is default
    for one, other in ((int, bool), (float, int), (str, Any)):
        assert (in_port("told", one).type, in_port("told", other).type) == (one, other)
