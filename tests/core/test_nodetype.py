"""Node types: a function with its ports and config (S1.2, S1.3)."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from dataflow import Config, Flow, FlowInvalid
from dataflow.core.nodetype import derive, opaque_type
from tests.support.codes import codes


class Style(Config):
    words: int = 10


class WithOut(NamedTuple):
    out: int


async def with_all_mistakes(  # type: ignore[empty-body]
    a: Style,
    b: Style,
    c: Nowhere,  # type: ignore[name-defined]  # noqa: F821 - as users may
    **more: object,
) -> WithOut: ...


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
