"""Lazy ports and pulled ports: what nobody needs never runs (S8.1, S8.3)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import (
    DataflowError,
    Failure,
    Flow,
    Lazy,
    RunFailed,
    Tools,
    collect,
    each,
    flow,
    gather,
    merge,
    node,
)
from tests.behaviour.nodes import add, fails, ident, inc, listed, nothing, one, src, tallying, total
from tests.behaviour.table import play, reasons, states_of


async def needs(x: int, extra: Lazy[int]) -> int:
    return x + extra


async def may_need(x: int, extra: Lazy[int] = 100) -> int:
    return x + extra


async def takes_failure(x: int, extra: Lazy[int | Failure]) -> str:
    return extra.message if isinstance(extra, Failure) else str(extra)


def branch(*, first: bool) -> Flow:
    """Wire a lazy source behind a branch that is taken or not."""
    with Flow() as f:
        taken = f.when(f.input("x", int, 1), lambda _: first)
        extra = f.add(inc, x=f.add(src, x=10).out)
        f.output("o", f.add(needs, x=taken.yes, extra=extra.out).out)
    return f


async def test_a_lazy_source_runs_when_its_reader_will_fire() -> None:
    played = await play(branch(first=True), {})
    assert played.result.outputs == {"o": 12}
    assert played.tally.paths == ["src", "inc"]


async def test_a_lazy_source_on_a_branch_not_taken_never_runs() -> None:
    played = await play(branch(first=False), {})
    assert played.result.outputs == {}
    assert played.tally.paths == []
    assert states_of(played.result) == {
        "when": "done", "src": "not_run", "inc": "not_run", "needs": "skipped",
    }  # fmt: skip
    assert played.result.warnings == ()
    assert reasons(played.result, "src") == ["  because src: not demanded"]
    finished = {e.path: e.data["state"] for e in played.events if e.kind == "node_finished"}
    assert finished == states_of(played.result)


async def test_a_lazy_source_waits_for_all_other_ports() -> None:
    order: list[str] = []

    async def told(x: int, name: str) -> int:
        order.append(name)
        return x

    with Flow() as f:
        slow = f.add(told, x=f.add(told, x=1, name="a").out, name="b")
        lazy = f.add(told, x=5, name="lazy")
        f.output("o", f.add(needs, x=slow.out, extra=lazy.out).out)
    assert (await f.run()).outputs == {"o": 6}
    assert order == ["a", "b", "lazy"]


async def test_a_source_with_another_use_runs_anyway() -> None:
    with Flow() as f:
        taken = f.when(f.input("x", int, 1), lambda _: False)
        extra = f.add(src, x=10)
        f.add(needs, x=taken.yes, extra=extra.out)
        f.output("extra", extra.out)
    played = await play(f, {})
    assert played.result.outputs == {"extra": 10}


@pytest.mark.parametrize("value", ["skip", "error"])
async def test_a_lazy_value_counts_like_any_other(value: str) -> None:
    with Flow() as f:
        extra = f.add(nothing) if value == "skip" else f.add(fails)
        f.output("needs", f.add(needs, x=f.add(one).out, extra=extra.out).out)
    played = await play(f, {})
    state = {"skip": "skipped", "error": "not_run"}[value]
    assert states_of(played.result)["needs"] == state
    assert (played.failed is not None) == (value == "error")


async def test_an_optional_lazy_port_that_is_a_skip_takes_its_default() -> None:
    with Flow() as f:
        f.output("o", f.add(may_need, x=f.add(one).out, extra=f.add(nothing).out).out)
        f.output("alone", f.add(may_need, x=f.add(one).out).out)
        f.output("constant", f.add(needs, x=f.add(one).out, extra=5).out)
    assert (await play(f, {})).result.outputs == {"o": 101, "alone": 101, "constant": 6}


async def test_a_failure_may_be_taken_through_a_lazy_port() -> None:
    with Flow() as f:
        f.output("o", f.add(takes_failure, x=1, extra=f.add(fails, x=3).out).out)
    assert (await play(f, {})).result.outputs == {"o": "bad 3"}


async def test_joins_loops_and_maps_behind_a_lazy_port_run_if_asked_for() -> None:
    with Flow() as f:
        taken = f.when(f.input("x", int), lambda x: x > 0)
        begin = f.add(one)
        with f.loop(limit=2) as it:
            carried = it.carry(begin.out)
            carried.next(f.add(inc, x=carried.out).out)
        items = f.add(inc, x=each(f.input("xs", list[int], [1, 2])))
        whole = f.add(total, xs=collect(items.out))
        joined = merge(f.add(nothing).out, carried.final)
        f.output("o", f.add(needs, taken.yes, f.add(total, gather(joined, whole.out)).out).out)
    played = await play(f, {"x": 1})
    assert played.result.outputs == {"o": 1 + 3 + 5}
    played = await play(f, {"x": 0})
    assert played.result.outputs == {}
    assert played.tally.paths == []
    assert {state for path, state in states_of(played.result).items() if path not in ("when", "needs")} == {
        "not_run"
    }


async def test_a_lazy_source_outside_is_shared_by_all_items_and_rounds() -> None:
    with Flow() as f:
        extra = f.add(inc, x=f.add(src, x=10).out)
        items = f.add(needs, x=each(f.input("xs", list[int])), extra=extra.out)
        f.output("o", collect(items.out))
    played = await play(f, {"xs": [1, 2, 3]})
    assert played.result.outputs == {"o": [12, 13, 14]}
    assert played.tally.runs() == {"src": 1, "inc": 1}
    played = await play(f, {"xs": []})
    assert played.result.outputs == {"o": []}
    assert played.tally.runs() == {}


async def test_a_lazy_source_inside_an_item_runs_for_the_items_that_need_it() -> None:
    with Flow() as f:
        x = each(f.input("xs", list[int]))
        odd = f.when(x, lambda x: x % 2 == 1)
        items = f.add(needs, x=odd.yes, extra=f.add(inc, x=x).out)
        f.output("o", collect(items.out))
    played = await play(f, {"xs": [1, 2, 3]})
    assert played.result.outputs == {"o": [3, 7]}
    assert sorted(played.tally.paths) == ["when[0]/inc", "when[2]/inc"]
    assert states_of(played.result)["when[1]/inc"] == "not_run"


async def test_a_flow_node_behind_a_lazy_port_and_lazy_ports_inside_it() -> None:
    @flow
    def inner(g: Flow, x: int) -> int:
        taken = g.when(x, lambda x: x > 0)
        return g.add(needs, x=taken.yes, extra=g.add(inc, x=x).out).out

    with Flow() as f:
        f.output("o", f.add(may_need, x=f.add(one).out, extra=f.add(inner, f.input("x", int)).out).out)
    played = await play(f, {"x": 3})
    assert played.result.outputs == {"o": 8}
    played = await play(f, {"x": 0})
    assert played.result.outputs == {"o": 101}
    assert states_of(played.result)["inner/inc"] == "not_run"


async def test_a_source_is_demanded_once_by_many_readers() -> None:
    with Flow() as f:
        extra = f.add(one)
        steps = [f.add(needs, x=f.add(src, x=number).out, extra=extra.out) for number in range(4)]
        f.output("o", f.add(listed, *(step.out for step in steps)).out)
    played = await play(f, {})
    assert played.result.outputs == {"o": [1, 2, 3, 4]}
    assert played.tally.runs() == {"one": 1, "src": 1, "src_2": 1, "src_3": 1, "src_4": 1, "listed": 1}


async def test_a_failure_closes_what_was_never_demanded_too() -> None:
    with Flow() as f:
        bad = f.add(fails)
        f.add(needs, x=bad.out, extra=f.add(one).out)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert states_of(raised.value.result) == {"fails": "failed", "one": "not_run", "needs": "not_run"}


async def test_a_reader_of_nothing_but_lazy_ports_demands_them_at_once() -> None:
    async def only(extra: Lazy[int]) -> int:
        return extra

    with Flow() as f:
        f.output("o", f.add(only, extra=f.add(one).out).out)
    assert (await play(f, {})).result.outputs == {"o": 1}


async def test_a_disabled_lazy_source_is_a_skip() -> None:
    with Flow() as f:
        off = f.add(node(one).with_(enabled=False))
        f.output("o", f.add(may_need, x=f.add(one).out, extra=off.out).out)
    assert (await play(f, {})).result.outputs == {"o": 101}


async def test_a_disabled_lazy_source_is_demanded_like_any_other() -> None:
    """S4.7, S8.1"""
    with Flow() as f:
        taken = f.when(f.input("x", int, 1), lambda _: False)
        off = f.add(node(one).with_(enabled=False))
        f.output("o", f.add(may_need, x=taken.yes, extra=off.out).out)
    result = (await play(f, {})).result
    assert states_of(result)["one"] == "not_run"
    assert reasons(result, "one") == ["  because one: not demanded"]


class Toolbox(Tools):
    """Tools of the tests."""


async def toolbox() -> Toolbox:
    return Toolbox()


async def uses_tools(x: int, tools: Toolbox) -> str:
    return f"{x} {type(tools).__name__}"


@pytest.mark.parametrize("x", [0, 1])
async def test_tools_of_a_branch_not_taken_are_never_opened(x: int) -> None:
    with Flow() as f:
        taken = f.when(f.input("x", int), lambda x: x > 0)
        f.output("o", f.add(uses_tools, taken.yes, f.add(toolbox).out).out)
    result = (await play(f, {"x": x})).result
    assert states_of(result)["toolbox"] == ("done" if x else "not_run")


@pytest.mark.parametrize("x", [0, 1])
async def test_nor_are_those_of_a_flow_node(x: int) -> None:
    with Flow("inner") as inner:
        tools = inner.input("tools", Toolbox)
        inner.output("o", inner.add(uses_tools, inner.input("x", int), tools).out)
    with Flow() as f:
        taken = f.when(f.input("x", int), lambda x: x > 0)
        f.output("o", f.add(inner, x=taken.yes, tools=f.add(toolbox).out).out.o)
    result = (await play(f, {"x": x})).result
    assert states_of(result)["toolbox"] == ("done" if x else "not_run")
    assert result.outputs == ({"o": "1 Toolbox"} if x else {})


# pull


def wide() -> tuple[Flow, dict[str, Any]]:
    with Flow() as f:
        x = f.input("x", int, 1)
        left, right = f.add(inc, x=x), f.add(src, x=x)
        behind = f.add(add, left.out, 10)
        items = f.add(ident, x=each(f.input("xs", list[int], [1, 2])))
        side = f.add(square_of, x=items.out)
        f.output("left", behind.out)
        f.output("right", right.out)
        f.output("items", collect(items.out))
        f.output("side", collect(side.out))
        f.add(fails, x=right.out)
    return f, {"behind": behind.out, "right": right.out, "x": x}


async def square_of(x: int) -> int:
    return x * x


async def pulled(f: Flow, port: object, **inputs: Any) -> tuple[Any, list[str]]:
    with tallying() as tally:
        value = await f.pull(port, **inputs)
    return value, tally.paths


async def test_pull_runs_what_a_port_needs_and_no_more() -> None:
    f, ports = wide()
    assert await pulled(f, ports["behind"]) == (12, ["inc", "add"])
    assert await pulled(f, ports["behind"], x=5) == (16, ["inc", "add"])
    assert await pulled(f, "right") == (1, ["src"])
    assert await pulled(f, "src.out", x=2) == (2, ["src"])
    assert await pulled(f, ports["x"], x=4) == (4, [])
    assert await pulled(f, "items") == ([1, 2], ["ident[0]", "ident[1]"])


async def test_pull_raises_what_keeps_the_port_from_a_value() -> None:
    f, _ = wide()
    f.output("none", f.add(nothing).out)
    with pytest.raises(DataflowError, match=r"DF0817 output 'none': .*nothing: port 'out' not"):
        await f.pull("none")
    with pytest.raises(RunFailed, match="bad 1"):
        await f.pull("fails")
    with pytest.raises(DataflowError, match=r"DF0335 square_of\.out:"):
        await f.pull("square_of")
    with pytest.raises(DataflowError, match="DF0302"):
        await f.pull("nowhere")


async def test_pull_sees_what_was_wired_since() -> None:
    f, ports = wide()
    assert await f.pull("right") == 1
    again = f.add(inc, x=ports["right"])
    assert await f.pull(again.out) == 2


async def test_pull_reads_loops_and_flow_nodes() -> None:
    @flow
    def twice(g: Flow, x: int) -> int:
        return g.add(inc, g.add(inc, x).out).out

    with Flow() as f:
        with f.loop(limit=3) as it:
            carried = it.carry(0)
            stepped = f.add(twice, x=carried.out)
            f.add(square_of, x=carried.out)
            carried.next(stepped.out)
        final = carried.final
        f.output("seen", it.result(stepped.out))
    assert await pulled(f, final) == (
        6,
        [f"loop[{n}]/twice/{name}" for n in range(3) for name in ("inc", "inc_2")],
    )
    assert await f.pull("seen") == 6


async def test_the_name_of_an_output_comes_before_that_of_a_node() -> None:
    with Flow() as f:
        first = f.add(inc, 0)
        f.output("inc", f.add(inc, f.add(inc, first.out).out).out)
    result = await f.run()
    found: list[Any] = [result["inc"], result.get("inc"), result.get("inc.out")]
    assert found == [3, 3, 1]
    assert (await f.pull("inc"), await f.pull("inc.out")) == (3, 1)
