"""Types and kinds are checked before a flow runs, other values when they enter (S1.4, S1.7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from dataflow import (
    Config,
    ExecutionContext,
    Failure,
    Flow,
    Maybe,
    Message,
    Ports,
    Signal,
    collect,
    each,
    fallback,
    gather,
    merge,
    node,
)


class Parts(NamedTuple):
    title: str
    note: Maybe[str]


class Style(Config):
    words: int = 1


async def whole(n: int) -> int:
    return n


async def real(x: float) -> float:
    return x


async def text(t: str) -> str:
    return t


async def either(xs: list[str | Failure]) -> int:
    return 0


async def rows(xs: list[list[str | Failure]]) -> int:
    return 0


async def items(xs: list[str]) -> int:
    return len(xs)


async def many(*ns: int) -> int:
    return sum(ns)


async def anything(x: Any = None) -> Any:
    return x


async def objects(x: object) -> object:
    return x


async def untyped(x):  # type: ignore[no-untyped-def]  # as users write
    return x


async def parts(n: int) -> Parts:
    return Parts(str(n), "")


async def path(p: Path) -> str:
    return str(p)


async def word(w: Literal["a", "b"]) -> str:
    return w


async def talk(context: ExecutionContext) -> ExecutionContext:
    return context.append(Message("user", "hello"))


async def waits(go: Signal) -> int:
    return 1


async def blank() -> None: ...


async def logs(failure: Failure) -> str:
    return failure.message


CONTEXT = ExecutionContext("main")


FAILURES_STAND = "; with on_error='collect' a failed item leaves a Failure in the list"


EDGE_PROBLEMS: list[tuple[str, Callable[[Flow], object], list[str]]] = [
    ("the same type", lambda f: f.add(whole, n=f.add(whole, n=1).out), []),
    ("int into float", lambda f: f.add(real, x=f.add(whole, n=1).out), []),
    (
        "float into int",
        lambda f: f.add(whole, n=f.add(real, x=1.0).out),  # type: ignore[arg-type]
        ["port 'whole.n' expects int, but real.out is float"],
    ),
    ("a field", lambda f: f.add(text, t=f.add(parts, n=1).out.title), []),
    (
        "a field of another type",
        lambda f: f.add(whole, n=f.add(parts, n=1).out.title),  # type: ignore[arg-type]
        ["port 'whole.n' expects int, but parts.title is str"],
    ),
    (
        "the whole of a result with fields",
        lambda f: f.add(text, t=f.add(parts, n=1).out),  # type: ignore[arg-type]
        ["port 'text.t' expects str, but parts.out is Parts"],
    ),
    ("Any into anything", lambda f: f.add(whole, n=f.add(anything).out), []),
    ("no annotation into anything", lambda f: f.add(whole, n=f.add(untyped, x=1).out), []),
    ("anything into Any", lambda f: f.add(anything, x=f.add(text, t="").out), []),
    (
        "object into int",
        lambda f: f.add(whole, n=f.add(objects, x=1).out),  # type: ignore[arg-type]
        ["port 'whole.n' expects int, but objects.out is object"],
    ),
    (
        "None into int",
        lambda f: f.add(whole, n=f.add(blank).out),  # type: ignore[arg-type]
        ["port 'whole.n' expects int, but blank.out is None"],
    ),
    (
        "a list where one is expected",
        lambda f: f.add(text, t=f.input("xs", list[str])),  # type: ignore[arg-type]
        ["port 'text.t' expects str, but $in.xs is list[str]; wire each(...) to run once per item"],
    ),
    (
        "an item where a list is expected",
        lambda f: f.add(items, xs=f.add(text, t=each(f.input("xs", list[str]))).out),  # type: ignore[arg-type]
        ["port 'items.xs' expects list[str], but text.out is str; collect it first"],
    ),
    ("an item", lambda f: f.add(text, t=each(f.input("xs", list[str]))), []),
    (
        "an item of another type",
        lambda f: f.add(whole, n=each(f.input("xs", list[str]))),  # type: ignore[arg-type]
        ["port 'whole.n' expects int, but each($in.xs) is str"],
    ),
    ("an item of a constant list", lambda f: f.add(text, t=each(["a", "b"])), []),
    (
        "a map over no list",
        lambda f: f.add(text, t=each(f.add(whole, n=1).out)),  # type: ignore[arg-type]
        ["map of 'text' goes over whole.out, which is int; expected a list"],
    ),
    (
        "a map over a constant that is no list",
        lambda f: f.add(whole, n=each(3)),  # type: ignore[arg-type]
        ["map of 'whole' goes over a constant, which is int; expected a list"],
    ),
    (
        "a collected list",
        lambda f: f.add(items, xs=collect(f.add(text, t=each(f.input("xs", list[str]))).out)),
        [],
    ),
    (
        "a list in which failures stand",
        lambda f: f.add(
            either, xs=collect(f.add(text, t=each(f.input("xs", list[str]), on_error="collect")).out)
        ),
        [],
    ),
    (
        "a list in which failures stand, where there is none",
        lambda f: f.add(
            items, xs=collect(f.add(text, t=each(f.input("xs", list[str]), on_error="collect")).out)
        ),
        ["port 'items.xs' expects list[str], but collect(text.out) is list[str | Failure]" + FAILURES_STAND],
    ),
    (
        "a list of anything in which failures stand, where there is none",
        lambda f: f.add(
            items, xs=collect(f.add(anything, x=each(f.input("xs", list[str]), on_error="collect")).out)
        ),
        [
            "port 'items.xs' expects list[str], but collect(anything.out) is list[Any | Failure]"
            + FAILURES_STAND
        ],
    ),
    (
        "the items of a list in which failures stand",
        lambda f: f.add(
            text, t=each(collect(f.add(text, t=each(f.input("xs", list[str]), on_error="collect")).out))
        ),
        ["port 'text_2.t' expects str, but each(collect(text.out)) is str | Failure"],
    ),
    (
        "a list without what has failed",
        lambda f: f.add(
            items, xs=collect(f.add(text, t=each(f.input("xs", list[str]), on_error="skip")).out)
        ),
        [],
    ),
    (
        "lists of lists, failures in the inner ones",
        lambda f: f.add(
            rows, xs=collect(collect(f.add(text, t=each(each([["a"]]), on_error="collect")).out))
        ),
        [],
    ),
    (
        "a collected list of another type",
        lambda f: f.add(items, xs=collect(f.add(whole, n=each(f.input("ns", list[int]))).out)),  # type: ignore[arg-type]
        ["port 'items.xs' expects list[str], but collect(whole.out) is list[int]"],
    ),
    (
        "a merge of types",
        lambda f: f.add(text, t=merge(f.add(whole, n=1).out, "x", f.add(text, t="").out)),  # type: ignore[arg-type]
        [
            (
                "port 'text_2.t' expects str, but merge(whole.out, a constant, text.out) is "
                "int | Literal['x'] | str"
            ),
        ],
    ),
    ("a merge with Any", lambda f: f.add(text, t=merge(f.add(anything).out, 3)), []),
    (
        "a gathered list",
        lambda f: f.add(items, xs=gather(1, 2)),  # type: ignore[arg-type]
        [
            (
                "port 'items.xs' expects list[str], but gather(a constant, a constant) is "
                "list[Literal[1] | Literal[2]]"
            ),
        ],
    ),
    (
        "a fallback",
        lambda f: f.add(text, t=fallback(f.add(text, t="").out, None)),  # type: ignore[arg-type]
        ["port 'text_2.t' expects str, but fallback(text.out, a constant) is str | None"],
    ),
    (
        "an exit of a branch has the type of its value",
        lambda f: f.add(text, t=f.when(f.add(whole, n=1).out, bool).yes),  # type: ignore[arg-type]
        ["port 'text.t' expects str, but when.yes is int"],
    ),
    (
        "a case of a switch has the type of its value",
        lambda f: f.add(text, t=f.switch(f.add(whole, n=1).out, str, ["1"])["1"]),  # type: ignore[arg-type]
        ["port 'text.t' expects str, but switch.1 is int"],
    ),
    ("a failure", lambda f: f.add(logs, failure=f.add(whole, n=1).error), []),
    (
        "a failure where a text is expected",
        lambda f: f.add(text, t=f.add(whole, n=1).error),  # type: ignore[arg-type]
        ["port 'text.t' expects str, but whole.$error is Failure"],
    ),
    ("a signal port accepts any output", lambda f: f.add(waits, go=f.add(text, t="").out), []),  # type: ignore[arg-type]
    (
        "a signal into a data port",
        lambda f: f.add(whole, n=f.add(whole, n=1).done),  # type: ignore[arg-type]
        ["port 'whole_2.n' is a data port, but whole.$done is a signal port"],
    ),
    ("a context", lambda f: f.add(talk, context=f.add(talk, context=CONTEXT).out), []),
    (
        "data into a context port",
        lambda f: f.add(talk, context=f.add(text, t="").out),  # type: ignore[arg-type]
        ["port 'talk.context' is a context port, but text.out is a data port"],
    ),
    (
        "a context into a data port",
        lambda f: f.add(text, t=f.add(talk, context=CONTEXT).out),  # type: ignore[arg-type]
        ["port 'text.t' is a data port, but talk.out is a context port"],
    ),
    ("a constant", lambda f: f.add(text, t="x"), []),
    ("a constant of another type", lambda f: f.add(text, t=3), ["port 'text.t': expected str, found int 3"]),  # type: ignore[arg-type]
    (
        "a constant is not converted",
        lambda f: f.add(whole, n="3"),  # type: ignore[arg-type]
        ["port 'whole.n': expected int, found str '3'"],
    ),
    ("an int is a float", lambda f: f.add(real, x=3), []),
    (
        "text is no path",
        lambda f: f.add(path, p="x"),  # type: ignore[arg-type]
        ["port 'path.p': expected Path, found str 'x'"],
    ),
    (
        "a literal",
        lambda f: f.add(word, w="c"),  # type: ignore[arg-type]
        ["port 'word.w': expected Literal['a', 'b'], found str 'c'"],
    ),
    (
        "a constant is no signal",
        lambda f: f.add(waits, go=True),  # type: ignore[arg-type]
        ["port 'waits.go': expected Signal, found bool True"],
    ),
    (
        "constants on a many-port are checked one by one",
        lambda f: f.add(many, 1, "x", f.add(whole, n=1).out),  # type: ignore[arg-type]
        ["port 'many.ns': expected int, found str 'x'"],
    ),
]


async def test_a_context_goes_from_node_to_node() -> None:
    with Flow() as flow:
        context = flow.input("context", ExecutionContext)
        flow.output("context", flow.add(talk, context=flow.add(talk, context=context).out).out)
    result = await flow.run(context=CONTEXT)
    assert [message.content for message in result["context"].message_history] == ["hello", "hello"]
    assert CONTEXT.message_history == ()


def test_what_is_no_type_agrees_with_everything() -> None:
    flow = Flow()
    made = node(ports=lambda _style: Ports(outputs={"a": (int, str)}))(styled)
    step: Any = flow.add(made, style=Style())
    flow.add(text, t=merge(step.out.a, step.out.a, flow.add(text, t="").out))
    assert flow.check() == []


async def styled(style: Style) -> dict[str, int]:
    return {"a": style.words}


@pytest.mark.parametrize(
    ("wire", "problems"), [c[1:] for c in EDGE_PROBLEMS], ids=[c[0] for c in EDGE_PROBLEMS]
)
def test_edges_and_constants_are_checked(wire: Callable[[Flow], object], problems: list[str]) -> None:
    flow = Flow()
    wire(flow)
    assert flow.check() == problems
