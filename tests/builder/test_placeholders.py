"""While a flow is wired a port has no value, and every use as one is refused with advice (S20)."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any, TypedDict

import pytest

from dataflow import Flow, PortMisuse, merge
from dataflow.builder.sources import PortRef
from tests.behaviour.flow_parts import split
from tests.support.codes import codes

BRANCH = "decide with f.when(port, predicate) or inside a node"
NODE = "do it inside a node and wire the port into it"
EACH = (
    "wire each(port) into a node to run it once per item; "
    "of a result with several fields name each: step.out.title"
)
AWAIT = "a port is wired, not awaited; its value is in the result of the run"
ITEM = "give the node a result with named fields, or take the item inside a node"


class Counts(TypedDict):
    words: int


async def count(doc: str) -> Counts:
    return {"words": len(doc)}


def port() -> Any:
    return Flow("f").add(split, doc="text").out.title


def misuse(use: Callable[[Any], object], found: Any) -> PortMisuse:
    with pytest.raises(PortMisuse) as caught:
        use(found)
    return caught.value


BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod"
SIGNS = ["==", "!=", "<", "<=", ">", ">="]
#: The special methods of each use of a value, without underscores, and the advice.
USES = [
    ("bool", "bool", BRANCH),
    *((sign, name, BRANCH) for sign, name in zip(SIGNS, ["eq", "ne", "lt", "le", "gt", "ge"], strict=True)),
    ("in", "contains", BRANCH),
    ("iteration", "iter aiter", EACH),
    *((name, name, NODE) for name in ("len", "str", "int", "float", "index")),
    ("an f-string", "format", NODE),
    ("a call", "call", NODE),
    ("with", "enter exit aenter aexit", NODE),
    ("await", "await", AWAIT),
    ("[...]", "getitem setitem delitem", ITEM),
    ("arithmetic", f"{BINARY} r{BINARY.replace(' ', ' r')}", NODE),
    ("arithmetic", "neg pos abs invert round floor ceil trunc", NODE),
]


def test_using_a_port_or_a_join_as_a_value_is_refused() -> None:
    for use, methods, advice in USES:
        for method in methods.split():
            for found, name in ((port(), "'split.title'"), (merge("a", "b"), "merge(...)")):
                error = misuse(operator.methodcaller(f"__{method}__", 1), found)
                assert (error.port, error.use) == (name, use)
                assert error.advice.startswith(advice.partition(";")[0])
                assert codes(error) == ["DF0201 " + name.strip("'")]


def test_the_keys_of_a_typed_dict_are_ports() -> None:
    flow = Flow("f")
    assert repr(flow.add(count, doc="text").out["words"]) == "'count.words'"
    others: list[Any] = [
        flow.add(count, doc="text").out["words"],
        flow.add(split, doc="text").out,
        flow.input("x", str),
    ]
    for found in others:
        with pytest.raises(PortMisuse):
            found["words"]
    whole: Any = flow.add(count, doc="text").out
    with pytest.raises(PortMisuse):
        whole[0]


def test_a_port_can_be_copied_with_the_flow_and_has_no_private_attributes() -> None:
    assert isinstance(copy.copy(port()), PortRef)
    assert not any(hasattr(found, "_private") for found in (port(), merge("a", "b")))
