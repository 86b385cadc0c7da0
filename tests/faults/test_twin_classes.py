"""F-I06: a mismatch of two classes of one name tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from dataflow import Flow, FlowInvalid
from dataflow.types.shapes import type_names


def point(module: str = "") -> Any:
    @dataclass
    class Point:
        x: int = 0

    if module:
        Point.__module__ = ModuleType(module).__name__
        Point.__qualname__ = "Point"
    return Point


def taking(kind: Any) -> Any:
    async def use(p: Any) -> int:
        return 1

    use.__annotations__["p"] = kind
    return use


def giving(kind: Any, value: Any = None) -> Any:
    async def make(x: int) -> Any:
        return value

    make.__annotations__["return"] = kind
    return make


NEW: Any = point()
OLD: Any = point()
SHOP: Any = point("shop")
STORE: Any = point("store")


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (OLD, NEW),
        (SHOP, STORE),
        (list[OLD], list[NEW]),
        (dict[str, OLD | None], dict[str, NEW]),
        (list[SHOP], STORE),
    ],
)
def test_types_of_edges_have_different_names(expected: Any, found: Any) -> None:
    flow = Flow("f")
    flow.output("o", flow.add(taking(expected), p=flow.add(giving(found), x=1).out).out)
    [problem] = flow.check()
    assert problem.code == "DF0308"
    assert problem.expected != problem.found
    names = [problem.expected, problem.found]
    if expected in (SHOP, list[SHOP]):
        assert [module in name for module, name in zip(("shop", "store"), names, strict=True)] == [True, True]
    else:
        assert "another class Point" in problem.found


def test_constants_inputs_and_results_say_so_too() -> None:
    with Flow("f") as flow:
        flow.output("o", flow.add(taking(OLD), p=flow.input("p", OLD)).out)
    with pytest.raises(FlowInvalid) as refused:
        flow.run_sync(p=NEW(1))
    assert "another class Point" in refused.value.problems[0].found
    constant = Flow("f")
    constant.output("o", constant.add(taking(OLD), p=NEW(1)).out)
    assert "another class Point" in constant.check()[0].found


def test_other_types_keep_their_names() -> None:
    assert type_names(list[int], list[str]) == ("list[int]", "list[str]")
    assert type_names(OLD, OLD | None) == ("Point", "Point | None")
    assert type_names(int, Any) == ("int", "Any")
