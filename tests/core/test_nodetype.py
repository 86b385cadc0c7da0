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
from tests.support.codes import codes


class Style(Config):
    words: int = 10


class WithOut(NamedTuple):
    out: int


async def fetch(url: str, *more: str, limit: int = 3) -> str:
    return url


def blocking(a: int) -> int:
    return a


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


def test_types_are_equal_only_to_themselves() -> None:
    made = derive(fetch)
    renamed = made.renamed("web.fetch")
    assert (renamed.id, renamed.name, renamed.inputs) == ("web.fetch", "fetch", made.inputs)
    assert made.id == f"{__name__}:fetch"
    assert made == made
    assert made not in (renamed, derive(fetch))


def test_what_is_not_a_node_function_is_refused_with_all_its_problems() -> None:
    class Unresolved(NamedTuple):
        a: Nowhere  # type: ignore[name-defined]  # noqa: F821 - as users may

    async def unresolved() -> int: ...  # type: ignore[empty-body]

    unresolved.__annotations__["return"] = Unresolved
    cases: list[tuple[Any, list[str]]] = [
        (len, ["DF0401 len"]),
        (3, ["DF0401 int"]),
        (unresolved, ["DF0405 unresolved"]),
        (
            with_all_mistakes,
            [
                "DF0404 with_all_mistakes.c",
                "DF0407 with_all_mistakes",
                "DF0406 with_all_mistakes",
                "DF0408 with_all_mistakes",
            ],
        ),
    ]
    for function, problems in cases:
        with pytest.raises(FlowInvalid) as caught:
            derive(function)
        assert (codes(caught.value), caught.value.what) == (problems, "node type")
    with pytest.raises(FlowInvalid) as caught:
        derive(max, call=max)
    assert codes(caught.value) == ["DF0405 max"]


def test_an_output_named_like_a_port_of_every_node_is_refused() -> None:
    async def function() -> Any: ...

    make: Any = TypedDict
    for name in ("$done", "$error"):
        function.__annotations__["return"] = make("Returned", {name: int})
        with pytest.raises(FlowInvalid, match="DF0408") as caught:
            derive(function)
        assert caught.value.what == "node type"
        made = derive(fetch, ports=lambda _: Ports(outputs={name: int}))  # noqa: B023 - called here
        with pytest.raises(FlowInvalid, match="DF0408") as caught:
            made.configured(None)
        assert caught.value.what == "node type"


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


async def test_an_opaque_type_is_known_by_its_id_only_and_never_called() -> None:
    made = opaque_type("shots.ocr")
    assert (made.id, made.is_opaque, made.inputs, made.outputs) == ("shots.ocr", True, {}, {})
    with pytest.raises(AssertionError):
        await made.call()


def test_a_partial_function_has_the_type_of_its_function() -> None:
    made = derive(functools.partial(fetch, limit=5))
    assert (made.id, made.name) == (f"{__name__}:fetch", "fetch")
    assert made.inputs["limit"].default == 5
