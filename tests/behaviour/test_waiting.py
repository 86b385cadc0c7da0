"""What waits for what, shown with gates (S2.4, S4.1, S4.6, S5.3, S6.1, S6.5, S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from anyio import Event

from dataflow import Event as Told
from dataflow import Flow, Run, collect, each, fallback, gather, merge, node
from tests.behaviour.nodes import add, ident, inc, listed, one, src, tallying, total


def gated(gate: Event, name: str = "slow") -> Any:
    """Return a node that waits for the gate and passes its input on."""

    async def slow(x: int) -> int:
        await gate.wait()
        return x

    return node(slow).with_(name=name)


async def told(run: Run, on: Callable[[Told], None]) -> list[str]:
    """Return which nodes ended, in order; `on` sees every event as it comes."""
    found = []
    async for event in run.events():
        if event.kind == "node_finished":
            found.append(event.path)
        on(event)
    return found


def opens(gate: Event, path: str, kind: str = "node_finished") -> Callable[[Told], None]:
    """Open a gate when an event of this kind comes from the path."""

    def look(event: Told) -> None:
        if (event.path, event.kind) == (path, kind):
            gate.set()

    return look


async def play(flow: Flow, on: Callable[[Told], None], **inputs: Any) -> tuple[list[str], dict[str, Any]]:
    with tallying():
        async with flow.start(**inputs) as run:
            order = await told(run, on)
            return order, dict((await run).outputs)


async def test_no_hidden_step_barrier() -> None:
    """B06"""
    gate = Event()
    with Flow("B06") as f:
        a = f.add(node(one).with_(name="a"))
        b = f.add(node(inc).with_(name="b"), x=a.out)
        f.add(gated(gate, "c"), x=a.out)
        f.add(node(inc).with_(name="d"), x=b.out)
    order, _ = await play(f, opens(gate, "d"))
    assert order == ["a", "b", "d", "c"]


async def test_two_independent_nodes_run_at_the_same_time() -> None:
    entered = [Event(), Event()]

    async def meet(me: int) -> int:
        entered[me].set()
        await entered[1 - me].wait()
        return me

    with Flow("B06") as f:
        f.output("o", f.add(listed, f.add(meet, me=0).out, f.add(meet, me=1).out).out)
    _, outputs = await play(f, lambda _: None)
    assert outputs == {"o": [0, 1]}


@pytest.mark.parametrize("reader", ["two ports", "many", "gather", "after"])
async def test_no_node_starts_before_all_its_ports_have_settled(reader: str) -> None:
    gate = Event()
    with Flow() as f:
        slow, quick = f.add(gated(gate), x=1), f.add(src, x=2)
        f.add(ident, x=quick.out)
        match reader:
            case "two ports":
                f.add(node(add).with_(name="last"), x=quick.out, y=slow.out)
            case "many":
                f.add(node(listed).with_(name="last"), quick.out, slow.out)
            case "gather":
                f.add(node(ident).with_(name="last"), x=gather(quick.out, slow.out))
            case "after":
                f.after(f.add(node(src).with_(name="last"), x=quick.out), slow.done)
    order, _ = await play(f, opens(gate, "ident"))
    assert order == ["src", "ident", "slow", "last"]


async def test_merge_does_not_wait_for_later_edges() -> None:
    gate = Event()
    with Flow() as f:
        quick, slow = f.add(src, x=2), f.add(gated(gate), x=1)
        f.output("o", f.add(ident, x=merge(quick.out, slow.out)).out)
    order, outputs = await play(f, opens(gate, "ident"))
    assert order == ["src", "ident", "slow"]
    assert outputs == {"o": 2}


async def test_merge_waits_for_earlier_edges() -> None:
    gate = Event()
    with Flow() as f:
        quick, slow = f.add(src, x=2), f.add(gated(gate), x=1)
        f.output("o", f.add(ident, x=merge(slow.out, quick.out)).out)
    order, outputs = await play(f, opens(gate, "src"))
    assert order == ["src", "slow", "ident"]
    assert outputs == {"o": 1}


async def test_fallback_does_not_wait_for_what_it_does_not_need() -> None:
    gate = Event()
    with Flow() as f:
        quick, slow = f.add(src, x=2), f.add(gated(gate), x=1)
        f.output("o", f.add(ident, x=fallback(quick.out, slow.out)).out)
    order, outputs = await play(f, opens(gate, "ident"))
    assert order == ["src", "ident", "slow"]
    assert outputs == {"o": 2}


async def test_items_in_any_order_of_completion_are_collected_in_order() -> None:
    """B12a"""
    left = [Event() for _ in range(6)]
    left[5].set()

    async def square(x: int, place: int) -> int:
        await left[place + 1].wait()
        left[place].set()
        return x * x

    async def placed(items: list[int]) -> list[list[int]]:
        return [[item, place] for place, item in enumerate(items)]

    async def first(xs: list[int]) -> int:
        return xs[0]

    async def last(xs: list[int]) -> int:
        return xs[1]

    with Flow("B12") as f:
        item = each(f.add(placed, items=f.input("items", list[int])).out)
        squared = f.add(square, x=f.add(first, xs=item).out, place=f.add(last, xs=item).out)
        f.output("o", collect(squared.out))
    order, outputs = await play(f, lambda _: None, items=[5, 1, 4, 2, 3])
    assert outputs == {"o": [25, 1, 16, 4, 9]}
    assert [path for path in order if path.endswith("/square")] == [
        f"first[{place}]/square" for place in (4, 3, 2, 1, 0)
    ]


async def test_a_map_opens_without_waiting_for_outer_values() -> None:
    gate = Event()
    with Flow() as f:
        slow = f.add(gated(gate), x=10)
        first = f.add(inc, x=each(f.input("xs", list[int])))
        f.output("o", collect(f.add(add, x=first.out, y=slow.out).out))
    order, outputs = await play(f, opens(gate, "inc[1]"), xs=[1, 2])
    assert order.index("inc[1]") < order.index("slow") < order.index("inc[0]/add")
    assert outputs == {"o": [12, 13]}


async def test_a_collected_list_settles_as_soon_as_its_own_ports_have() -> None:
    gate = Event()
    with Flow() as f:
        squared = f.add(inc, x=each(f.input("xs", list[int])))
        f.output("slow", collect(f.add(gated(gate), x=squared.out).out))
        f.output("sum", f.add(total, xs=collect(squared.out)).out)
    order, outputs = await play(f, opens(gate, "total"), xs=[1, 2])
    assert order.index("total") < order.index("inc[0]/slow") < order.index("inc")
    assert outputs == {"sum": 5, "slow": [2, 3]}


async def test_what_only_next_values_need_starts_as_soon_as_the_test_tells() -> None:
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


async def test_a_round_begins_without_waiting_for_loop_constants() -> None:
    gate = Event()
    with Flow() as f:
        slow = f.add(gated(gate), x=10)
        with f.loop(limit=2) as it:
            v = it.carry(0)
            first = f.add(inc, x=v.out)
            second = f.add(add, x=first.out, y=slow.out)
            it.until(second.out, lambda _: False)
            v.next(second.out)
        f.output("o", it.result(second.out))
    order, outputs = await play(f, opens(gate, "loop[0]/inc"))
    assert order[:3] == ["loop[0]/inc", "slow", "loop[0]/add"]
    assert outputs == {"o": 22}


async def test_a_branch_inside_a_loop_waits_only_for_its_own_inputs() -> None:
    """The test is known while another node of the round still runs; no further round follows it."""
    gate = Event()
    with Flow() as f:
        with f.loop(limit=5) as it:
            v = it.carry(0)
            slow = f.add(gated(gate), x=v.out)
            graded = f.add(src, x=v.out)
            it.until(graded.out, lambda _: True)
            v.next(f.add(inc, x=v.out).out)
        f.output("o", it.result(slow.out))
    order, outputs = await play(f, opens(gate, "loop[0]/inc"))
    assert order == ["loop[0]/src", "loop[0]/inc", "loop[0]/slow", "loop"]
    assert outputs == {"o": 0}
