# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, name-defined"
"""What is said of node functions, and of policies and other settings (S1, S9.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pydantic import field_validator

from dataflow import (
    Config,
    Expression,
    Flow,
    Limit,
    NodeOutput,
    Port,
    Ports,
    Retry,
    node,
    threaded,
)
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


async def closed_open(options: Options, x: int = 1, **more: Any) -> int:
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


def plain() -> int:
    return 1


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


# fmt: off
TYPES: Final = [
    Row("no async function", wired(lambda f: f.add(plain)), "plain is no async function: use `async def`, or @threaded for code that blocks"),
    Row("an async function for a thread", wired(lambda f: f.add(threaded(inc))), "inc is an async function: use @node; @threaded is for code that blocks"),
    Row("a call for a function", lambda: derive(inc(1)), "pass the function itself, not what calling it gives"),
    Row("an annotation", wired(lambda f: f.add(unresolved)), "unresolved: annotation 'Nowhere' of 'x' cannot be resolved (name 'Nowhere' is not defined); it must be importable from the function's module"),
    Row("no signature", wired(lambda f: f.add(threaded(max))), "max: its ports cannot be read: no signature found for builtin <built-in function max>"),
    Row("**values without ports", wired(lambda f: f.add(opened)), "opened: **values needs ports=, a function of the config that names its ports"),
    Row("two configs", wired(lambda f: f.add(two_configs)), "two_configs: 'a' and 'b' are both config; a node has one config"),
    Row("a field called out", wired(lambda f: f.add(whole)), "whole: the result's field 'out' has the name of the whole; rename it"),
    Row("a parameter of a raw node", wired(lambda f: f.add(raw)), "raw: 'text' is no parameter of a raw node, which returns a NodeOutput; choices: inputs, context, config"),
    Row("config of a raw node", wired(lambda f: f.add(raw_config)), "raw_config: 'config' of a raw node is annotated with a subclass of Config, or not at all"),
    Row("a port that every node has", ports(opened, lambda c: Ports({}, {'$done': int})), "node 'opened' (tests.messages.declaring:opened): every node has a port '$done'; rename the output"),
    Row("ports that raise", ports(opened, lambda c: {}['x']), "node 'opened' (tests.messages.declaring:opened): ports= raised KeyError: 'x'"),
    Row("no ports", ports(opened, lambda c: 3), "node 'opened' (tests.messages.declaring:opened): ports= returned int; expected Ports(inputs, outputs)"),
    Row("ports without **values", ports(closed, lambda c: Ports({'y': int}, {})), "node 'closed' (tests.messages.declaring:closed): ports= names inputs (y), but the function has no **kwargs for them"),
    Row("a port that is there", ports(closed_open, lambda c: Ports({'x': int}, {})), "node 'closed_open' (tests.messages.declaring:closed_open): ports= names input 'x', which the function has already"),
    Row("the context of a raw node", ports(raw_ports, lambda c: Ports({}, {'context': Port(int)})), "node 'raw_ports' takes at most 0 positional arguments, found 1\nnode 'raw_ports' (tests.messages.declaring:raw_ports): ports= names output 'context', which every raw node has already"),
    Row("no config", wired(lambda f: f.add(closed, 3)), "node 'closed' (tests.messages.declaring:closed): config 'options' must be Options, found int"),
    Row("a config field", config(size='a'), "node 'closed' (tests.messages.declaring:closed): config size: expected a valid integer, unable to parse string as an integer, found str 'a'"),
    Row("an unknown config field", config(sizes=1), "node 'closed' (tests.messages.declaring:closed): config sizes: is not known here; choices: size, names"),
    Row("a config port", wired(lambda f: f.add(closed, f.input('c', Any))), "config 'options' of node 'closed' is fixed while wiring; it cannot be '$in.c'"),
    Row("the status of an output", lambda: NodeOutput(status='done'), "the status of a NodeOutput cannot be 'done'; choices: success, paused, error"),
    Row("a marker as a condition", lambda: bool(SKIP), "SKIP is neither true nor false; compare it with `is`"),
    Row("a marker as a default", wired(lambda f: f.input('x', int, SKIP)), "default of input 'x': expected int, found SKIP, which is no value"),
]
# fmt: on
# fmt: off
POLICIES: Final = [
    Row("seconds", lambda: node(timeout=0)(inc), "timeout must be a positive number, found 0"),
    Row("a whole number", lambda: Retry(-1), "retries must be a whole number of 0 or more, found -1"),
    Row("a choice", lambda: node(on_error='stop')(inc), "on_error cannot be 'stop'; choices: fail, skip, route"),
    Row("on", lambda: Retry(1, on='timeout'), "on must be a tuple of exception types and texts, found 'timeout'"),
    Row("before", lambda: Retry(1, before=3), "before must be a function of the firing, found 3"),
    Row("an async before", lambda: Retry(1, before=inc), "expected a plain function, found the async function inc; decide inside a node"),
    Row("an empty limit", lambda: Limit(), "a limit needs slots, per_second or both"),
    Row("keep", lambda: Flow().using(keep=1), "keep must be True or False, found 1"),
    Row("slots by name", lambda: Flow().using(limits={'web': 0}), "limit 'web' must be a whole number of 1 or more, found 0"),
    Row("default=SKIP", lambda: node(default=SKIP)(inc), "default must be a value, found SKIP; say on_error='skip' to skip"),
    Row("options of a map", lambda: EachOptions(on_error='stop'), "on_error cannot be 'stop'; choices: fail, collect, skip"),
    Row("a number out of range", lambda: check_value(10**400, float), 'expected float (in its range), found int 1000000000000000000000000000...00000000000000000000000000000'),
    Row("what JSON cannot carry", lambda: check_json({1}, set[int]), 'expected set[int] as JSON, found set {1}'),
    Row("a value that a model refuses", lambda: check_json({"size": -1}, Sized), '.size: expected a valid value (a size is positive), found int -1'),
    Row("a field that a model does not have", lambda: check_json({"sizes": -1}, Options), '.sizes: expected no such field, found int -1'),
    Row("a field that is missing", lambda: check_json({}, Sized), '.size: expected a value, found nothing'),
    Row("an expression that is no text", wired(lambda f: f.add(counts, {"rule": 3})), "node 'counts' (tests.messages.declaring:counts): config rule: expected the source as text, found int"),
]
# fmt: on
INSTALLED: Final = [
    Row(
        "a config of an installed type that has none",
        lambda: InstalledNode("control.read_text").config(encoding="utf-8"),
        "control.read_text: has no config",
    ),
]
ROWS: Final = [*TYPES, *POLICIES, *INSTALLED]
