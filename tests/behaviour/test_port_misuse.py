"""A port has no value while a flow is wired; every use as one is refused with advice (S20)."""

from __future__ import annotations

import math
from collections.abc import Callable
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


USES: Final[dict[str, tuple[Use, str]]] = {
    "bool": (bool, "f.when"),
    "not": (lambda port: not port, "f.when"),
    "and": (lambda port: port and 1, "f.when"),
    "if": (lambda port: 1 if port else 2, "f.when"),
    "==": (lambda port: port == 1, "f.when"),
    "== on the right": (lambda port: 1 == port, "f.when"),  # noqa: SIM300 - the order under test
    "!=": (lambda port: port != 1, "f.when"),
    "<": (lambda port: port < 1, "f.when"),
    "<=": (lambda port: port <= 1, "f.when"),
    ">": (lambda port: port > 1, "f.when"),
    ">=": (lambda port: port >= 1, "f.when"),
    "max": (lambda port: max(port, 1), "f.when"),
    "in": (lambda port: 1 in port, "f.when"),
    "in a list": (lambda port: port in [1, 2], "f.when"),
    "iteration": (iterate, "each(port)"),
    "a comprehension": (lambda port: [x for x in port], "each(port)"),  # noqa: C416 - as above
    "unpacking": (unpack, "each(port)"),
    "star": (lambda port: print(*port), "each(port)"),  # noqa: T201 - as above
    "list": (list, "each(port)"),
    "sum": (sum, "each(port)"),
    "sorted": (sorted, "each(port)"),
    "iter": (iter, "each(port)"),
    "aiter": (aiter, "each(port)"),
    "str": (str, "node"),
    "f-string": (lambda port: f"{port}", "node"),
    "format": (lambda port: f"{port:>3}", "node"),
    "percent": (lambda port: "%s" % port, "node"),  # noqa: UP031 - as above
    "len": (len, "node"),
    "int": (int, "node"),
    "float": (float, "node"),
    "a call": (lambda port: port(1), "node"),
    "item": (lambda port: port[0], "node"),
    "an index": (lambda port: [1, 2][port], "node"),
    "range": (range, "node"),
    "+": (lambda port: port + 1, "node"),
    "+ on the right": (lambda port: 1 + port, "node"),
    "text +": (lambda port: "a" + port, "node"),
    "-": (lambda port: port - 1, "node"),
    "- on the right": (lambda port: 1 - port, "node"),
    "*": (lambda port: port * 2, "node"),
    "/": (lambda port: port / 2, "node"),
    "/ on the right": (lambda port: 2 / port, "node"),
    "//": (lambda port: port // 2, "node"),
    "%": (lambda port: port % 2, "node"),
    "**": (lambda port: port**2, "node"),
    "** on the right": (lambda port: 2**port, "node"),
    "@": (lambda port: port @ port, "node"),
    "<<": (lambda port: port << 1, "node"),
    ">> on the right": (lambda port: 1 >> port, "node"),
    "&": (lambda port: port & 1, "node"),
    "|": (lambda port: port | 1, "node"),
    "^": (lambda port: port ^ 1, "node"),
    "~": (lambda port: ~port, "node"),
    "negative": (lambda port: -port, "node"),
    "abs": (abs, "node"),
    "divmod": (lambda port: divmod(port, 2), "node"),
    "round": (round, "node"),
    "floor": (math.floor, "node"),
}


def an_input(f: Flow) -> Any:
    return f.input("x", int)


def an_output(f: Flow) -> Any:
    return f.add(inc, x=1).out


def a_field(f: Flow) -> Any:
    return f.add(split, doc="x").out.title


def an_exit(f: Flow) -> Any:
    return f.when(f.input("x", int), lambda x: x > 1).yes


def a_signal(f: Flow) -> Any:
    return f.add(inc, x=1).done


def an_item(f: Flow) -> Any:
    return each(f.input("xs", list[int]))


def a_join(f: Flow) -> Any:
    return merge(f.input("x", int), 1)


def test_a_port_used_as_a_value_is_refused_with_advice() -> None:
    for port in (an_input, an_output, a_field, an_exit, a_signal, an_item, a_join):
        value = port(Flow())
        for use, advice in USES.values():
            with pytest.raises(PortMisuse, match="DF0201") as raised:
                use(value)
            assert advice in raised.value.advice
            assert raised.value.port == repr(value)


async def test_awaiting_a_port_is_refused_with_advice() -> None:
    port: Any = Flow().input("x", int)
    with pytest.raises(PortMisuse, match="DF0201"):
        await port


def test_a_port_may_be_kept_and_shown() -> None:
    f = Flow()
    port = f.input("x", int)
    assert repr(port) == "'$in.x'"
    assert f"{port!r}" == "'$in.x'"
    assert len({port, f.add(inc, x=1).out}) == 2


def test_a_source_never_reaches_into_a_value() -> None:
    f = Flow()
    parts: Any = f.input("parts", Parts)
    joins = [each(parts), collect(parts), gather(parts), merge(parts), fallback(parts, 1)]
    step: Any = f.add(split, doc="x")
    for value in (parts, *joins, step):
        for name in ("title", "n", "output"):
            with pytest.raises(PortMisuse, match="DF0201") as raised:
                getattr(value, name)
            assert raised.value.use == f"the attribute {name!r}"
        assert not hasattr(value, "_private")
    with pytest.raises(PortMisuse) as raised:
        _ = step.title
    assert "step.out.title" in raised.value.advice


def a_step(f: Flow) -> Any:
    return f.add(inc, x=1)


def a_when(f: Flow) -> Any:
    return f.when(f.add(inc, x=1).out, lambda x: x > 1)


def a_switch(f: Flow) -> Any:
    return f.switch(f.add(inc, x=1).out, str, ("a", "b"))


def a_carry(f: Flow) -> Any:
    with f.loop(limit=1) as it:
        carried = it.carry(1)
        carried.next(carried.out)
    return carried


def a_list_of_ports(f: Flow) -> Any:
    return [f.add(inc, x=1).out]


def a_nested_list_of_ports(f: Flow) -> Any:
    return {"a": [(f.add(inc, x=1).out,)]}


def test_what_holds_ports_is_no_constant() -> None:
    """It would reach the node as an object that means nothing to it."""
    for value in (a_step, a_when, a_switch, a_carry, a_list_of_ports, a_nested_list_of_ports):
        f = Flow()
        f.add(anything, x=value(f))
        f.add(anything, x=merge(value(f), 1))
        f.output("o", value(f))
        found = [problem.partition(" ") for problem in codes(f.check())]
        assert [place for _, _, place in found] == ["anything.x", "anything_2.x", "outputs.o"]
        assert {code for code, _, _ in found} <= {"DF0216", "DF0217"}
