"""Rows: several edges on one port, and the explicit joins (S5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dataflow import Flow, Maybe, fallback, gather, merge, node
from tests.behaviour.nodes import counted, ident, inc, listed, listed_with, nothing, src
from tests.behaviour.table import Case


@counted
async def none() -> Maybe[object]:
    return None


def many(live: str, *, beside: bool = False) -> Flow:
    """Wire nodes a, b, c, d in this order to a many-port; those named are live."""
    with Flow() as f:
        taken = f.when(f.input("x", int), lambda _: True)
        edges = [
            f.add(node(src).with_(name=name), x=taken.yes if name in live else taken.no).out
            for name in "abcd"
        ]
        reader = f.add(listed_with, 9, *edges) if beside else f.add(listed, *edges)
        f.output("o", reader.out)
    return f


def many_in_declared_order() -> Flow:
    """Give a many-port its edges in another order than that of the nodes."""
    with Flow() as f:
        x = f.input("x", int)
        first, second, third = f.add(src, x=x), f.add(inc, x=x), f.add(ident, x=30)
        f.output("o", f.add(listed, third.out, first.out, second.out, first.out, 7).out)
    return f


def two_live() -> Flow:
    """Let two edges that need not both be live both be live."""
    with Flow() as f:
        x = f.input("x", int)
        first, second = f.when(x, lambda v: v > 0), f.when(x, lambda v: v > 1)
        f.connect("when_2.yes", "inc.x")
        f.output("o", f.add(inc, x=first.yes).out)
        f.output("other", f.add(src, x=second.no).out)
    return f


def joined(join: Callable[..., Any], *sources: Callable[[Flow], Any], errors: Any = "fail_fast") -> Flow:
    """Join what the sources give, and read it."""
    with Flow() as f:
        f.output("o", f.add(ident, x=join(*(source(f) for source in sources))).out)
    return f.using(errors=errors)


def live(value: int) -> Callable[[Flow], Any]:
    return lambda f: f.add(src, x=value).out


def constant(value: object) -> Callable[[Flow], Any]:
    return lambda _: value


def dead(f: Flow) -> Any:
    return f.add(nothing).out


def a_none(f: Flow) -> Any:
    return f.add(none).out


NOT_EMITTED: Final = "nothing: port 'out' not emitted"

JOINS: Final = (
    *(
        Case(
            id=f"a many-port with live edges: {edges}", rule="S5.1", flow=partial(many, edges),
            inputs={"x": 1}, outputs={"o": [1] * len(edges)}, runs={**dict.fromkeys(edges, 1), "listed": 1},
            states=dict.fromkeys(set("abcd") - set(edges), "skipped"), others="done",
        )
        for edges in ("abcd", "a", "bd", "d")
    ),
    Case(
        id="a many-port without a live edge", rule="S5.1", flow=partial(many, ""), inputs={"x": 1}, runs={},
        states={"listed": "skipped"}, why={"listed": ("listed: port 'xs'", "a: port 'x'", "when: exit 'no'")},
    ),
    Case(
        id="a many-port lists in the order of its edges", rule="S5.1", flow=many_in_declared_order,
        inputs={"x": 1}, outputs={"o": [30, 1, 2, 1, 7]}, runs={"src": 1, "inc": 1, "ident": 1, "listed": 1},
    ),
    Case(
        id="two live edges on a one-port", rule="S5.2", flow=two_live, inputs={"x": 2}, status="failed",
        runs={},
        failures=(("inc", "NodeFailed", "DF0811 inc.x:"),),
        states={"inc": "failed", "src": "skipped"},
    ),
    Case(
        id="two edges on a one-port, one of them live", rule="S5.2", flow=two_live, inputs={"x": 1},
        outputs={"o": 2, "other": 1}, runs={"inc": 1, "src": 1},
    ),
    Case(
        id="two edges on a one-port, none of them live", rule="S5.2", flow=two_live, inputs={"x": 0},
        outputs={"other": 0}, runs={"src": 1}, states={"inc": "skipped"},
        why={"inc": ("inc: port 'x'", "when_2: exit 'yes' not taken")},
    ),
    Case(
        id="merge takes the first live one", rule="S5.3", flow=partial(joined, merge, dead, live(2), live(3)),
        outputs={"o": 2}, runs={"nothing": 1, "src": 1, "src_2": 1, "ident": 1}, others="done",
    ),
    Case(
        id="merge of skips", rule="S5.3", flow=partial(joined, merge, dead, dead),
        states={"ident": "skipped"}, runs={"nothing": 1, "nothing_2": 1},
        why={"ident": ("ident: port 'x'", "none of its sources", NOT_EMITTED)},
    ),
    Case(
        id="merge takes a None", rule="S5.3", flow=partial(joined, merge, a_none, live(3)),
        outputs={"o": None}, runs={"none": 1, "src": 1, "ident": 1},
    ),
    Case(
        id="merge of constants", rule="S5.3", flow=partial(joined, merge, constant(0), constant(8)),
        outputs={"o": 0}, runs={"ident": 1},
    ),
    Case(
        id="gather lists the live ones", rule="S5.3", flow=partial(joined, gather, live(2), dead, live(1)),
        outputs={"o": [2, 1]}, runs={"nothing": 1, "src": 1, "src_2": 1, "ident": 1},
    ),
    Case(id="gather of one", rule="S5.3", flow=partial(joined, gather, live(2)), outputs={"o": [2]}),
    Case(
        id="gather of skips", rule="S5.3", flow=partial(joined, gather, dead, dead),
        states={"ident": "skipped"}, runs={"nothing": 1, "nothing_2": 1},
        why={"ident": ("ident: port 'x'", "", NOT_EMITTED)},
    ),
    Case(
        id="fallback to a constant", rule="S5.3", flow=partial(joined, fallback, dead, constant(None)),
        outputs={"o": None}, runs={"nothing": 1, "ident": 1},
    ),
    Case(
        id="fallback that is not needed", rule="S5.3", flow=partial(joined, fallback, live(0), constant(5)),
        outputs={"o": 0}, runs={"src": 1, "ident": 1},
    ),
)  # fmt: skip
