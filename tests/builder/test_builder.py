"""Wiring a flow: inputs, nodes, declared or not, order, and edges by name (S1.2, S1.3)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from dataflow import SKIP, Config, Flow, PortMisuse, flow, merge, node, threaded
from dataflow.core.ports import MISSING
from dataflow.core.wiring import Edge, Reference
from tests.behaviour.flow_parts import fetch, inc, split, summarise
from tests.support.codes import codes


class Style(Config):
    words: int = 10


def test_a_marker_is_not_a_constant() -> None:
    for marker in (SKIP, MISSING):
        built: Any = Flow()
        built.add(fetch, url=marker)
        built.add(fetch, url=merge(marker, "a"))
        built.output("y", marker)
        problems = built.check()
        places = ["fetch.url", "fetch_2.url", "outputs.y"]
        assert codes(problems)[:3] == [f"DF0215 {place}" for place in places]
        assert [one.found for one in problems[:3]] == [repr(marker)] * 3


def test_the_default_of_an_input_is_checked() -> None:
    built = Flow()
    built.input("a", float, 3)
    built.input("b", int, "x")
    built.input("c", Any, SKIP)
    assert built.inputs["a"].default == 3.0
    assert codes(built.check()) == ["DF0601 inputs.b.default", "DF0601 inputs.c.default"]


@flow
def typed(f: Flow, n: int) -> int:
    return f.add(inc, x=n).out


async def open_ended(style: Style, **values: object) -> dict[str, int]:
    return {name: len(str(value)) for name, value in values.items()}


def no_ports(style: Style) -> Any:
    return style.words


def test_what_cannot_be_wired_is_a_problem() -> None:
    cases: list[tuple[Callable[[Any], object], list[str]]] = [
        (lambda f: f.add(summarise, txt="a"), ["DF0302 summarise.txt", "DF0301 summarise.text"]),
        (lambda f: f.add(summarise, "a", "b", "c"), ["DF0203 summarise"]),
        (lambda f: f.add(typed, m=1), ["DF0302 typed.m", "DF0301 typed.n"]),
        (lambda f: f.add(len, "a"), ["DF0401 len"]),
        (lambda f: f.add(threaded(inc), 1), ["DF0402 inc"]),
        (lambda f: (f.input("a", int), f.input("a", int)), ["DF0202 inputs.a"]),
        (lambda f: (f.output("b", 1), f.output("b", 1)), ["DF0202 outputs.b"]),
        (lambda f: f.add(node(ports=no_ports)(open_ended), Style()), ["DF0412 open_ended"]),
    ]
    for wire, problems in cases:
        built = Flow()
        wire(built)
        assert codes(built.check()) == problems


def test_after_is_checked() -> None:
    built = Flow()
    outside = built.add(inc, x=1)
    with built.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
        inner = built.add(inc, x=1)
        built.after(outside, inner.done)
    wrong: Any = outside.out
    built.after(outside, wrong)
    assert codes(built.check())[:2] == ["DF0208 inc.after", "DF0209 inc.after"]


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


def test_an_edge_that_cannot_be_is_a_problem() -> None:
    cases: list[tuple[str, str, dict[str, Any], str]] = [
        ("$carry.x", "summarise.text", {}, "DF0303 summarise.text"),
        ("split.title", "", {}, "DF0212 split.title ->"),
        ("split.title", "summarise.text", {"feedback": True}, "DF0330 summarise.text"),
        ("split.title", "summarise.text", {"colour": 1}, "DF0210 split.title -> summarise.text"),
    ]
    for source, target, options, problem in cases:
        built = Flow()
        built.add(split, doc=built.input("doc", str))
        built.add(summarise, style="s")  # type: ignore[call-arg]
        built.connect(source, target, **options)
        assert [one for one in codes(built.check()) if "DF0301" not in one] == [problem]


def test_inputs_and_outputs_may_be_declared_inside_a_loop() -> None:
    built = Flow()
    with built.loop(limit=1) as it:
        carry = it.carry(built.input("n", int))
        carry.next(built.add(inc, x=carry.out).out)
        built.output("began", carry.out)
    assert built.check() == []
    assert list(built.inputs) == ["n"]
    assert list(built.wiring.block.outputs) == ["began"]


@node
async def shorten(text: str, style: Style, *extra: str, limit: int = 3) -> str:
    """Shorten a text."""
    return f"{text}{style.words}{''.join(extra)}{limit}"


@node
async def count(n: int) -> AsyncIterator[int]:
    for number in range(n):
        yield number


@threaded
def double(x: int) -> int:
    return 2 * x


async def plain(x: int, y: float = 1) -> float:
    return x + y


def test_an_invalid_setting_is_refused_where_it_is_made() -> None:
    with pytest.raises(ValueError, match="DF0501"):
        shorten.with_(timeout=-1)
    with pytest.raises(TypeError, match="'colour'"):
        node(colour="red")  # type: ignore[call-overload]


def test_the_inputs_are_described_as_json_schema() -> None:
    assert repr(shorten) == "<node shorten>"
    assert node(plain).json_schema() == {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    schema = shorten.json_schema()
    assert list(schema["properties"]) == ["text", "extra", "limit"]
    assert schema["required"] == ["text"]


async def test_a_generator_and_a_blocking_function_may_have_settings() -> None:
    @threaded
    @node(timeout=3)  # type: ignore[arg-type]  # the other order is the typed one
    def blocking(x: int) -> int:
        return x

    @node(timeout=3)
    async def letters(text: str) -> AsyncIterator[str]:
        for letter in text:
            yield letter

    assert (blocking.type.policy.timeout, letters.type.policy.timeout) == (3, 3)
    called: Any = blocking(4)
    assert (await called, await letters("ab")) == (4, ["a", "b"])
    assert node(name="again")(count).type.outputs["out"].type == list[int]


def test_calls_of_nodes_are_known_to_be_awaited() -> None:
    marks_objects = sys.version_info >= (3, 12)
    unchecked: Any = flow
    for called in (double, count, shorten, unchecked(plain), double.with_(name="other")):
        assert inspect.iscoroutinefunction(called) is marks_objects


async def test_a_node_is_not_called_with_a_port() -> None:
    with Flow() as flow, pytest.raises(PortMisuse, match=r"DF0201 \$in\.x:") as caught:
        await node(double)(flow.input("x", int))
    assert caught.value.use == "a call of double"
