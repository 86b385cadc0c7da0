"""The config of a node, and the ports that follow from it (S1.3)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from dataflow import Config, FlowInvalid, Maybe, Port, Ports, Signal
from dataflow.core.nodetype import NodeType, derive
from dataflow.core.ports import MISSING, InPort, OutPort, PortKind
from dataflow.core.signature import Shape


class Colour(Enum):
    RED = "red"


class Style(Config):
    words: int = 10


class Wanted(Config):
    path: str
    tags: tuple[str, ...] = ()


class Everything(Config):
    when: dt.date
    colour: Colour
    path: Path
    tags: frozenset[str]
    size: float


async def fetch(url: str, *more: str, limit: int = 3) -> str:
    return url


async def styled(text: str, style: Style) -> str:
    return text


async def wanting(wanted: Wanted) -> str:
    return wanted.path


async def defaulted(wanted: Wanted = Wanted(path="x")) -> str:  # noqa: B008 - frozen
    return wanted.path


async def everything(everything: Everything) -> None: ...


async def opened(style: Style, first: int = 0, *rest: int, **values: object) -> Any: ...


async def closed(style: Style) -> int:
    return style.words


@pytest.mark.parametrize(
    ("function", "given", "config"),
    [
        (fetch, MISSING, None),
        (styled, MISSING, Style()),
        (styled, Style(words=3), Style(words=3)),
        (styled, {"words": 3}, Style(words=3)),
        (defaulted, MISSING, Wanted(path="x")),
        (defaulted, {"path": "y"}, Wanted(path="y")),
        (wanting, {"path": "y", "tags": ("a",)}, Wanted(path="y", tags=("a",))),
    ],
)
def test_a_config_is_checked_or_made(function: Callable[..., Any], given: Any, config: Config | None) -> None:
    assert derive(function).read_config(given) == (config, [])


def test_a_config_made_already_is_taken_as_it_is() -> None:
    given = Style(words=3)
    assert derive(styled).read_config(given)[0] is given


def test_a_config_of_a_document_is_read_by_json_rules() -> None:
    given = {"when": "2026-01-02", "colour": "red", "path": "/x", "tags": ["a"], "size": 1}
    assert derive(everything).read_config(given, from_json=True) == (
        Everything(
            when=dt.date(2026, 1, 2), colour=Colour.RED, path=Path("/x"), tags=frozenset({"a"}), size=1.0
        ),
        [],
    )


@pytest.mark.parametrize(
    ("function", "given", "from_json", "problems"),
    [
        (fetch, {}, False, ["takes no config"]),
        (fetch, Style(), False, ["takes no config"]),
        (styled, Wanted(path="x"), False, ["config 'style' must be Style, found Wanted"]),
        (styled, 3, False, ["config 'style' must be Style, found int"]),
        (styled, None, False, ["config 'style' must be Style, found NoneType"]),
        (wanting, MISSING, False, ["config path: is missing"]),
        (wanting, {}, True, ["config path: is missing"]),
        (
            wanting,
            {"path": "x", "tags": ["a", 3], "more": 1},
            True,
            [
                "config tags.1: expected a valid string, found int 3",
                "config more: is not known here; choices: path, tags",
            ],
        ),
        (
            styled,
            {"words": "many"},
            False,
            [
                "config words: expected a valid integer, unable to parse string as an integer, found str 'many'"  # noqa: E501 - a whole message
            ],
        ),
        (styled, {"words": "3"}, True, ["config words: expected a valid integer, found str '3'"]),
    ],
)
def test_a_config_that_does_not_fit_is_told(
    function: Callable[..., Any], given: Any, from_json: bool, problems: list[str]
) -> None:
    config, found = derive(function).read_config(given, from_json)
    assert (config, [problem.text for problem in found]) == (None, problems)


def configured(ports: Callable[[Any], Any], function: Callable[..., Any] = opened) -> NodeType:
    return derive(function, ports=ports).configured(Style())


def test_a_type_without_ports_of_its_config_is_configured_already() -> None:
    made = derive(styled)
    assert made.configured(Style()) is made


def test_inputs_follow_from_the_config() -> None:
    made = configured(
        lambda _style: Ports(
            inputs={"a": int, "b": Port(Maybe[str], default="x"), "c": Port(Signal, many=True)}
        )
    )
    assert made.inputs == {
        "first": InPort("first", int, PortKind.DATA, 0),
        "rest": InPort("rest", int, PortKind.DATA, (), many=True),
        "a": InPort("a", int, PortKind.DATA),
        "b": InPort("b", str, PortKind.DATA, "x"),
        "c": InPort("c", Signal, PortKind.SIGNAL, many=True),
    }
    assert made.outputs == {"out": OutPort("out", Any, PortKind.DATA)}
    assert made.shape is Shape.SINGLE


def test_outputs_follow_from_the_config() -> None:
    given = OutPort("d", int, PortKind.DATA, same_as="a")
    made = configured(
        lambda _style: Ports(outputs={"a": int, "b": Port(str, conditional=True), "c": Signal, "d": given})
    )
    assert made.outputs == {
        "a": OutPort("a", int, PortKind.DATA),
        "b": OutPort("b", str, PortKind.DATA, conditional=True),
        "c": OutPort("c", Signal, PortKind.SIGNAL),
        "d": given,
    }
    assert made.shape is Shape.PORTS


def test_the_config_decides_how_many_ports_there_are() -> None:
    made = derive(opened, ports=lambda style: Ports(inputs={f"word{n}": str for n in range(style.words)}))
    assert list(made.configured(Style(words=2)).inputs) == ["first", "rest", "word0", "word1"]
    assert list(made.configured(Style(words=0)).inputs) == ["first", "rest"]


EXPECTED = "expected Ports(inputs, outputs)"


@pytest.mark.parametrize(
    ("ports", "function", "problem"),
    [
        (
            lambda _style: Ports({"first": int}),
            opened,
            "ports= names input 'first', which the function has already",
        ),
        (
            lambda _style: Ports({"rest": int}),
            opened,
            "ports= names input 'rest', which the function has already",
        ),
        (
            lambda _style: Ports({"style": int}),
            opened,
            "ports= names input 'style', which the function has already",
        ),
        (
            lambda _style: Ports({"a": int, "b": int}),
            closed,
            "ports= names inputs (a, b), but the function has no **kwargs for them",
        ),
        (lambda style: {"y": style}["x"], opened, "ports= raised KeyError: 'x'"),
    ],
)
def test_ports_that_cannot_be_are_refused(
    ports: Callable[[Any], Any], function: Callable[..., Any], problem: str
) -> None:
    with pytest.raises(FlowInvalid) as caught:
        configured(ports, function)
    assert (caught.value.flow, caught.value.problems) == (f"{__name__}:{function.__name__}", (problem,))


@pytest.mark.parametrize("given", [{"inputs": {"a": int}}, None, 3, ("a", "b"), [{"a": int}]])
def test_anything_but_ports_is_refused(given: object) -> None:
    with pytest.raises(FlowInvalid) as caught:
        configured(lambda _style: given)
    assert caught.value.problems[0].endswith(EXPECTED)
