"""The config of a node, and the ports that follow from it (S1.3)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from dataflow import Config, FlowInvalid, Port, Ports, Signal
from dataflow.core.nodetype import NodeType, derive
from dataflow.core.ports import MISSING, OutPort, PortKind
from dataflow.core.signature import Shape
from tests.support.codes import codes


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


def test_a_config_is_checked_or_made() -> None:
    cases: list[tuple[Callable[..., Any], Any, Config | None]] = [
        (fetch, MISSING, None),
        (styled, MISSING, Style()),
        (styled, {"words": 3}, Style(words=3)),
        (defaulted, MISSING, Wanted(path="x")),
        (defaulted, {"path": "y"}, Wanted(path="y")),
        (wanting, {"path": "y", "tags": ("a",)}, Wanted(path="y", tags=("a",))),
    ]
    for function, given, config in cases:
        assert derive(function).read_config(given) == (config, [])
    made = Style(words=3)
    assert derive(styled).read_config(made)[0] is made


def test_a_config_of_a_document_is_read_by_json_rules() -> None:
    given = {"when": "2026-01-02", "colour": "red", "path": "/x", "tags": ["a"], "size": 1}
    assert derive(everything).read_config(given, from_json=True) == (
        Everything(
            when=dt.date(2026, 1, 2), colour=Colour.RED, path=Path("/x"), tags=frozenset({"a"}), size=1.0
        ),
        [],
    )


def test_a_config_that_does_not_fit_is_a_problem() -> None:
    cases: list[tuple[Callable[..., Any], Any, bool, list[str]]] = [
        (fetch, {}, False, ["DF0414 .config"]),
        (fetch, Style(), False, ["DF0414 .config"]),
        (styled, Wanted(path="x"), False, ["DF0415 .config"]),
        (styled, 3, False, ["DF0415 .config"]),
        (styled, None, False, ["DF0415 .config"]),
        (wanting, MISSING, False, ["DF0416 .config.path"]),
        (wanting, {}, True, ["DF0416 .config.path"]),
        (
            wanting,
            {"path": "x", "tags": ["a", 3], "more": 1},
            True,
            ["DF0415 .config.tags.1", "DF0417 .config.more"],
        ),
        (styled, {"words": "many"}, False, ["DF0415 .config.words"]),
        (styled, {"words": "3"}, True, ["DF0415 .config.words"]),
    ]
    for function, given, from_json, problems in cases:
        config, found = derive(function).read_config(given, from_json)
        assert (config, codes(problem.problem for problem in found)) == (None, problems)


def configured(ports: Callable[[Any], Any], function: Callable[..., Any] = opened) -> NodeType:
    return derive(function, ports=ports).configured(Style())


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


def test_ports_that_cannot_be_are_refused() -> None:
    cases: list[tuple[Callable[[Any], Any], Callable[..., Any], str]] = [
        (lambda _style: Ports({"first": int}), opened, "DF0408"),
        (lambda _style: Ports({"rest": int}), opened, "DF0408"),
        (lambda _style: Ports({"style": int}), opened, "DF0408"),
        (lambda _style: Ports({"a": int, "b": int}), closed, "DF0413"),
        (lambda style: {"y": style}["x"], opened, "DF0411"),
        (lambda _style: {"inputs": {"a": int}}, opened, "DF0412"),
        (lambda _style: ({"a": int}, {}), opened, "DF0412"),
        (lambda _style: None, opened, "DF0412"),
    ]
    for ports, function, problem in cases:
        with pytest.raises(FlowInvalid) as caught:
            configured(ports, function)
        assert (caught.value.flow, codes(caught.value)) == (f"{__name__}:{function.__name__}", [problem])
