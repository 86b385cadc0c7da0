"""While a flow is wired a port has no value, and every use as one is refused with advice (S20)."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import pytest

from dataflow import Flow, FlowInvalid, PortMisuse, collect, each, fallback, gather, merge
from dataflow.builder.sources import Expression, PortRef, literally, ports_within
from dataflow.core.wiring import Literally

BRANCH = "decide with f.when(port, predicate) or inside a node"
NODE = "do it inside a node and wire the port into it"
EACH = "wire each(port) into a node to run it once per item"
AWAIT = "a port is wired, not awaited; its value is in the result of the run"
ITEM = "give the node a result with named fields, or take the item inside a node"


class Parts(NamedTuple):
    title: str
    chunks: list[str]


async def split(doc: str) -> Parts:
    return Parts(doc, [doc])


class Counts(TypedDict):
    words: int


async def count(doc: str) -> Counts:
    return {"words": len(doc)}


def port() -> Any:
    return Flow("f").add(split, doc="text").out.title


def itself(items: list[Any]) -> list[Any]:
    items.append(items)
    return items


def misuse(use: Callable[[Any], object], found: Any) -> PortMisuse:
    with pytest.raises(PortMisuse) as caught:
        use(found)
    return caught.value


USES: list[tuple[str, str, Callable[[Any], object]]] = [
    ("bool", BRANCH, bool),
    ("bool", BRANCH, lambda port: 1 if port else 2),
    ("bool", BRANCH, operator.not_),
    ("bool", BRANCH, lambda port: port and 1),
    ("==", BRANCH, lambda port: port == "x"),
    ("==", BRANCH, lambda port: "x" == port),  # noqa: SIM300 - the other way round
    ("!=", BRANCH, lambda port: port != "x"),
    ("<", BRANCH, lambda port: port < 1),
    ("<=", BRANCH, lambda port: port <= 1),
    (">", BRANCH, lambda port: port > 1),
    (">=", BRANCH, lambda port: port >= 1),
    ("<", BRANCH, lambda port: sorted([port, port])),
    ("in", BRANCH, lambda port: "x" in port),
    ("iteration", EACH, list),
    ("iteration", EACH, lambda port: [one for one in port]),  # noqa: C416 - a comprehension iterates
    ("iteration", EACH, lambda port: aiter(port)),
    ("len", NODE, len),
    ("str", NODE, str),
    ("an f-string", NODE, lambda port: f"{port}"),
    ("an f-string", NODE, lambda port: f"{port:>10}"),
    ("an f-string", NODE, "{}".format),
    ("a call", NODE, lambda port: port("x")),
    ("[...]", ITEM, lambda port: port["x"]),
    ("[...]", ITEM, lambda port: port[0]),
    ("[...]", ITEM, lambda port: operator.setitem(port, 0, "x")),
    ("[...]", ITEM, lambda port: operator.delitem(port, 0)),
    ("await", AWAIT, lambda port: port.__await__()),
    ("with", NODE, lambda port: port.__enter__()),
    ("with", NODE, lambda port: port.__aenter__()),
    ("int", NODE, int),
    ("float", NODE, float),
    ("index", NODE, operator.index),
    ("index", NODE, lambda port: [1, 2][port]),
    *(
        ("arithmetic", NODE, use)
        for sign in (
            operator.add,
            operator.sub,
            operator.mul,
            operator.truediv,
            operator.floordiv,
            operator.mod,
            operator.pow,
            operator.matmul,
            operator.and_,
            operator.or_,
            operator.xor,
            operator.lshift,
            operator.rshift,
            divmod,
        )
        for use in (
            lambda port, sign=sign: sign(port, 2),
            lambda port, sign=sign: sign(2, port),
        )
    ),
    *(
        ("arithmetic", NODE, use)
        for use in (
            operator.neg,
            operator.pos,
            operator.invert,
            abs,
            round,
            math.floor,
            math.ceil,
            math.trunc,
        )
    ),
]


@pytest.mark.parametrize(("use", "advice", "call"), USES)
def test_using_a_port_as_a_value_is_refused(use: str, advice: str, call: Callable[[Any], object]) -> None:
    error = misuse(call, port())
    assert (error.port, error.use) == ("'split.title'", use)
    assert error.problems == (
        f"port 'split.title' has no value while the flow is wired, so it cannot be used with {use}; {advice}",
    )


@pytest.mark.parametrize(("use", "advice", "call"), USES)
def test_using_an_expression_as_a_value_is_refused(
    use: str, advice: str, call: Callable[[Any], object]
) -> None:
    error = misuse(call, merge("a", "b"))
    assert (error.port, error.use) == ("merge(...)", use)
    assert error.problems[0].endswith(advice)


def test_a_misuse_is_a_problem_of_the_flow() -> None:
    assert isinstance(misuse(bool, port()), FlowInvalid)


def test_a_field_of_a_result_is_a_port_of_its_own() -> None:
    parts = Flow("f").add(split, doc="text")
    assert repr(parts.out) == "'split.out'"
    assert repr(parts.out.title) == "'split.title'"


@pytest.mark.parametrize(
    ("reach", "port_text", "attribute"),
    [
        (lambda f: f.add(split, doc="x").out.title.upper, "'split.title'", "upper"),
        (lambda f: f.input("url", str).upper, "'$in.url'", "upper"),
        (lambda f: f.add(split, doc="x").error.message, "'split.$error'", "message"),
    ],
)
def test_a_source_never_reaches_into_a_value(
    reach: Callable[[Flow], object], port_text: str, attribute: str
) -> None:
    with pytest.raises(PortMisuse) as caught:
        reach(Flow("f"))
    assert (caught.value.port, caught.value.use) == (port_text, f"the attribute {attribute!r}")
    assert caught.value.problems[0] == (
        f"port {port_text} has no value while the flow is wired, so it cannot be used with the attribute "
        f"{attribute!r}; a source never reaches into a value; "
        "only a node's `out` has its result's fields as ports"
    )


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


def test_an_expression_has_no_fields() -> None:
    joined: Any = merge("a", "b")
    assert misuse(lambda joined: joined.title, joined).problems[0] == (
        "port merge(...) has no value while the flow is wired, so it cannot be used with the attribute "
        "'title'; a source never reaches into a value"
    )


@pytest.mark.parametrize("make", [port, lambda: merge("a", "b")])
def test_private_attributes_do_not_exist(make: Callable[[], Any]) -> None:
    found = make()
    assert not hasattr(found, "__wrapped__")
    assert not hasattr(found, "_private")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: each(["a"]), "each(...)"),
        (lambda: collect("a"), "collect(...)"),
        (lambda: gather("a", "b"), "gather(...)"),
        (lambda: merge("a", "b"), "merge(...)"),
        (lambda: fallback("a", None), "fallback(...)"),
    ],
)
def test_an_expression_is_named_after_its_function(make: Callable[[], object], text: str) -> None:
    made = make()
    assert isinstance(made, Expression)
    assert repr(made) == text


def test_a_placeholder_can_be_a_key() -> None:
    found = port()
    assert {found: 1}[found] == 1


def test_a_constant_is_wrapped_and_a_placeholder_is_not() -> None:
    found, joined = port(), each([port()])
    assert literally(found) is found
    assert literally(joined) is joined
    constant = literally([1])
    assert isinstance(constant, Literally)
    assert (constant.value, constant.is_json) == ([1], False)


@pytest.mark.parametrize(
    ("wrap", "holds"),
    [
        (lambda port: [port], True),
        (lambda port: ("a", port), True),
        (lambda port: {"a": port}, True),
        (lambda port: {port}, True),
        (lambda port: frozenset({port}), True),
        (lambda port: [[{"a": (port,)}]], True),
        (lambda port: port, True),
        (lambda port: [merge(port, port)], True),
        (lambda port: [Flow().when(port, bool)], True),
        (lambda _port: itself([1]), False),
        (lambda _port: ["a"], False),
        (lambda _port: {}, False),
        (lambda _port: "text", False),
    ],
)
def test_a_list_with_ports_in_it_is_recognised(wrap: Callable[[Any], object], holds: bool) -> None:
    assert ports_within(wrap(port())) is holds


def test_a_port_can_be_copied_with_the_flow() -> None:
    found = port()
    assert isinstance(copy.copy(found), PortRef)
