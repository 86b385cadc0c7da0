"""What waits for what, shown with gates (S2.4, S4.1, S4.6, S5.3, S6.1, S6.5, S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio import Event

from dataflow import Event as Reported
from dataflow import Flow, collect, each, fallback, gather, merge, node
from tests.behaviour.nodes import add, gated, ident, inc, listed, one, src, total

Heard = Callable[[Reported], None]


def opens(gate: Event, path: str) -> Heard:
    def look(event: Reported) -> None:
        if (event.path, event.kind) == (path, "node_finished"):
            gate.set()

    return look


async def play(flow: Flow, on: Heard = lambda _: None, **inputs: Any) -> tuple[list[str], dict[str, Any]]:
    """Return which nodes ended, in order, and the outputs; `on` sees every event as it comes."""
    order = []
    async with flow.start(**inputs) as run:
        async for event in run.events():
            if event.kind == "node_finished":
                order.append(event.path)
            on(event)
        return order, dict((await run).outputs)


async def test_no_hidden_step_barrier() -> None:
    """B06"""
    gate = Event()
    with Flow("B06") as f:
        a = f.add(node(one).with_(name="a"))
        b = f.add(node(inc).with_(name="b"), x=a.out)
        f.add(gated(gate, "c"), x=a.out)
        f.add(node(inc).with_(name="d"), x=b.out)
    assert (await play(f, opens(gate, "d")))[0] == ["a", "b", "d", "c"]


async def test_no_node_starts_before_all_its_ports_have_settled() -> None:
    def after(f: Flow, quick: Any, slow: Any) -> None:
        f.after(f.add(node(src).with_(name="last"), x=quick.out), slow.done)

    readers: list[Callable[[Flow, Any, Any], object]] = [
        lambda f, quick, slow: f.add(node(add).with_(name="last"), x=quick.out, y=slow.out),
        lambda f, quick, slow: f.add(node(listed).with_(name="last"), quick.out, slow.out),
        lambda f, quick, slow: f.add(node(ident).with_(name="last"), x=gather(quick.out, slow.out)),
        after,
    ]
    for wire in readers:
        gate = Event()
        with Flow() as f:
            slow, quick = f.add(gated(gate), x=1), f.add(src, x=2)
            f.add(ident, x=quick.out)
            wire(f, quick, slow)
        assert (await play(f, opens(gate, "ident")))[0] == ["src", "ident", "slow", "last"]


async def test_joins_wait_for_what_they_need_and_no_more() -> None:
    """A merge waits for earlier edges, not for later ones; a fallback only for what it needs."""
    joins: list[tuple[Callable[[Any, Any], Any], str, list[str], int]] = [
        (lambda quick, slow: merge(quick, slow), "ident", ["src", "ident", "slow"], 2),
        (lambda quick, slow: merge(slow, quick), "src", ["src", "slow", "ident"], 1),
        (lambda quick, slow: fallback(quick, slow), "ident", ["src", "ident", "slow"], 2),
    ]
    for join, opener, order, value in joins:
        gate = Event()
        with Flow() as f:
            quick, slow = f.add(src, x=2), f.add(gated(gate), x=1)
            f.output("o", f.add(ident, x=join(quick.out, slow.out)).out)
        assert await play(f, opens(gate, opener)) == (order, {"o": value})


async def test_items_in_any_order_of_completion_are_collected_in_order() -> None:
    """B12a"""
    left = [Event() for _ in range(6)]
    left[5].set()

    async def square(item: list[int]) -> int:
        x, place = item
        await left[place + 1].wait()
        left[place].set()
        return x * x

    with Flow("B12") as f:
        f.output("o", collect(f.add(square, item=each(f.input("items", list[list[int]]))).out))
    items = [[x, place] for place, x in enumerate((5, 1, 4, 2, 3))]
    order, outputs = await play(f, items=items)
    assert outputs == {"o": [25, 1, 16, 4, 9]}
    assert order == [*(f"square[{place}]" for place in (4, 3, 2, 1, 0)), "square"]


async def test_a_collected_list_settles_as_soon_as_the_ports_it_collects() -> None:
    gate = Event()
    with Flow() as f:
        squared = f.add(inc, x=each(f.input("xs", list[int])))
        f.output("slow", collect(f.add(gated(gate), x=squared.out).out))
        f.output("sum", f.add(total, xs=collect(squared.out)).out)
    order, outputs = await play(f, opens(gate, "total"), xs=[1, 2])
    assert order.index("total") < order.index("inc[0]/slow") < order.index("inc")
    assert outputs == {"sum": 5, "slow": [2, 3]}


async def test_what_only_next_values_need_starts_as_soon_as_the_test_has_a_value() -> None:
    gate = Event()
    with Flow() as f:
        with f.loop(limit=3) as it:
            v = it.carry(0)
            f.add(gated(gate), x=v.out)
            graded = f.add(src, x=v.out)
            it.until(graded.out, lambda x: x >= 1)
            v.next(f.add(inc, x=graded.out).out)
        f.output("v", v.final)
    order, outputs = await play(f, opens(gate, "loop[0]/inc"))
    assert order[:3] == ["loop[0]/src", "loop[0]/inc", "loop[0]/slow"]
    assert outputs == {"v": 1}


async def test_rounds_do_not_overlap() -> None:
    """A node that nobody reads holds the next round."""
    gate = Event()
    with Flow() as f:
        with f.loop(limit=2) as it:
            v = it.carry(0)
            f.add(gated(gate), x=v.out)
            step = f.add(inc, x=v.out)
            it.until(step.out, lambda _: False)
            v.next(step.out)
        f.output("o", it.result(step.out))
        f.add(node(src).with_(name="outside"), x=f.add(node(src).with_(name="before"), x=1).out)
    order, _ = await play(f, opens(gate, "outside"))
    assert order.index("loop[0]/inc") < order.index("loop[0]/slow") < order.index("loop[1]/inc")
    assert order.index("outside") < order.index("loop[0]/slow")
