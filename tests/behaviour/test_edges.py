"""What maps over edges do while they run: when their frames open, and how they end (S7.4)."""

from __future__ import annotations

from typing import Any, Literal

from anyio import Event, wait_all_tasks_blocked

from dataflow import Flow, Lazy, collect, each, flow, node, race
from tests.behaviour.nodes import fails, forever, gated, ident, inc, listed, nothing, one, src
from tests.behaviour.table import cancelled, failed_run, states_of
from tests.behaviour.test_waiting import opens, play
from tests.support.quick_nodes import every
from tests.support.steady import set_forward


async def test_a_frame_opens_when_its_edge_has_settled() -> None:
    gate = Event()
    with Flow() as f:
        met = f.add(node(inc).with_(name="met"), x=every(f.add(gated(gate), x=1).out, f.add(src, x=2).out))
        f.output("o", met.out)
    order = ["src", "met[1]", "slow", "met[0]", "met"]
    assert await play(f, opens(gate, "met[1]")) == (order, {"o": [2, 3]})


async def test_what_follows_a_map_follows_each_frame_of_it() -> None:
    """Nothing waits for the other paths, however many maps are between."""
    gate = Event()
    with Flow() as f:
        slow, quick = f.add(gated(gate), x=1), f.add(src, x=2)
        first = f.add(node(inc).with_(name="first"), x=every(slow.out, quick.out))
        second = f.add(node(inc).with_(name="second"), x=every(first.out, f.add(nothing).out, first.out))
        third = f.add(node(inc).with_(name="third"), x=every(quick.out, second.out))
        f.output("o", third.out)
        f.output("second", second.out)
    order, outputs = await play(f, opens(gate, "third[1.2.1]"))
    assert order.index("third[1.2.1]") < order.index("slow") < order.index("third[1.0.0]")
    assert outputs == {"o": [3, 4, 5, 4, 5], "second": [3, 4, 3, 4]}


async def test_the_items_of_a_map_arrive_one_by_one() -> None:
    gate = Event()

    async def some_slow(x: int) -> int:
        if x < 2:
            await gate.wait()
        return x

    with Flow() as f:
        f.output("o", f.add(inc, x=every(f.add(some_slow, x=each([1, 2, 3])).out, 9)).out)
        numbers = f.add(src, x=each(list(range(1_000)), on_error="skip"))
        f.output("many", f.add(inc, x=every(numbers.out, 5)).out)
    order, outputs = await play(f, opens(gate, "inc[0.2]"))
    assert order.index("inc[0.2]") < order.index("some_slow[0]")
    assert outputs == {"o": [2, 3, 4, 10], "many": [*range(1, 1_001), 6]}


async def test_what_a_failed_item_gave_does_not_arrive_where_failed_items_leave_nothing() -> None:
    gate = Event()

    async def failing(x: int) -> int:
        await gate.wait()
        raise ValueError(f"bad {x}")

    with Flow() as f:
        item = f.add(src, x=each([1], on_error="skip"))
        f.add(failing, x=item.out)
        f.output("o", f.add(inc, x=every(item.out, 9)).out)
    order, outputs = await play(f, opens(gate, "inc[1]"))
    assert (outputs, "inc[0.0]" in order) == ({"o": [10]}, False)


async def test_failures_and_cancellation_end_a_map_that_still_waits_for_edges() -> None:
    for where in ("in the frame", "beside the map", "in another frame"):
        with Flow() as f:
            slow, quick = f.add(forever, x=1), f.add(src, x=2)
            f.output("o", f.add(inc, x=every(slow.out, quick.out)).out)
            if where == "in the frame":
                f.add(fails, x=every(slow.out, quick.out))
            elif where == "beside the map":
                f.add(fails, x=quick.out)
            else:
                f.add(fails, x=every(quick.out, slow.out))
        states = states_of((await failed_run(f)).result)
        ends = "cancelled", "failed" if where == "in the frame" else "cancelled"
        assert (states["forever"], states["inc"]) == ends
    begun = Event()
    begun.set()
    with Flow() as f:
        f.output("o", f.add(inc, x=every(f.add(forever, x=1).out, 2)).out)
    states = states_of(await cancelled(f, begun))
    assert states == {"forever": "cancelled", "inc": "cancelled", "inc[1]": "done"}


async def test_a_map_of_a_flow_node_ends_when_its_time_is_over() -> None:
    async def stays(x: int) -> int:
        await wait_all_tasks_blocked()
        set_forward(60)
        return await forever(x)

    @flow
    def waiting(f: Flow, x: int) -> list[int]:
        found: Any = f.add(inc, x=every(f.add(stays, x=x).out, x)).out
        return collect(found)

    with Flow() as f:
        f.output("o", f.add(waiting.with_(timeout=30, on_error="skip"), x=1).out)
    assert states_of(await f.run()) == {
        "waiting": "timed_out", "waiting/stays": "cancelled", "waiting/inc": "cancelled",
        "waiting/inc[1]": "done",
    }  # fmt: skip


async def test_races_end_maps_and_are_decided_in_their_frames() -> None:
    gate = Event()
    with Flow() as f:
        met = collect(f.add(inc, x=every(f.add(forever, x=1).out, 2)).out)
        f.output("o", race(f.add(ident, x=met).out, f.add(gated(gate), x=7).out))
    order, outputs = await play(f, opens(gate, "inc[1]"))
    assert (outputs, set(order)) == ({"o": 7}, {"inc[1]", "slow", "forever", "inc", "ident"})
    with Flow() as f:
        item = every(f.add(one).out, f.add(src, x=5).out)
        f.output("o", race(f.add(inc, x=item).out, f.add(forever, x=item).out))
    result = await f.run()
    assert (result["o"], states_of(result)["inc[1]/forever"]) == ([2, 6], "cancelled")


async def chosen(x: int, ys: Lazy[list[int]]) -> int:
    return x + sum(ys)


async def after(taken: bool) -> int:
    return 1


async def test_a_map_that_is_pulled_or_read_lazily_opens_if_it_is_asked_for() -> None:
    with Flow() as f:
        met = f.add(inc, x=every(f.add(src, x=1).out, f.add(src, x=2).out))
        f.add(fails, x=met.out)
        f.output("o", met.out)
    assert await f.pull("o") == [2, 3]
    for is_taken in (True, False):
        with Flow() as f:
            taken = f.when(is_taken, lambda taken: taken)
            x = f.add(node(after).with_(name="x"), taken=taken.yes)
            item = f.add(src, x=each([3, 4]))
            lazy = collect(f.add(inc, x=every(f.add(one).out, item.out, f.add(nothing).out)).out)
            f.output("o", f.add(chosen, x=x.out, ys=lazy).out)
        result = await f.run()
        assert result.outputs == ({"o": 1 + 2 + 4 + 5} if is_taken else {})
        assert states_of(result)["inc"] == ("done" if is_taken else "not_run")
        assert states_of(result).get("inc[1.1]") == ("done" if is_taken else None)


async def test_an_ask_in_a_frame_has_the_index_in_its_id_and_a_map_waits_for_it() -> None:
    with Flow() as f:
        item = f.add(src, x=each([7, 8]))
        asked = f.ask(int, "More?", show=every(f.add(src, x=1).out, item.out))
        f.output("o", f.add(listed, asked.out, 0).out)
    paused = await f.run()
    assert [ask.id for ask in paused.asks] == ["ask[0]", "ask[1.0]", "ask[1.1]"]
    paused = await f.resume(paused, {"ask[1.0]": 10})
    assert [ask.id for ask in paused.asks] == ["ask[0]", "ask[1.1]"]
    assert (await f.resume(paused, {"ask[1.1]": 11, "ask[0]": 1}))["o"] == [[1, 0], [10, 0], [11, 0]]
    with Flow() as f:
        f.output("o", f.add(inc, x=every(f.ask(int, "How many?").out, 2)).out)
    paused = await f.run()
    assert states_of(paused) == {"ask": "paused", "inc": "paused", "inc[1]": "done"}
    assert paused.why("o").splitlines()[-1].endswith("ask 'ask' waits for an answer: How many?")
    assert (await f.resume(paused, {"ask": 5}))["o"] == [6, 3]


async def test_of_failures_in_frames_that_of_the_first_edge_is_first() -> None:
    ways: tuple[tuple[Literal["fail_fast", "continue"], int], ...] = (("fail_fast", 1), ("continue", 3))
    with Flow() as f:
        f.output("o", f.add(fails, x=every(*[f.add(src, x=number).out for number in range(3)])).out)
    for errors, count in ways:
        failed = await failed_run(f.using(errors=errors))
        assert [failure.path for failure in failed.failures] == [f"fails[{n}]" for n in range(count)]
