"""Which parameters of a function are ports, and what its result gives (S1.2, S1.3)."""

from __future__ import annotations

import functools
import sys
import typing
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel

from dataflow import Config, ExecutionContext, Maybe, Signal, Tools
from dataflow.core.ports import MISSING, InPort, PortKind
from dataflow.core.signature import Parameters, hints_of, is_node_function, qualified_id, read_parameters

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


def ports(function: Callable[..., Any], configured: bool = False) -> tuple[Parameters, list[str]]:
    hints, problems = hints_of(function)
    parameters, more = read_parameters(function, hints, configured)
    return parameters, [*problems, *more]


def data(name: str, type: object, default: object = MISSING, many: bool = False) -> InPort:
    return InPort(name, type, PortKind.DATA, default, many)


async def plain(a: int, b: str = "x", c=None): ...  # type: ignore[no-untyped-def]  # as users write


async def by_position(a: int, /, b: int) -> None: ...


async def by_keyword(*, a: int, b: int = 3) -> None: ...


async def several(first: str, *rest: int, last: bool = False) -> None: ...


async def annotated(a: Annotated[int, "metres"], b: Maybe[str] = "x") -> None: ...


async def kinds(context: ExecutionContext, tools: Tools, go: Signal) -> None: ...


async def styled(text: str, style: Style) -> None: ...


async def styled_by_default(style: Style = Style(words=3), *, text: str) -> None: ...  # noqa: B008 - frozen


async def modelled(model: Model) -> None: ...


async def twice(a: Style, b: Other) -> None: ...


async def open_ended(style: Style, **values: object) -> None: ...


async def unresolved(a: Nothing, b: int) -> Parts: ...  # type: ignore[empty-body]


@functools.wraps(by_keyword)
async def logged(*args: Any, **kwargs: Any) -> None: ...


async def fetch(url: str, wait: float = 1.0, retries: int = 2) -> None: ...


class Caller:
    async def __call__(self, a: int) -> str: ...  # type: ignore[empty-body]

    async def method(self, b: int) -> str: ...  # type: ignore[empty-body]

    @staticmethod
    async def static(c: int) -> str: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (
            plain,
            Parameters(
                ports=(data("a", int), data("b", str, "x"), data("c", Any, None)), positional=("a", "b", "c")
            ),
        ),
        (by_position, Parameters(ports=(data("a", int), data("b", int)), positional=("a", "b"))),
        (by_keyword, Parameters(ports=(data("a", int), data("b", int, 3)), keywords=("a", "b"))),
        (
            several,
            Parameters(
                ports=(data("first", str), data("rest", int, (), many=True), data("last", bool, False)),
                positional=("first",),
                star="rest",
                keywords=("last",),
            ),
        ),
        (annotated, Parameters(ports=(data("a", int), data("b", str, "x")), positional=("a", "b"))),
        (
            kinds,
            Parameters(
                ports=(
                    InPort("context", ExecutionContext, PortKind.CONTEXT),
                    InPort("tools", Tools, PortKind.TOOLS, lazy=True),
                    InPort("go", Signal, PortKind.SIGNAL),
                ),
                positional=("context", "tools", "go"),
            ),
        ),
        (
            styled,
            Parameters(
                ports=(data("text", str),), positional=("text", "style"), config=Style, config_name="style"
            ),
        ),
        (
            styled_by_default,
            Parameters(
                ports=(data("text", str),),
                positional=("style",),
                keywords=("text",),
                config=Style,
                config_name="style",
                config_default=Style(words=3),
            ),
        ),
        (modelled, Parameters(ports=(data("model", Model),), positional=("model",))),
        (Caller(), Parameters(ports=(data("a", int),), positional=("a",))),
        (Caller().method, Parameters(ports=(data("b", int),), positional=("b",))),
        (Caller.static, Parameters(ports=(data("c", int),), positional=("c",))),
        (
            functools.partial(fetch, "http://x"),
            Parameters(
                ports=(data("wait", float, 1.0), data("retries", int, 2)),
                positional=("wait", "retries"),
            ),
        ),
        (
            functools.partial(fetch, wait=2.0),
            Parameters(
                ports=(data("url", str), data("wait", float, 2.0), data("retries", int, 2)),
                positional=("url",),
                keywords=("wait", "retries"),
            ),
        ),
        (logged, Parameters(ports=(data("a", int), data("b", int, 3)), keywords=("a", "b"))),
    ],
)
def test_parameters_are_ports(function: Callable[..., Any], parameters: Parameters) -> None:
    assert ports(function) == (parameters, [])


def test_open_parameters_are_filled_by_the_ports_of_the_config() -> None:
    parameters, problems = ports(open_ended, configured=True)
    assert problems == []
    assert parameters == Parameters(positional=("style",), open=True, config=Style, config_name="style")


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (open_ended, "**values needs ports=, a function of the config that names its ports"),
        (twice, "'a' and 'b' are both config; a node has one config"),
        (
            unresolved,
            (
                "annotation 'Nothing' of 'a' cannot be resolved (name 'Nothing' is not defined); "
                "it must be importable from the function's module"
            ),
        ),
    ],
)
def test_what_makes_no_ports_is_a_problem(function: Callable[..., Any], problem: str) -> None:
    assert ports(function)[1] == [problem]


def test_one_unresolved_annotation_spoils_no_other() -> None:
    hints, problems = hints_of(unresolved)
    assert hints == {"a": Any, "b": int, "return": Parts}
    assert len(problems) == 1


def test_an_annotation_that_raises_is_a_problem() -> None:
    async def function(a: int) -> None: ...

    function.__annotations__["a"] = "1 / 0"
    assert hints_of(function)[1] == [
        (
            "annotation '1 / 0' of 'a' cannot be resolved (division by zero); "
            "it must be importable from the function's module"
        )
    ]


def test_a_class_of_the_function_around_cannot_be_named() -> None:
    class Local: ...

    async def function(a: Local) -> None: ...

    assert hints_of(function)[1] == [
        (
            "annotation 'Local' of 'a' cannot be resolved (name 'Local' is not defined); "
            "it must be importable from the function's module"
        )
    ]


async def pieces() -> AsyncIterator[int]:
    yield 1


def returns_awaitable(a: int) -> Awaitable[int]: ...  # type: ignore[empty-body]


def returns_iterator(a: int) -> AsyncIterator[int]: ...  # type: ignore[empty-body]


def blocking(a: int) -> int: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("function", "is_one"),
    [
        (plain, True),
        (pieces, True),
        (returns_awaitable, True),
        (returns_iterator, True),
        (Caller(), True),
        (Caller().method, True),
        (functools.partial(plain, 1), True),
        (functools.partial(returns_awaitable, 1), True),
        (blocking, False),
        (functools.partial(blocking, 1), False),
        (len, False),
        (Parts, False),
        (3, False),
        (None, False),
    ],
)
def test_a_node_function_is_awaited_or_read_asynchronously(function: object, is_one: bool) -> None:
    assert is_node_function(function) is is_one


@pytest.mark.parametrize(
    ("function", "id"),
    [
        (plain, f"{__name__}:plain"),
        (Caller.method, f"{__name__}:Caller.method"),
        (Caller(), f"{__name__}:Caller"),
        (functools.partial(plain, 1), f"{__name__}:plain"),
        (len, "builtins:len"),
    ],
)
def test_a_function_is_named_by_module_and_qualname(function: Callable[..., Any], id: str) -> None:
    assert qualified_id(function) == id


def test_a_function_without_a_module_is_named_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "__module__", None)
    assert qualified_id(blocking) == "unknown:blocking"


@pytest.mark.parametrize(("file", "module"), [("/flows/my_flow.py", "my_flow"), (None, "__main__")])
def test_the_main_module_is_named_after_its_file(
    monkeypatch: pytest.MonkeyPatch, file: str | None, module: str
) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(blocking, "__module__", "__main__")
    if file is None:
        monkeypatch.delattr(main, "__file__", raising=False)
    else:
        monkeypatch.setattr(main, "__file__", file, raising=False)
    assert qualified_id(blocking) == f"{module}:blocking"
