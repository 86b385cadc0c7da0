# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, name-defined"
"""What is said of node functions, and of policies and other settings (S1, S9.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pydantic import field_validator

from dataflow import Config, Expression, Flow, Limit, NodeOutput, Port, Ports, Retry, node, threaded
from dataflow.authoring import InstalledNode
from dataflow.base.markers import SKIP
from dataflow.core.nodetype import derive
from dataflow.core.policy import EachOptions
from dataflow.types.validation import check_json, check_value
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, wired

__all__ = ["ROWS"]


class Options(Config):
    size: int = 1
    names: tuple[str, ...] = ()


class Whole(NamedTuple):
    out: int


async def opened(options: Options, **values: Any) -> int:
    return 1


async def closed(options: Options, x: int = 1) -> int:
    return 1


async def unresolved(x: Nowhere) -> int:  # noqa: F821 - what is tested
    return 1


async def two_configs(a: Options, b: Options) -> int:
    return 1


async def whole() -> Whole:
    return Whole(1)


async def raw(text: str) -> NodeOutput:
    return NodeOutput()


async def raw_config(config: int) -> NodeOutput:
    return NodeOutput()


async def raw_ports(config: Options) -> NodeOutput:
    return NodeOutput()


def ports(function: Any, make: Callable[[Any], Any]) -> Any:
    return wired(lambda f: f.add(node(ports=make)(function), Options()))


def config(**settings: Any) -> Any:
    return wired(lambda f: f.add(closed, settings))


class Sized(Config):
    size: int

    @field_validator("size")
    @classmethod
    def _is_positive(cls, size: int) -> int:
        if size <= 0:
            raise ValueError("a size is positive")
        return size


class Rules(Config):
    rule: Expression


async def counts(rules: Rules) -> int:
    return 1


async def sized(sized: Sized) -> int:
    return 1


# fmt: off
TYPES: Final = [
    Row("an async function for a thread", wired(lambda f: f.add(threaded(inc)))),
    Row("a call for a function", lambda: derive(inc(1))),
    Row("an annotation", wired(lambda f: f.add(unresolved))),
    Row("no signature", wired(lambda f: f.add(threaded(max)))),
    Row("**values without ports", wired(lambda f: f.add(opened))),
    Row("two configs", wired(lambda f: f.add(two_configs))),
    Row("a parameter of a raw node", wired(lambda f: f.add(raw))),
    Row("config of a raw node", wired(lambda f: f.add(raw_config))),
    Row("a port that every node has", ports(opened, lambda c: Ports({}, {'$done': int}))),
    Row("ports that raise", ports(opened, lambda c: {}['x'])),
    Row("no ports", ports(opened, lambda c: 3)),
    Row("ports without **values", ports(closed, lambda c: Ports({'y': int}, {}))),
    Row("the context of a raw node", ports(raw_ports, lambda c: Ports({}, {'context': Port(int)}))),
    Row("no config", wired(lambda f: f.add(closed, 3))),
    Row("a config field", config(size='a')),
    Row("an unknown config field", config(sizes=1)),
    Row("a config that its class refuses", wired(lambda f: f.add(sized, {"size": -1}))),
    Row("a config port", wired(lambda f: f.add(closed, f.input('c', Any)))),
    Row("the status of an output", lambda: NodeOutput(status='done')),
    Row("a marker as a condition", lambda: bool(SKIP)),
    Row("a marker as a default", wired(lambda f: f.input('x', int, SKIP))),
]
# fmt: on
# fmt: off
POLICIES: Final = [
    Row("seconds", lambda: node(timeout=0)(inc)),
    Row("a whole number", lambda: Retry(-1)),
    Row("a choice", lambda: node(on_error='stop')(inc)),
    Row("on", lambda: Retry(1, on='timeout')),
    Row("before", lambda: Retry(1, before=3)),
    Row("an empty limit", lambda: Limit()),
    Row("keep", lambda: Flow().using(keep=1)),
    Row("slots by name", lambda: Flow().using(limits={'web': 0})),
    Row("default=SKIP", lambda: node(default=SKIP)(inc)),
    Row("options of a map", lambda: EachOptions(on_error='stop')),
    Row("a number out of range", lambda: check_value(10**400, float)),
    Row("what JSON cannot carry", lambda: check_json({1}, set[int])),
    Row("a value that a model refuses", lambda: check_json({"size": -1}, Sized)),
    Row("a field that a model does not have", lambda: check_json({"sizes": -1}, Options)),
    Row("an expression that is no text", wired(lambda f: f.add(counts, {"rule": 3}))),
]
# fmt: on
INSTALLED: Final = [
    Row(
        "a config of an installed type that has none",
        lambda: InstalledNode("control.read_text").config(encoding="utf-8"),
    )
]
ROWS: Final = [*TYPES, *POLICIES, *INSTALLED]
