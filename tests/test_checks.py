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
    RunFailed,
    Signal,
    Tools,
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


async def uses(tools: Tools) -> int:
    return 1


async def optional(n: int = 0, m: int = 0) -> int:
    return n + m


async def blank() -> None: ...


async def logs(failure: Failure) -> str:
    return failure.message


CONTEXT = ExecutionContext("main")
AT_MOST_ONE = "both always bring one; use merge or gather"
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
        return carry.final if kind.endswith("final") else step.out

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
        lambda f: collect(f.add(whole, n=each(maybe_list(f))).out),
        False,
    ),
    ("the final value of a loop", in_a_loop("final"), True),
    ("the last value of a loop", in_a_loop("last"), True),
    ("the final value of a while loop", in_a_loop("while final"), True),
    ("the last value of a while loop", in_a_loop("while last"), False),
]


def maybe_list(flow: Flow) -> Any:
    return flow.when([1], bool).yes


@pytest.mark.parametrize(("make", "is_sure"), [case[1:] for case in SURE], ids=[case[0] for case in SURE])
def test_two_sure_edges_on_a_port_for_one_value_are_refused(
    make: Callable[[Flow], Any], is_sure: bool
) -> None:
    flow = Flow()
    port = make(flow)
    flow.add(node(anything).with_(name="first"), x=port)
    second = flow.add(node(anything).with_(name="second"), x=1)
    flow.add(node(anything).with_(name="reader"), x=flow.add(node(anything).with_(name="x"), x=port).out)
    flow.connect("second", "reader.x")
    assert second is not None
    told = [problem for problem in flow.check() if AT_MOST_ONE in problem]
    assert bool(told) is is_sure


def test_the_problem_of_two_sure_edges_names_them() -> None:
    flow = Flow()
    first = flow.add(whole, n=1)
    flow.add(whole, n=1)
    flow.add(whole, n=first.out)
    flow.connect("whole_2", "whole_3.n")
    assert flow.check() == [f"port 'whole_3.n' takes one value, but whole.out and whole_2.out {AT_MOST_ONE}"]


def test_a_many_port_takes_as_many_sure_edges_as_there_are() -> None:
    flow = Flow()
    flow.add(many, sure(flow), sure(flow), 3)
    assert flow.check() == []


async def test_two_live_edges_fail_the_run_naming_both() -> None:
    with Flow() as flow:
        first = flow.when(flow.input("n", int), lambda n: n > 1)
        second = flow.when(flow.input("m", int), lambda n: n > 1)
        flow.add(whole, n=first.yes)
        flow.connect("when_2.yes", "whole.n")
        flow.output("y", second.yes)
    assert (await flow.run(n=2, m=1)).status == "completed"
    with pytest.raises(RunFailed) as caught:
        await flow.run(n=2, m=2)
    assert caught.value.failures[0].message == (
        "node 'whole' got a value from when.yes and from when_2.yes on its port 'n', which takes one"
    )


@pytest.mark.parametrize(
    ("value", "port", "message"),
    [
        ("x", "n", "node 'whole' got a value on port 'n' that does not fit: expected int, found str 'x'"),
        (1.5, "n", "node 'whole' got a value on port 'n' that does not fit: expected int, found float 1.5"),
    ],
)
async def test_values_of_an_any_port_are_checked_when_they_enter(
    value: object, port: str, message: str
) -> None:
    with Flow() as flow:
        flow.add(whole, n=flow.add(anything, x=value).out)
    with pytest.raises(RunFailed) as caught:
        await flow.run()
    assert caught.value.failures[0].message == message


async def test_an_int_of_an_any_port_becomes_a_float() -> None:
    with Flow() as flow:
        flow.output("y", flow.add(real, x=flow.add(anything, x=3).out).out)
    result = await flow.run()
    assert isinstance(result["y"], float)


async def test_typed_ports_are_trusted() -> None:
    async def lies() -> int:
        return "text"  # type: ignore[return-value]

    with Flow() as flow:
        flow.output("y", flow.add(whole, n=flow.add(lies).out).out)
    assert (await flow.run())["y"] == "text"


async def test_a_constant_of_a_flow_is_the_one_of_each_run() -> None:
    seen: list[list[int]] = []

    async def grows(xs: list[int]) -> list[int]:
        xs.append(1)
        seen.append(xs)
        return xs

    with Flow() as flow:
        flow.output("y", flow.add(grows, xs=[]).out)
    assert (await flow.run())["y"] == [1]
    assert (await flow.run())["y"] == [1]


@pytest.mark.parametrize(
    ("source", "problems"),
    [
        (
            lambda _flow, carry: carry.out,
            ["the test of loop 'loop' reads $carry.carry, which is int; expected bool"],
        ),
        (lambda flow, carry: flow.add(anything, x=carry.out).out, []),
        (lambda flow, carry: flow.add(is_big, n=carry.out).out, []),
    ],
)
def test_a_test_without_a_function_must_be_a_bool(
    source: Callable[[Flow, Any], Any], problems: list[str]
) -> None:
    flow = Flow()
    with flow.loop(limit=2) as it:
        carry = it.carry(0)
        it.until(source(flow, carry), None)  # type: ignore[arg-type]  # as documents may
        carry.next(carry.out)
    assert flow.check() == problems


async def is_big(n: int) -> bool:
    return n > 3


NEXT = "next value of '$carry.carry' in loop 'loop'"


@pytest.mark.parametrize(
    ("first", "next_value", "problems"),
    [
        (0, lambda f, c: f.add(whole, n=c.out).out, []),
        (0.5, lambda f, _c: f.add(whole, n=1).out, []),
        (None, lambda f, _c: f.add(text, t="").out, []),
        ([], lambda f, _c: f.input("xs", list[str]), []),
        (True, lambda _f, _c: 1, [f"{NEXT} is Literal[1], but the port began as bool"]),
        ("a", lambda f, _c: f.add(whole, n=1).out, [f"{NEXT} is int, but the port began as str"]),
    ],
)
def test_a_next_value_has_the_type_that_the_port_began_with(
    first: Any, next_value: Callable[[Flow, Any], Any], problems: list[str]
) -> None:
    flow = Flow()
    with flow.loop(limit=2) as it:
        carry = it.carry(first)
        carry.next(next_value(flow, carry))
    assert flow.check() == problems


def test_what_leaves_a_loop_keeps_its_type() -> None:
    flow = Flow()
    with flow.loop(limit=2) as it:
        carry = it.carry(0)
        step = flow.add(text, t="")
        carry.next(carry.out)
    flow.add(text, t=carry.final)  # type: ignore[arg-type]
    flow.add(whole, n=step.out)  # type: ignore[arg-type]
    assert flow.check() == [
        "port 'text_2.t' expects str, but loop.carry is int",
        "port 'whole.n' expects int, but loop.text is str",
    ]
