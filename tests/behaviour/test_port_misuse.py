"""A port has no value while a flow is wired; every use as one is refused with advice (S20)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any, Final, TypedDict

import pytest

from dataflow import Flow, PortMisuse, collect, each, fallback, gather, merge
from dataflow.builder.sources import PortRef
from tests.behaviour.flow_parts import Parts, inc, split
from tests.support.codes import codes
from tests.support.quick_nodes import anything

Use = Callable[[Any], object]

BRANCH: Final = "decide with f.when(port, predicate) or inside a node"
NODE: Final = "do it inside a node and wire the port into it"
EACH: Final = "wire each(port) into a node to run it once per item"
AWAIT: Final = "a port is wired, not awaited; its value is in the result of the run"
ITEM: Final = "give the node a result with named fields, or take the item inside a node"
BINARY: Final = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod"
SIGNS: Final = ["==", "!=", "<", "<=", ">", ">="]
#: The special methods of each use of a value, without underscores, and the advice.
METHODS: Final = [
    ("bool", "bool", BRANCH),
    *((sign, name, BRANCH) for sign, name in zip(SIGNS, ["eq", "ne", "lt", "le", "gt", "ge"], strict=True)),
    ("in", "contains", BRANCH),
    ("iteration", "iter aiter", EACH),
    *((name, name, NODE) for name in ("len", "str", "int", "float", "index")),
    ("an f-string", "format", NODE), ("a call", "call", NODE), ("with", "enter exit aenter aexit", NODE),
    ("await", "await", AWAIT), ("[...]", "getitem setitem delitem", ITEM),
    ("arithmetic", f"{BINARY} r{BINARY.replace(' ', ' r')}", NODE),
    ("arithmetic", "neg pos abs invert round floor ceil trunc", NODE),
]  # fmt: skip
#: What Python does with a value, of which the method that it calls says nothing.
SYNTAX: Final[list[tuple[str, Use, str]]] = [
    ("bool", lambda port: 1 if port else 2, BRANCH),
    ("==", lambda port: 1 == port, BRANCH),  # noqa: SIM300 - the order under test
    ("<", lambda port: max(port, 1), BRANCH),
    ("iteration", lambda port: print(*port), EACH),  # noqa: T201 - as above
    ("iteration", sorted, EACH),
    ("an f-string", lambda port: f"{port}", NODE),
    ("str", lambda port: "%s" % port, NODE),  # noqa: UP031 - as above
    ("index", range, NODE),
]
USES: Final[list[tuple[str, Use, str]]] = [
    *((use, methodcaller(f"__{name}__", 1), says) for use, names, says in METHODS for name in names.split()),
    *SYNTAX,
]
PORTS: Final[tuple[Callable[[Flow], Any], ...]] = (
    lambda f: f.input("x", int),
    lambda f: f.add(inc, x=1).out,
    lambda f: f.add(split, doc="x").out.title,
    lambda f: f.when(f.input("x", int), lambda x: x > 1).yes,
    lambda f: f.add(inc, x=1).done,
    lambda f: each(f.input("xs", list[int])),
    lambda f: merge(f.input("x", int), 1),
)


def misuse(use: Use, port: Any) -> PortMisuse:
    with pytest.raises(PortMisuse) as raised:
        use(port)
    return raised.value


def test_a_port_used_as_a_value_is_refused_with_advice() -> None:
    for make in PORTS:
        port = make(Flow())
        name = repr(port)
        for use, does, advice in USES:
            error = misuse(does, port)
            assert (error.port, error.use) == (name, use)
            assert error.advice.startswith(advice)
            assert codes(error) == ["DF0201 " + name.strip("'")]


async def test_awaiting_a_port_is_refused() -> None:
    port: Any = Flow().input("x", int)
    with pytest.raises(PortMisuse, match=r"DF0201 \$in\.x:"):
        await port


def test_a_port_may_be_kept_and_shown() -> None:
    f = Flow()
    port = f.input("x", int)
    assert (repr(port), f"{port!r}") == ("'$in.x'", "'$in.x'")
    assert len({port, f.add(inc, x=1).out}) == 2
    assert isinstance(copy.copy(port), PortRef)
    assert not any(hasattr(found, "_private") for found in (port, f.add(inc, x=1), merge("a", "b")))


def hint(use: Use, port: Any) -> str:
    return misuse(use, port).diagnostics[0].hint


def test_a_source_never_reaches_into_a_value() -> None:
    expressions: tuple[Use, ...] = (each, collect, gather, merge, lambda port: fallback(port, 1))
    for wrap in expressions:
        value = wrap(Flow().input("parts", Parts))
        assert hint(lambda port: port.title, value) == "a source never reaches into a value"
    port = Flow().input("parts", Parts)
    assert "a source never reaches into a value" in hint(lambda port: port.title, port)


def test_a_field_of_a_step_is_refused_with_where_it_is() -> None:
    step = Flow().add(split, doc="x")
    for name in ("title", "n", "output"):
        assert codes(misuse(attrgetter(name), step)) == ["DF0201 split"]
        expected = f"a field of the result is step.out.{name}, an input for connect the text 'split.{name}'"
        assert hint(attrgetter(name), step) == expected
    assert not hasattr(step, "_private")


class Counts(TypedDict):
    words: int


async def count(doc: str) -> Counts:
    return {"words": len(doc)}


def test_the_keys_of_a_typed_dict_are_ports() -> None:
    flow = Flow()
    whole: Any = flow.add(count, doc="text").out
    assert repr(whole["words"]) == "'count.words'"
    for found in (whole["words"], flow.add(split, doc="text").out, flow.input("x", str)):
        misuse(lambda port: port["words"], found)
    misuse(lambda port: port[0], whole)


def a_carry(f: Flow) -> Any:
    with f.loop(limit=1) as it:
        carried = it.carry(1)
        carried.next(carried.out)
    return carried


#: Values that contain ports, by the code of the problem.
HOLDERS: Final[dict[str, tuple[Callable[[Flow], Any], ...]]] = {
    "DF0216": (lambda f: f.add(inc, x=1), lambda f: f.when(f.add(inc, x=1).out, lambda x: x > 1), a_carry),
    "DF0217": (
        lambda f: f.switch(f.add(inc, x=1).out, str, ("a", "b")),
        lambda f: [f.add(inc, x=1).out],
        lambda f: {"a": [(f.add(inc, x=1).out,)]},
    ),
}
PLACES: Final[tuple[tuple[str, Callable[[Flow, Any], object]], ...]] = (
    ("anything.x", lambda f, given: f.add(anything, x=given)),
    ("anything.x", lambda f, given: f.add(anything, x=merge(given, 1))),
    ("outputs.o", lambda f, given: f.output("o", given)),
)


def test_what_contains_ports_is_not_a_constant() -> None:
    """It would reach the node as an object that means nothing to it."""
    for code, makers in HOLDERS.items():
        for make in makers:
            for place, wire in PLACES:
                f = Flow()
                wire(f, make(f))
                assert codes(f.check()) == [f"{code} {place}"]
