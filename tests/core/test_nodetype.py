"""Node types: a function with its ports and config (S1.2, S1.3)."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import pytest

from dataflow import Config, Flow, FlowInvalid
from dataflow.core.nodetype import derive, opaque_type
from dataflow.core.policy import Policy
from dataflow.core.ports import InPort, OutPort, PortKind, Ports
from dataflow.core.signature import Shape


class Style(Config):
    words: int = 10


class WithOut(NamedTuple):
    out: int


async def fetch(url: str, *more: str, limit: int = 3) -> str:
    return url


async def opened(style: Style, first: int = 0, *rest: int, **values: object) -> Any: ...


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
        (blocking, ["blocking is no async function: use `async def`, or @threaded for code that blocks"]),
        (len, ["len is no async function: use `async def`, or @threaded for code that blocks"]),
        (3, ["int is no async function: use `async def`, or @threaded for code that blocks"]),
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
    assert str(caught.value).startswith("node type ")


def test_a_function_without_a_signature_is_refused() -> None:
    with pytest.raises(FlowInvalid) as caught:
        derive(max, call=max)
    assert str(caught.value).startswith("node type 'max' has 1 problem:")
    assert caught.value.problems == (
        "max: its ports cannot be read: no signature found for builtin <built-in function max>",
    )


@pytest.mark.parametrize("name", ["$done", "$error"])
def test_an_output_named_like_a_port_of_every_node_is_refused(name: str) -> None:
    async def function() -> Any: ...

    make: Any = TypedDict
    function.__annotations__["return"] = make("Returned", {name: int})
    with pytest.raises(FlowInvalid) as caught:
        derive(function)
    assert caught.value.what == "node type"
    assert f"every node has a port {name!r}; rename the output" in caught.value.problems[0]


@pytest.mark.parametrize("name", ["$done", "$error"])
def test_a_config_that_names_an_output_like_a_port_of_every_node_is_refused(name: str) -> None:
    made = derive(fetch, ports=lambda _: Ports(outputs={name: int}))
    with pytest.raises(FlowInvalid, match=r"rename the output") as caught:
        made.configured(None)
    assert caught.value.what == "node type"


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


def test_an_opaque_type_is_known_by_id_only() -> None:
    made = opaque_type("shots.ocr")
    assert (made.id, made.is_opaque, made.inputs, made.outputs) == ("shots.ocr", True, {}, {})


async def test_an_opaque_type_is_never_called() -> None:
    with pytest.raises(AssertionError, match="a flow with opaque types never"):
        await opaque_type("shots.ocr").call()


def test_a_partial_function_has_the_type_of_its_function() -> None:
    made = derive(functools.partial(fetch, limit=5))
    assert (made.id, made.name) == (f"{__name__}:fetch", "fetch")
    assert made.inputs["limit"].default == 5
