"""Wiring a flow: inputs, nodes, branches, order, and edges by name (S1.2, S1.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import pytest

from dataflow import (
    Config,
    Flow,
    FlowInvalid,
    Maybe,
    NodeState,
    Port,
    Ports,
    RunFailed,
    each,
    flow,
    merge,
    node,
    threaded,
)
from dataflow.ports import MISSING
from dataflow.wiring import Edge, FlowInput, Reference


class Parts(NamedTuple):
    title: str
    chunks: list[str]


class Style(Config):
    words: int = 10


async def inc(n: int) -> int:
    return n + 1


async def split(doc: str) -> Parts:
    return Parts(doc, [doc])


async def shorten(text: str, style: Style, *more: str, limit: int = 3) -> str:
    return f"{text}-{style.words}-{''.join(more)}-{limit}"


async def summarise(text: str, style: str = "short") -> str:
    return text


async def join(parts: list[str]) -> str:
    return "".join(parts)


async def fetch(url: str) -> str:
    return url


async def score(text: str) -> float:
    return float(len(text))


async def length(text: str) -> int:
    return len(text)


class Caller:
    """A callable object without a hash."""

    __hash__ = None  # type: ignore[assignment]

    async def __call__(self, n: int) -> int:
        return n * 2


def test_a_flow_has_a_name() -> None:
    assert (Flow().name, Flow("digest").name) == ("flow", "digest")


def test_inputs_are_declared_with_type_and_default() -> None:
    built = Flow()
    ports = [built.input("a", str), built.input("b", int, 3), built.input("c", Maybe[float], None)]
    assert [repr(port) for port in ports] == ["'$in.a'", "'$in.b'", "'$in.c'"]
    assert built.inputs["a"] == FlowInput(str, MISSING)
    assert built.inputs["b"] == FlowInput(int, 3)
    assert built.inputs["c"].type is float


def test_the_default_of_an_input_is_checked() -> None:
    built = Flow()
    built.input("a", float, 3)
    built.input("b", int, "x")
    assert built.inputs["a"].default == 3.0
    assert built.check() == ["default of input 'b': expected int, found str 'x'"]


def test_inputs_and_outputs_are_declared_once() -> None:
    built = Flow()
    port = built.input("a", int)
    built.input("a", int)
    built.output("b", port)
    built.output("b", port)
    assert built.check() == ["input 'a' is declared twice", "output 'b' is declared twice"]


def test_inputs_and_outputs_may_be_declared_inside_a_loop() -> None:
    built = Flow()
    with built.loop(limit=1) as it:
        carry = it.carry(built.input("n", int))
        carry.next(built.add(inc, n=carry.out).out)
        built.output("began", carry.out)
    assert built.check() == []
    assert list(built.inputs) == ["n"]
    assert list(built.wiring.block.outputs) == ["began"]


async def test_arguments_are_ports_expressions_or_constants() -> None:
    with Flow() as built:
        text = built.input("text", str)
        built.output("positional", built.add(shorten, text, Style(words=1), "a", text).out)
        built.output("keywords", built.add(shorten, text=merge(text, "x"), style=Style(words=2), limit=5).out)
        built.output("default", built.add(shorten, "x").out)  # type: ignore[call-arg]  # the config has a default
    assert dict((await built.run(text="t")).outputs) == {
        "positional": "t-1-at-3",
        "keywords": "t-2--5",
        "default": "x-10--3",
    }


async def test_a_constant_output_is_an_output() -> None:
    with Flow() as built:
        built.output("x", [1, 2])
        built.output("nothing", None)
    assert dict((await built.run()).outputs) == {"x": [1, 2], "nothing": None}


async def test_callables_of_every_kind_are_nodes() -> None:
    double = Caller()
    with Flow() as built:
        first = built.add(double, n=1)
        second = built.add(double, n=first.out)
        built.output("y", built.add(lambda_node(), n=second.out).out)
    assert list(built.wiring.block.nodes) == ["Caller", "Caller_2", "<lambda>"]
    assert (await built.run())["y"] == 5


def lambda_node() -> Callable[..., Any]:
    return threaded(lambda n: n + 1)


@flow
def typed(f: Flow, n: int) -> int:
    return f.add(inc, n=n).out


async def open_ended(style: Style, **values: object) -> dict[str, int]:
    return {name: len(str(value)) for name, value in values.items()}


def no_ports(style: Style) -> Any:
    return style.words


@pytest.mark.parametrize(
    ("wire", "problems"),
    [
        (
            lambda built: built.add(summarise, txt="a"),
            [
                f"node 'summarise' ({__name__}:summarise) has no input port 'txt'; choices: text, style",
                "port 'summarise.text' is required and has neither an edge nor a constant",
            ],
        ),
        (
            lambda built: built.add(summarise, "a", "b", "c"),
            ["node 'summarise' takes at most 2 positional arguments, found 3"],
        ),
        (
            lambda built: built.add(fetch, "a", url="b"),
            ["port 'fetch.url' is given twice, by position and by name"],
        ),
        (
            lambda built: built.add(fetch, 3),
            ["port 'fetch.url': expected str, found int 3"],
        ),
        (
            lambda built: built.add(len, "a"),
            ["len is no async function: write `async def`, or `@threaded` for code that blocks"],
        ),
        (
            lambda built: built.add(shorten, "a", built.input("style", Style)),
            ["config 'style' of node 'shorten' is fixed while wiring; it cannot be '$in.style'"],
        ),
        (
            lambda built: built.add(shorten, "a", {"lines": 3}),
            [f"node 'shorten' ({__name__}:shorten): config lines: Extra inputs are not permitted"],
        ),
        (
            lambda built: built.add(Flow("inner")),
            ["flow 'inner' as a node: flow nodes come with a later release"],
        ),
        (
            lambda built: built.add(typed, n=1),
            ["flow 'typed' as a node: flow nodes come with a later release"],
        ),
        (
            lambda built: built.add(node(ports=no_ports)(open_ended), Style()),
            ["node 'open_ended': ports= returned int; expected Ports(inputs, outputs)"],
        ),
    ],
)
def test_a_node_that_cannot_be_placed_is_a_problem(
    wire: Callable[[Flow], object], problems: list[str]
) -> None:
    built = Flow()
    wire(built)
    assert built.check() == problems


async def test_ports_follow_from_the_config() -> None:
    configured = node(
        ports=lambda style: Ports(
            inputs={f"in{n}": str for n in range(style.words)},
            outputs={f"in{n}": Port(int) for n in range(style.words)},
        )
    )(open_ended)
    with Flow() as built:
        step: Any = built.add(configured, Style(words=2), in0="a", in1="bcd")
        built.output("first", step.out.in0)
        built.output("second", step.out.in1)
    assert dict((await built.run()).outputs) == {"first": 1, "second": 3}


async def test_when_passes_the_value_to_one_exit() -> None:
    with Flow() as built:
        branch = built.when(built.input("n", int), lambda n: n > 3)
        built.output("yes", branch.yes)
        built.output("no", branch.no)
    assert dict((await built.run(n=4)).outputs) == {"yes": 4}
    assert dict((await built.run(n=3)).outputs) == {"no": 3}


KINDS: tuple[Literal["low"], Literal["high"]] = ("low", "high")


def pick(n: int) -> Any:
    return {0: "low", 1: "high", 2: None}.get(n, "other")


@pytest.mark.parametrize(("n", "outputs"), [(0, {"low": 0}), (1, {"high": 1}), (2, {})])
async def test_switch_passes_the_value_to_the_case_that_is_picked(n: int, outputs: dict[str, int]) -> None:
    with Flow() as built:
        exits = built.switch(built.input("n", int), pick, KINDS)
        for name, port in exits.items():
            built.output(name, port)
    assert dict((await built.run(n=n)).outputs) == outputs


@pytest.mark.parametrize(
    ("n", "outputs"), [(0, {"low": 0}), (1, {"default": 1}), (2, {}), (3, {"default": 3})]
)
async def test_the_default_case_takes_what_no_other_does(n: int, outputs: dict[str, int]) -> None:
    with Flow() as built:
        exits = built.switch(built.input("n", int), pick, ["low", "default"])
        for name, port in exits.items():
            built.output(name, port)
    assert dict((await built.run(n=n)).outputs) == outputs


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        (
            lambda built: built.when(1, lambda n: n),
            "node 'control.if' got 1 from its predicate; expected a bool (S16.3)",
        ),
        (
            lambda built: built.when(1, lambda _n: None),
            "node 'control.if' got None from its predicate; expected a bool (S16.3)",
        ),
        (
            lambda built: built.switch(3, pick, ["low", "high"]),
            "node 'control.switch' picked 'other'; cases: low, high, or None for none of them",
        ),
    ],
)
async def test_a_branch_that_cannot_be_decided_fails(wire: Callable[[Any], object], message: str) -> None:
    built = Flow()
    wire(built)
    with pytest.raises(RunFailed) as caught:
        await built.run()
    assert caught.value.failures[0].message == message


NO_FUNCTION = "Value error, expected a function, written module:qualname, found"


@pytest.mark.parametrize(
    ("wire", "problem"),
    [
        (
            lambda built: built.when(1, "no function"),
            f"node 'when' (control.if): config predicate: {NO_FUNCTION} 'no function'",
        ),
        (
            lambda built: built.switch(1, pick, [1, 2]),
            "node 'switch' (control.switch): config cases.0: Input should be a valid string",
        ),
        (
            lambda built: built.switch(1, 3, ["a"]),
            f"node 'switch' (control.switch): config pick: {NO_FUNCTION} 3",
        ),
    ],
)
def test_a_branch_that_cannot_be_is_a_problem(wire: Callable[[Any], object], problem: str) -> None:
    built = Flow()
    wire(built)
    assert problem in built.check()


async def test_after_makes_a_node_wait() -> None:
    order: list[str] = []

    async def note(name: str) -> str:
        order.append(name)
        return name

    with Flow() as built:
        late = built.add(note, name="late")
        first, second = built.add(note, name="first"), built.add(note, name="second")
        built.after(late, first.done, second.done)
    await built.run()
    assert order == ["first", "second", "late"]


async def test_after_a_node_that_is_skipped_the_node_is_skipped() -> None:
    with Flow() as built:
        branch = built.when(1, lambda n: n > 3)
        skipped = built.add(inc, n=branch.yes)
        late = built.add(inc, n=1)
        built.after(late, skipped.done)
    assert (await built.run()).states["inc_2"] is NodeState.SKIPPED


async def test_after_reaches_out_of_a_loop() -> None:
    with Flow() as built:
        first = built.add(inc, n=1)
        with built.loop(limit=2) as it:
            carry = it.carry(0)
            step = built.add(inc, n=carry.out)
            built.after(step, first.done)
            carry.next(step.out)
        built.output("y", carry.final)
    assert (await built.run())["y"] == 2


def test_after_is_checked() -> None:
    built = Flow()
    outside = built.add(inc, n=1)
    with built.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
        inner = built.add(inc, n=1)
        built.after(outside, inner.done)
    built.after(outside, outside.out)  # type: ignore[arg-type]
    built.after(outside, 3)  # type: ignore[arg-type]
    assert built.check()[:3] == [
        "after: node 'inc' is not in this block",
        "after of node 'inc': expected the `done` of a step in this block or around it, found 'inc.out'",
        "after of node 'inc': expected the `done` of a step in this block or around it, found 3",
    ]


def test_edges_are_wired_by_name() -> None:
    built = Flow()
    built.input("doc", str)
    built.add(split)  # type: ignore[call-arg]
    built.add(summarise)  # type: ignore[call-arg]
    built.connect("$in.doc", "split.doc")
    built.connect("split.title", "summarise.text", id="e1", meta={"colour": "red"})
    assert built.wiring.block.edges == [
        Edge(Reference("$in", "doc"), "split", "doc"),
        Edge(Reference("split", "title"), "summarise", "text", "e1", {"colour": "red"}),
    ]
    assert built.check() == []


def test_edges_inside_a_loop_are_wired_by_name() -> None:
    built = Flow()
    with built.loop(limit=2) as it:
        carry = it.carry(0)
        step = built.add(inc)  # type: ignore[call-arg]
        built.connect("$carry.carry", "inc.n")
        carry.next(step.out)
    built.output("y", carry.final)
    assert built.check() == []


EACH = "wire each(...) to run once per item"
SPLIT_TO_SUMMARISE = "edge split.title -> summarise.text"


@pytest.mark.parametrize(
    ("source", "target", "options", "problem"),
    [
        (
            "split.titel",
            "summarise.text",
            {},
            (
                "port 'summarise.text' reads 'split.titel': node 'split' has no output port 'titel'; "
                "choices: out, title, chunks"
            ),
        ),
        (
            "splitt.title",
            "summarise.text",
            {},
            "port 'summarise.text' reads 'splitt.title': no node 'splitt'; choices: split, summarise",
        ),
        (
            "split.title",
            "sumarise.text",
            {},
            "edge split.title -> sumarise.text: no node 'sumarise' in this block; choices: split, summarise",
        ),
        (
            "$in.dok",
            "summarise.text",
            {},
            "port 'summarise.text' reads '$in.dok', which does not exist here; choices: doc",
        ),
        (
            "$carry.x",
            "summarise.text",
            {},
            "port 'summarise.text' reads '$carry.x', which does not exist here; there are none",
        ),
        (
            "split.chunks",
            "summarise.text",
            {},
            f"port 'summarise.text' expects str, but split.chunks is list[str]; {EACH}",
        ),
        (
            ".title",
            "summarise.text",
            {},
            "edge .title -> summarise.text: '.title' is no source: write `node.port`, `node` or `$in.name`",
        ),
        (
            "split.title",
            "",
            {},
            "edge split.title -> : '' is no source: write `node.port`, `node` or `$in.name`",
        ),
        (
            "split.title",
            "summarise.text",
            {"feedback": True},
            f"{SPLIT_TO_SUMMARISE}: feedback edges come with a later release; use f.loop",
        ),
        (
            "split.title",
            "summarise.text",
            {"colour": 1, "size": 2},
            f"{SPLIT_TO_SUMMARISE}: unknown option 'colour'; choices: id, meta",
        ),
    ],
)
def test_an_edge_that_cannot_be_is_a_problem(
    source: str, target: str, options: dict[str, Any], problem: str
) -> None:
    built = Flow()
    built.add(split, doc=built.input("doc", str))
    built.add(summarise, style="s")  # type: ignore[call-arg]
    built.connect(source, target, **options)
    assert [found for found in built.check() if "is required" not in found] == [problem]


MISTAKES: list[tuple[str, Callable[[Flow], object], str]] = [
    (
        "E1",
        lambda f: f.connect("split.chunks", "summarise.text"),
        f"port 'summarise.text' expects str, but split.chunks is list[str]; {EACH}",
    ),
    (
        "E2",
        lambda f: f.connect("fetch.out", "summarise.txt"),
        f"node 'summarise' ({__name__}:summarise) has no input port 'txt'; choices: text, style",
    ),
    ("E3", lambda _f: None, "port 'summarise.text' is required and has neither an edge nor a constant"),
    (
        "E4",
        lambda f: f.connect("fetch", "join.parts"),
        "port 'join.parts' expects list[str], but fetch.out is str",
    ),
    (
        "E5",
        lambda f: f.connect("split.titel", "summarise.text"),
        (
            "port 'summarise.text' reads 'split.titel': node 'split' has no output port 'titel'; "
            "choices: out, title, chunks"
        ),
    ),
    (
        "E8",
        lambda f: f.connect("score", "length.text"),
        "port 'length.text' expects str, but score.out is float",
    ),
    (
        "E9",
        lambda f: f.connect("length", "summarise.text"),
        "port 'summarise.text' expects str, but length.out is int",
    ),
]


@pytest.mark.parametrize(
    ("connect", "problem"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
def test_mistakes_made_with_strings_are_caught_when_the_flow_is_built(
    connect: Callable[[Flow], object], problem: str
) -> None:
    built = Flow()
    fed: list[Any] = [fetch, split, score]
    unfed: list[Any] = [summarise, join, length]
    for function in fed:
        built.add(function, "x")
    for function in unfed:
        built.add(function)
    connect(built)
    assert problem in built.check()


def test_mistakes_made_with_ports_are_caught_when_the_flow_is_built() -> None:
    built = Flow()
    page = built.add(fetch, "u")
    parts = built.add(split, doc=page.out)
    brief = built.add(summarise, text=each(parts.out.chunks))
    built.add(join, parts=brief.out)  # type: ignore[arg-type]
    size = built.add(length, text=page.out)
    mixed: Any = merge(page.out, size.out)
    built.add(summarise, text=mixed)
    with built.loop(limit=3) as it:
        carry = it.carry(page.out)
        mark = built.add(score, text=carry.out)
        carry.next(mark.out)  # type: ignore[arg-type]
    assert sorted(built.check()) == [
        "next value of '$carry.carry' in loop 'loop' is float, but the port began as str",
        "port 'join.parts' expects list[str], but summarise.out is str; collect it first",
        "port 'summarise_2.text' expects str, but merge(fetch.out, length.out) is str | int",
    ]


def test_all_problems_are_raised_together_at_the_end_of_the_block() -> None:
    def wire() -> None:
        with Flow("f") as built:
            built.add(summarise)  # type: ignore[call-arg]
            built.add(fetch, url=3)  # type: ignore[arg-type]

    with pytest.raises(FlowInvalid) as caught:
        wire()
    assert str(caught.value) == (
        "flow 'f' has 2 problems:\n"
        "  - port 'summarise.text' is required and has neither an edge nor a constant\n"
        "  - port 'fetch.url': expected str, found int 3"
    )


def test_an_error_in_the_block_is_not_hidden_by_problems() -> None:
    def wire() -> None:
        with Flow("f") as built:
            built.add(summarise)  # type: ignore[call-arg]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wire()


async def test_a_flow_can_be_wired_on_after_it_was_run() -> None:
    with Flow() as built:
        step = built.add(inc, n=1)
        built.output("a", step.out)
    assert dict((await built.run()).outputs) == {"a": 2}
    built.output("b", built.add(inc, n=step.out).out)
    assert dict((await built.run()).outputs) == {"a": 2, "b": 3}
