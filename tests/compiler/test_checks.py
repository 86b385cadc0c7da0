# mypy: disable-error-code="arg-type"
"""Types, kinds and edges are checked before a flow runs, other values when they enter (S1.4, S1.7, S5.2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final, Literal

import pytest

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
from dataflow_control import log
from tests.compiler.typed_nodes import anything, blank, logs, many, parts, text, whole
from tests.support.codes import codes, found_of


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


async def optional(n: int = 0, m: int = 0) -> int:
    return n + m


def sure(flow: Flow) -> Any:
    return flow.add(whole, n=1).out


def with_policy(**settings: Any) -> Callable[[Flow], Any]:
    return lambda flow: flow.add(node(whole).with_(**settings), n=1).out


def handled(flow: Flow) -> Any:
    step = flow.add(whole, n=1)
    flow.add(logs, failure=step.error)
    return step.out


def in_a_loop(kind: str) -> Callable[[Flow], Any]:
    def wire(flow: Flow) -> Any:
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            step = flow.add(whole, n=carry.out)
            carry.next(step.out)
            if kind.startswith("while"):
                it.while_(carry.out, lambda n: n < 3)
        if kind.endswith("handled"):
            flow.add(logs)  # type: ignore[call-arg]  # wired by name
            flow.connect("loop.$error", "logs.failure")
        leaving = {"final": carry.final, "all": it.all(step.out)}
        return leaving.get(kind.rsplit(maxsplit=1)[-1], step.out)

    return wire


SURE: list[tuple[str, Callable[[Flow], Any], bool]] = [
    ("a node whose ports have constants", sure, True),
    ("a node behind a sure one", lambda f: f.add(whole, n=sure(f)).out, True),
    ("a node without ports", lambda f: f.add(blank).done, True),
    ("an input", lambda f: f.input("n", int), True),
    (
        "a node with optional ports, one of them sure",
        lambda f: f.add(optional, n=sure(f), m=f.when(1, bool).yes).out,
        True,
    ),
    ("a node with optional ports, none sure", lambda f: f.add(optional, n=f.when(1, bool).yes).out, False),
    ("a node with optional ports, none connected", lambda f: f.add(optional).out, True),
    ("a node that may be skipped", lambda f: f.add(whole, n=f.when(1, bool).yes).out, False),
    ("an exit of a branch", lambda f: f.when(1, bool).yes, False),
    ("a conditional field", lambda f: f.add(parts, n=1).out.note, False),
    ("an unconditional field", lambda f: f.add(parts, n=1).out.title, True),
    ("a result of which a field may be left out", lambda f: f.add(parts, n=1).out, False),
    ("a failure", lambda f: f.add(whole, n=1).error, False),
    ("a signal", lambda f: f.add(whole, n=1).done, True),
    ("a node whose failure is skipped", with_policy(on_error="skip"), False),
    ("a node whose failure is routed", with_policy(on_error="route"), False),
    ("a node whose failure is wired", handled, False),
    ("a node whose failure has a default", with_policy(default=0), True),
    ("a disabled node", with_policy(enabled=False), False),
    ("a merge with a sure source", lambda f: merge(f.when(1, bool).yes, sure(f)), True),
    ("a merge without a sure source", lambda f: merge(f.when(1, bool).yes, f.when(1, bool).no), False),
    ("a gather with a sure source", lambda f: gather(f.when(1, bool).yes, sure(f)), True),
    ("a fallback", lambda f: fallback(f.when(1, bool).yes, 3), True),
    ("a collected list", lambda f: collect(f.add(whole, n=each(f.input("xs", list[int]))).out), True),
    (
        "a collected list of what may not be",
        lambda f: collect(f.add(whole, n=each(f.when([1], bool).yes)).out),
        False,
    ),
    ("the final value of a loop", in_a_loop("final"), True),
    ("the last value of a loop", in_a_loop("last"), True),
    ("the final value of a while loop", in_a_loop("while final"), True),
    ("the last value of a while loop", in_a_loop("while last"), False),
    ("all values of a loop", in_a_loop("all"), True),
    ("all values of a while loop", in_a_loop("while all"), True),
    ("the last value of a loop whose failure is wired", in_a_loop("handled"), False),
]


def test_two_sure_edges_on_a_port_for_one_value_are_refused() -> None:
    found = {}
    for name, make, _ in SURE:
        flow = Flow()
        port = make(flow)
        flow.add(node(anything).with_(name="first"), x=port)
        flow.add(node(anything).with_(name="second"), x=1)
        flow.add(node(anything).with_(name="reader"), x=flow.add(node(anything).with_(name="x"), x=port).out)
        flow.connect("second", "reader.x")
        found[name] = "DF0307 reader.x" in codes(flow.check())
    assert found == {name: is_sure for name, _, is_sure in SURE}


async def kept(n: int) -> None:
    assert n


async def streamed(n: int) -> AsyncIterator[int]:
    yield n


def looping(f: Flow) -> object:
    """Read a node by the test of a loop only, and an input by its first value only."""
    with f.loop() as again:
        carried = again.carry(f.input("first", int))
        carried.next(f.add(whole, n=carried.out).out)
        again.until(f.add(node(whole).with_(name="test"), n=carried.out).out, bool)
    return f


#: Of flows with an output: what nothing reads.
UNUSED: list[tuple[list[str], Wire]] = [
    (["DF0339 $in.x"], lambda f: f.input("x", int)),
    (["DF0340 whole"], lambda f: f.add(whole, n=f.input("x", int))),
    (["DF0340 whole"], lambda f: f.add(whole, n=each([1]))),
    (["DF0340 parts"], lambda f: f.add(parts, n=1)),
    (["DF0340 when"], lambda f: f.when(1, lambda n: n > 1)),
    ([], lambda f: f.add(kept, n=1)),
    ([], lambda f: f.add(node(whole).with_(effect=True), n=1)),
    ([], lambda f: f.add(node(whole).with_(enabled=False), n=1)),
    ([], lambda f: f.add(streamed, n=1)),
    ([], lambda f: f.add(log, f.add(whole, n=1).out)),
    ([], lambda f: f.after(f.add(kept, n=1), f.add(whole, n=1).done)),
    ([], looping),
]


@pytest.mark.parametrize(("found", "wire"), UNUSED)
def test_what_nothing_reads_is_a_warning(found: list[str], wire: Wire) -> None:
    flow = Flow("f")
    wire(flow)
    assert [one for one in codes(flow.warnings()) if "DF0340" in one] == []  # all for its effects
    flow.output("o", flow.add(node(whole).with_(name="o"), n=1).out)
    assert codes(flow.warnings()) == found
    with Flow("outer") as outer:
        nested = outer.add(flow.with_(name="again"), **dict.fromkeys(flow.inputs, 1))
        outer.output("o", gather(nested.out.o, outer.add(flow, **dict.fromkeys(flow.inputs, 1)).out.o))
    assert codes(outer.warnings()) == [one.replace(" ", " f/") for one in found]
    flow.add(whole, n="text")
    assert flow.check() != []
    assert flow.warnings() == []
