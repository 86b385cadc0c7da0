"""Node types: a function with its ports and config (S1.2, S1.3)."""

from __future__ import annotations

import datetime as dt
import functools
import gc
import weakref
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dataflow import Config, Flow, FlowInvalid, Maybe, Port, Ports, Signal
from dataflow.nodetype import NodeType, derive, opaque_type
from dataflow.policy import Policy
from dataflow.ports import MISSING, InPort, OutPort, PortKind
from dataflow.signature import Shape


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


class WithOut(NamedTuple):
    out: int


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


def blocking(a: int) -> int:
    return a


async def with_out() -> WithOut: ...  # type: ignore[empty-body]


async def with_all_mistakes(  # type: ignore[empty-body]
    a: Style,
    b: Style,
    c: Nowhere,  # type: ignore[name-defined]  # noqa: F821 - as users may
    **more: object,
) -> WithOut: ...


def test_a_type_has_the_ports_of_its_function() -> None:
    made = derive(fetch)
    assert made.id == f"{__name__}:fetch"
    assert (made.name, made.version, made.policy, made.shape) == ("fetch", "1", Policy(), Shape.SINGLE)
    assert made.call is fetch
    assert made.inputs == {
        "url": InPort("url", str, PortKind.DATA),
        "more": InPort("more", str, PortKind.DATA, (), many=True),
        "limit": InPort("limit", int, PortKind.DATA, 3),
    }
    assert made.outputs == {"out": OutPort("out", str, PortKind.DATA)}
    assert not made.is_opaque


def test_a_type_keeps_what_it_is_given() -> None:
    made = derive(blocking, id="web.fetch", version="2", policy=Policy(effect=True), call=fetch)
    assert (made.id, made.version, made.policy, made.call) == ("web.fetch", "2", Policy(effect=True), fetch)


def test_a_type_under_another_id_is_another_type() -> None:
    made = derive(fetch)
    renamed = made.renamed("web.fetch")
    assert (renamed.id, renamed.name, renamed.inputs) == ("web.fetch", "fetch", made.inputs)
    assert made.id == f"{__name__}:fetch"
    assert renamed != made


def test_types_are_equal_only_to_themselves() -> None:
    made = derive(fetch)
    assert made == made
    assert derive(fetch) != made


@pytest.mark.parametrize(
    ("function", "problems"),
    [
        (blocking, ["blocking is no async function: write `async def`, or `@threaded` for code that blocks"]),
        (len, ["len is no async function: write `async def`, or `@threaded` for code that blocks"]),
        (3, ["int is no async function: write `async def`, or `@threaded` for code that blocks"]),
        (opened, ["opened: **values needs ports=, a function of the config that names its ports"]),
        (with_out, ["with_out: the result's field 'out' has the name of the whole; rename it"]),
        (
            with_all_mistakes,
            [
                (
                    "with_all_mistakes: annotation 'Nowhere' of 'c' cannot be resolved "
                    "(name 'Nowhere' is not defined); it must be importable from the function's module"
                ),
                "with_all_mistakes: 'a' and 'b' are both config; a node has one config",
                "with_all_mistakes: **more needs ports=, a function of the config that names its ports",
                "with_all_mistakes: the result's field 'out' has the name of the whole; rename it",
            ],
        ),
    ],
)
def test_what_is_no_node_function_is_refused_with_all_its_problems(
    function: Any, problems: list[str]
) -> None:
    with pytest.raises(FlowInvalid) as caught:
        derive(function)
    assert list(caught.value.problems) == problems


def test_a_function_without_a_signature_is_refused() -> None:
    with pytest.raises(FlowInvalid) as caught:
        derive(max, call=max)
    assert caught.value.problems == (
        "max: its ports cannot be read: no signature found for builtin <built-in function max>",
    )


def test_a_result_whose_fields_cannot_be_resolved_is_refused() -> None:
    class Unresolved(NamedTuple):
        a: Nowhere  # type: ignore[name-defined]  # noqa: F821 - as users may

    async def function() -> int: ...  # type: ignore[empty-body]

    function.__annotations__["return"] = Unresolved
    with pytest.raises(FlowInvalid) as caught:
        derive(function)
    assert caught.value.problems == ("function: its ports cannot be read: name 'Nowhere' is not defined",)


def test_a_function_is_let_go_with_the_flow_that_used_it() -> None:
    def used_once() -> weakref.ref[Callable[..., Any]]:
        async def local(x: int) -> int:
            return x

        with Flow() as flow:
            flow.add(local, x=1)
        return weakref.ref(local)

    gone = used_once()
    gc.collect()
    assert gone() is None


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
        (styled, Wanted(path="x"), False, ["config 'style' must be a Style, found Wanted"]),
        (styled, 3, False, ["config 'style' must be a Style, found int"]),
        (styled, None, False, ["config 'style' must be a Style, found NoneType"]),
        (wanting, MISSING, False, ["config path: Field required"]),
        (wanting, {}, True, ["config path: Field required"]),
        (
            wanting,
            {"path": "x", "tags": ["a", 3], "more": 1},
            True,
            [
                "config tags.1: Input should be a valid string",
                "config more: Extra inputs are not permitted",
            ],
        ),
        (
            styled,
            {"words": "many"},
            False,
            ["config words: Input should be a valid integer, unable to parse string as an integer"],
        ),
        (styled, {"words": "3"}, True, ["config words: Input should be a valid integer"]),
    ],
)
def test_a_config_that_does_not_fit_is_told(
    function: Callable[..., Any], given: Any, from_json: bool, problems: list[str]
) -> None:
    assert derive(function).read_config(given, from_json) == (None, problems)


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
        (lambda style: {"y": style}["x"], opened, "ports= failed with KeyError: 'x'"),
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


def test_an_opaque_type_is_known_by_id_only() -> None:
    made = opaque_type("shots.ocr")
    assert (made.id, made.is_opaque, made.inputs, made.outputs) == ("shots.ocr", True, {}, {})


async def test_an_opaque_type_is_never_called() -> None:
    with pytest.raises(AssertionError, match="never run"):
        await opaque_type("shots.ocr").call()


def test_a_partial_function_has_the_type_of_its_function() -> None:
    made = derive(functools.partial(fetch, limit=5))
    assert (made.id, made.name) == (f"{__name__}:fetch", "fetch")
    assert made.inputs["limit"].default == 5
