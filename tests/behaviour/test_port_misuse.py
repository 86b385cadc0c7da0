"""A port has no value while a flow is wired; every use as one is refused with advice (S20)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import pytest

from dataflow import Flow, PortMisuse, collect, each, fallback, gather, merge
from tests.behaviour.flow_parts import Parts, inc, split

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


@pytest.mark.parametrize("port", [an_input, an_output, a_field, an_exit, a_signal, an_item, a_join])
@pytest.mark.parametrize(("use", "advice"), USES.values(), ids=USES)
def test_a_port_used_as_a_value_is_refused_with_advice(
    port: Callable[[Flow], Any], use: Use, advice: str
) -> None:
    value = port(Flow())
    with pytest.raises(PortMisuse, match="has no value while the flow is wired") as raised:
        use(value)
    assert advice in str(raised.value)
    assert repr(value) in str(raised.value)


async def test_awaiting_a_port_is_refused_with_advice() -> None:
    port: Any = Flow().input("x", int)
    with pytest.raises(PortMisuse, match="no value while the flow is wired"):
        await port


def test_a_port_may_be_kept_and_shown() -> None:
    f = Flow()
    port = f.input("x", int)
    assert repr(port) == "'$in.x'"
    assert f"{port!r}" == "'$in.x'"
    assert len({port, f.add(inc, x=1).out}) == 2


@pytest.mark.parametrize("expression", [each, collect, gather, merge, lambda port: fallback(port, 1)])
def test_a_source_never_reaches_into_a_value(expression: Callable[[Any], Any]) -> None:
    f = Flow()
    value = expression(f.input("parts", Parts))
    with pytest.raises(PortMisuse, match=r"'title'.* a source never reaches into a value"):
        _ = value.title
    with pytest.raises(PortMisuse, match=r"'title'.* a source never reaches into a value"):
        _ = f.input("others", Parts).title


@pytest.mark.parametrize("name", ["title", "n", "output"])
def test_a_field_of_a_step_is_refused_with_where_it_is(name: str) -> None:
    step = Flow().add(split, doc="x")
    with pytest.raises(PortMisuse) as raised:
        getattr(step, name)
    assert str(raised.value).endswith(
        f"port <step split> has no value while the flow is wired, so it cannot be used with the attribute "
        f"{name!r}; a field of the result is step.out.{name}"
    )
    assert not hasattr(step, "_private")


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


@pytest.mark.parametrize(
    "value",
    [a_step, a_when, a_switch, a_carry, a_list_of_ports, a_nested_list_of_ports],
    ids=lambda fn: fn.__name__,
)
@pytest.mark.parametrize("place", ["a port", "a join", "an output"])
def test_what_holds_ports_is_no_constant(value: Callable[[Flow], Any], place: str) -> None:
    """It would reach the node as an object that means nothing to it."""
    f = Flow()
    given = value(f)
    match place:
        case "a port":
            f.add(anything, x=given)
        case "a join":
            f.add(anything, x=merge(given, 1))
        case "an output":
            f.output("o", given)
    assert len(f.check()) == 1
    assert ("output 'o'" if place == "an output" else "anything.x") in f.check()[0]
