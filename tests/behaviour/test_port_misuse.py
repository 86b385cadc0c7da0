"""A port has no value while a flow is wired; every use as one is refused with advice (S20)."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

import pytest

from dataflow import Flow, PortMisuse, collect, each, fallback, gather, merge
from tests.behaviour.flow_parts import Parts, inc, split
from tests.support.codes import codes

Use = Callable[[Any], object]


async def anything(x: Any) -> Any:
    return x


def iterate(port: Any) -> None:
    for _ in port:
        pass


def unpack(port: Any) -> None:
    _, *_ = port


#: Uses of a port as a value, by a word of the advice against them.
USES: Final[dict[str, tuple[Use, ...]]] = {
    "f.when": (
        bool,
        lambda port: 1 if port else 2,
        lambda port: port == 1,
        lambda port: 1 == port,  # noqa: SIM300 - the order under test
        lambda port: port < 1,
        lambda port: port >= 1,
        lambda port: max(port, 1),
        lambda port: 1 in port,
    ),
    "each(port)": (
        iterate,
        lambda port: [x for x in port],  # noqa: C416 - as above
        unpack,
        lambda port: print(*port),  # noqa: T201 - as above
        *(list, sum, sorted, iter, aiter),
    ),
    "node": (
        *(str, len, int, float, range, abs, round, math.floor),
        lambda port: f"{port}",
        lambda port: "%s" % port,  # noqa: UP031 - as above
        lambda port: port(1),
        lambda port: port[0],
        lambda port: port + 1,
        lambda port: 1 + port,
        lambda port: port - 1,
        lambda port: port * 2,
        lambda port: port / 2,
        lambda port: port**2,
        lambda port: port @ port,
        lambda port: port << 1,
        lambda port: port & 1,
        lambda port: port | 1,
        lambda port: port ^ 1,
        lambda port: ~port,
        lambda port: -port,
        lambda port: divmod(port, 2),
    ),
}
PORTS: Final[tuple[Callable[[Flow], Any], ...]] = (
    lambda f: f.input("x", int),
    lambda f: f.add(inc, x=1).out,
    lambda f: f.add(split, doc="x").out.title,
    lambda f: f.when(f.input("x", int), lambda x: x > 1).yes,
    lambda f: f.add(inc, x=1).done,
    lambda f: each(f.input("xs", list[int])),
    lambda f: merge(f.input("x", int), 1),
)


def misuse(use: Use, port: Any) -> tuple[str, str]:
    """Return code and place, and the advice, of the error that a use raises."""
    with pytest.raises(PortMisuse) as raised:
        use(port)
    [problem] = codes(raised.value)
    return problem, raised.value.diagnostics[0].hint


def test_a_port_used_as_a_value_is_refused_with_advice() -> None:
    for make in PORTS:
        port = make(Flow())
        for advice, uses in USES.items():
            for use in uses:
                problem, hint = misuse(use, port)
                assert problem == f"DF0201 {repr(port).strip(chr(39))}"
                assert advice in hint


async def test_awaiting_a_port_is_refused() -> None:
    port: Any = Flow().input("x", int)
    with pytest.raises(PortMisuse, match=r"DF0201 \$in\.x:"):
        await port


def test_a_port_may_be_kept_and_shown() -> None:
    f = Flow()
    port = f.input("x", int)
    assert (repr(port), f"{port!r}") == ("'$in.x'", "'$in.x'")
    assert len({port, f.add(inc, x=1).out}) == 2


def test_a_source_never_reaches_into_a_value() -> None:
    expressions: tuple[Use, ...] = (each, collect, gather, merge, lambda port: fallback(port, 1))
    for wrap in expressions:
        value = wrap(Flow().input("parts", Parts))
        assert misuse(lambda port: port.title, value)[1] == "a source never reaches into a value"
    port = Flow().input("parts", Parts)
    assert "a source never reaches into a value" in misuse(lambda port: port.title, port)[1]


def test_a_field_of_a_step_is_refused_with_where_it_is() -> None:
    step = Flow().add(split, doc="x")
    for name in ("title", "n", "output"):
        problem, hint = misuse(attrgetter(name), step)
        expected = f"a field of the result is step.out.{name}, an input for connect the text 'split.{name}'"
        assert (problem, hint) == ("DF0201 split", expected)
    assert not hasattr(step, "_private")


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
