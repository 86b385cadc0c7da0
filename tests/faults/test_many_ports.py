"""F-R09: what a run does for a node is in proportion to its ports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from dataflow import Config, Flow, NodeOutput, Port, Ports, gather, merge, node

FEW: Final = 50


class Name(str):
    """A name that counts how often such names are compared, as a search of a list does for each entry."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def names(letter: str, count: int) -> list[Name]:
    return [Name(f"{letter}{number}") for number in range(count)]


class Many(Config):
    count: int


@node(ports=lambda config: Ports({"x": Port(int)}, dict.fromkeys(names("q", config.count), int)))
async def wide(inputs: dict[str, Any], config: Many) -> NodeOutput:
    return NodeOutput(dict.fromkeys(names("q", config.count), inputs["x"]))


@node(ports=lambda config: Ports(dict.fromkeys(names("q", config.count), Port(int)), {"o": int}))
async def reads(inputs: dict[str, Any], config: Many) -> NodeOutput:
    return NodeOutput({"o": sum(inputs[name] for name in names("q", config.count))})


async def ident(x: int) -> int:
    return x


async def size(xs: list[int]) -> int:
    return len(xs)


def outputs(count: int) -> Flow:
    f = Flow("outputs")
    step: Any = f.add(wide, config=Many(count=count), x=1)
    for name in names("q", count):
        f.output(name, getattr(step.out, name))
    return f


def inputs(count: int) -> Flow:
    f = Flow("inputs")
    step: Any = f.add(reads, config=Many(count=count), **dict.fromkeys(names("q", count), 1))
    f.output("o", step.out.o)
    return f


def ports_of_flows(count: int) -> Flow:
    inner, f = Flow("inner"), Flow("ports")
    for name in names("q", count):
        inner.output(name, inner.add(ident, x=inner.input(name, int)).out)
    step: Any = f.add(inner, **dict.fromkeys(names("q", count), 1))
    for name in names("q", count):
        f.output(name, getattr(step.out, name))
    return f


def joins(count: int) -> Flow:
    f = Flow("joins")
    steps = [f.add(node(ident).with_(name=name), x=1).out for name in names("n", count)]
    f.output("size", f.add(size, xs=gather(*steps)).out)
    f.output("first", merge(*steps))
    return f


def comparisons(make: Callable[[int], Flow], count: int) -> int:
    flow = make(count)
    Name.compared = 0
    flow.run_sync()
    return Name.compared


@pytest.mark.parametrize("make", [outputs, inputs, ports_of_flows, joins])
def test_names_are_looked_up_and_not_searched_for(make: Callable[[int], Flow]) -> None:
    """With four times the ports four times the comparisons, and not sixteen times."""
    few, many = (comparisons(make, count) for count in (FEW, 4 * FEW))
    assert many <= 5 * few + FEW
