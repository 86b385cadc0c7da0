# mypy: disable-error-code="arg-type"
"""Types and kinds are checked before a flow runs, other values when they enter (S1.4, S1.7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from dataflow import (
    Config,
    ExecutionContext,
    Failure,
    Flow,
    Ports,
    Signal,
    collect,
    each,
    fallback,
    gather,
    merge,
    node,
)
from tests.compiler.typed_nodes import anything, blank, logs, many, parts, text, whole
from tests.support.codes import found_of


class Style(Config):
    words: int = 1


async def real(x: float) -> float:
    return x


async def either(xs: list[str | Failure]) -> int:
    return 0


async def rows(xs: list[list[str | Failure]]) -> int:
    return 0


async def items(xs: list[str]) -> int:
    return len(xs)


async def objects(x: object) -> object:
    return x


async def untyped(x):  # type: ignore[no-untyped-def]  # as users write
    return x


async def path(p: Path) -> str:
    return str(p)


async def word(w: Literal["a", "b"]) -> str:
    return w


async def talk(context: ExecutionContext) -> ExecutionContext:
    return context


async def waits(go: Signal) -> int:
    return 1


CONTEXT: Final = ExecutionContext("main")
Wire = Callable[[Flow], object]


def xs(f: Flow) -> Any:
    return each(f.input("xs", list[str]))


def collected(f: Flow, on_error: Any = "collect", function: Any = text) -> Any:
    return collect(f.add(function, each(f.input("xs", list[str]), on_error=on_error)).out)


FITTING: list[Wire] = [
    lambda f: f.add(whole, n=f.add(whole, n=1).out),
    lambda f: f.add(real, x=f.add(whole, n=1).out),
    lambda f: f.add(text, t=f.add(parts, n=1).out.title),
    lambda f: f.add(whole, n=f.add(anything).out),
    lambda f: f.add(whole, n=f.add(untyped, x=1).out),
    lambda f: f.add(anything, x=f.add(text, t="").out),
    lambda f: f.add(text, t=xs(f)),
    lambda f: f.add(text, t=each(["a", "b"])),
    lambda f: f.add(items, xs=collect(f.add(text, t=xs(f)).out)),
    lambda f: f.add(either, xs=collected(f)),
    lambda f: f.add(items, xs=collected(f, "skip")),
    lambda f: f.add(rows, xs=collect(collect(f.add(text, t=each(each([["a"]]), on_error="collect")).out))),
    lambda f: f.add(text, t=merge(f.add(anything).out, 3)),
    lambda f: f.add(logs, failure=f.add(whole, n=1).error),
    lambda f: f.add(waits, go=f.add(text, t="").out),
    lambda f: f.add(talk, context=f.add(talk, context=CONTEXT).out),
    lambda f: f.add(text, t="x"),
    lambda f: f.add(real, x=3),
]
#: Code and port, the type that the port expects and the type of what is wired, and how.
REFUSED: list[tuple[str, str, str, Wire]] = [
    ("DF0308 whole.n", "int", "float", lambda f: f.add(whole, n=f.add(real, x=1.0).out)),
    ("DF0308 whole.n", "int", "str", lambda f: f.add(whole, n=f.add(parts, n=1).out.title)),
    ("DF0308 text.t", "str", "Parts", lambda f: f.add(text, t=f.add(parts, n=1).out)),
    ("DF0308 whole.n", "int", "object", lambda f: f.add(whole, n=f.add(objects, x=1).out)),
    ("DF0308 whole.n", "int", "None", lambda f: f.add(whole, n=f.add(blank).out)),
    ("DF0308 text.t", "str", "list[str]", lambda f: f.add(text, t=f.input("xs", list[str]))),
    ("DF0308 items.xs", "list[str]", "str", lambda f: f.add(items, xs=f.add(text, t=xs(f)).out)),
    ("DF0308 whole.n", "int", "str", lambda f: f.add(whole, n=xs(f))),
    ("DF0308 text.t", "a list", "int", lambda f: f.add(text, t=each(f.add(whole, n=1).out))),
    ("DF0308 whole.n", "a list", "int", lambda f: f.add(whole, n=each(3))),
    ("DF0308 items.xs", "list[str]", "list[str | Failure]", lambda f: f.add(items, xs=collected(f))),
    (
        "DF0308 items.xs", "list[str]", "list[Any | Failure]",
        lambda f: f.add(items, xs=collected(f, function=anything)),
    ),
    ("DF0308 text_2.t", "str", "str | Failure", lambda f: f.add(text, t=each(collected(f)))),
    ("DF0308 items.xs", "list[str]", "list[int]", lambda f: f.add(items, xs=collected(f, "fail", whole_of))),
    (
        "DF0308 text_2.t", "str", "int | Literal['x'] | str",
        lambda f: f.add(text, t=merge(f.add(whole, n=1).out, "x", f.add(text, t="").out)),
    ),
    (
        "DF0308 items.xs", "list[str]", "list[Literal[1] | Literal[2]]",
        lambda f: f.add(items, xs=gather(1, 2)),
    ),
    ("DF0308 text_2.t", "str", "str | None", lambda f: f.add(text, t=fallback(f.add(text, t="").out, None))),
    ("DF0308 text.t", "str", "int", lambda f: f.add(text, t=f.when(f.add(whole, n=1).out, bool).yes)),
    ("DF0308 text.t", "str", "int", lambda f: f.add(text, t=f.switch(f.input("n", int), str, ["1"])["1"])),
    ("DF0308 text.t", "str", "Failure", lambda f: f.add(text, t=f.add(whole, n=1).error)),
    (
        "DF0309 whole_2.n", "a data port", "a signal port",
        lambda f: f.add(whole, n=f.add(whole, n=1).done),
    ),
    (
        "DF0309 talk.context", "a context port", "a data port",
        lambda f: f.add(talk, context=f.add(text, t="").out),
    ),
    (
        "DF0309 text.t", "a data port", "a context port",
        lambda f: f.add(text, t=f.add(talk, context=CONTEXT).out),
    ),
    ("DF0601 text.t", "str", "int 3", lambda f: f.add(text, t=3)),
    ("DF0601 whole.n", "int", "str '3'", lambda f: f.add(whole, n="3")),
    ("DF0601 path.p", "Path", "str 'x'", lambda f: f.add(path, p="x")),
    ("DF0601 word.w", "Literal['a', 'b']", "str 'c'", lambda f: f.add(word, w="c")),
    ("DF0601 waits.go", "Signal", "bool True", lambda f: f.add(waits, go=True)),
    ("DF0601 many.ns", "int", "str 'x'", lambda f: f.add(many, 1, "x", f.add(whole, n=1).out)),
]  # fmt: skip


async def whole_of(x: str) -> int:
    return len(x)


def test_what_is_no_type_agrees_with_everything() -> None:
    flow = Flow()
    made = node(ports=lambda _style: Ports(outputs={"a": (int, str)}))(styled)
    step: Any = flow.add(made, style=Style())
    flow.add(text, t=merge(step.out.a, step.out.a, flow.add(text, t="").out))
    assert flow.check() == []


async def styled(style: Style) -> dict[str, int]:
    return {"a": style.words}


def test_edges_and_constants_are_checked() -> None:
    for wire in FITTING:
        flow = Flow()
        wire(flow)
        assert flow.check() == []
    for *expected, wire in REFUSED:
        flow = Flow()
        wire(flow)
        assert found_of(flow.check()) == [tuple(expected)]
