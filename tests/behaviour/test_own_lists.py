"""Lists that are read again inside the map that they are of (S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from dataflow import Flow, RunFailed, collect, each, node
from tests.behaviour.nodes import add, fails_on_odd, inc, square, total
from tests.support.codes import codes
from tests.support.quick_nodes import every

XS = [1, 2, 3]


def shares(f: Flow, **options: Any) -> None:
    item = f.add(inc, x=each(f.input("xs", list[int]), **options))
    f.output("o", collect(f.add(add, x=item.out, y=f.add(total, xs=collect(item.out)).out).out))


def waits(f: Flow, **options: Any) -> None:
    item = f.add(inc, x=each(f.input("xs", list[int]), **options))
    last = f.add(square, x=item.out)
    f.after(last, f.add(total, xs=collect(item.out)).done)
    f.output("o", collect(last.out))


def in_a_map(f: Flow, **options: Any) -> None:
    cell = f.add(inc, x=each(each(f.input("xs", list[list[int]])), **options))
    sums = f.add(total, xs=collect(cell.out))
    all_sums = f.add(node(total).with_(name="all"), xs=collect(sums.out))
    f.output("o", collect(collect(f.add(add, x=cell.out, y=all_sums.out).out)))


def in_a_loop(f: Flow, **options: Any) -> None:
    item = f.add(inc, x=each(f.input("xs", list[int]), **options))
    sums = f.add(total, xs=collect(item.out))
    with f.loop(name="up", limit=2) as it:
        v = it.carry(item.out)
        v.next(f.add(add, x=v.out, y=sums.out).out)
    f.output("o", collect(v.final))


def through_another_map(f: Flow, **options: Any) -> None:
    a = f.add(node(inc).with_(name="a"), x=each(f.input("xs", list[int]), **options))
    sums = f.add(total, xs=collect(a.out))
    b = f.add(node(add).with_(name="b"), x=each(f.add(listing, x=1).out), y=sums.out)
    again = f.add(node(add).with_(name="again"), x=a.out, y=f.add(total, xs=collect(b.out)).out)
    behind = f.add(node(total).with_(name="behind"), xs=collect(again.out))
    f.output("o", collect(f.add(node(add).with_(name="last"), x=b.out, y=behind.out).out))


async def listing(x: int) -> list[int]:
    return [x]


KINDS: list[tuple[Callable[..., None], Any, Any]] = [
    (shares, XS, [11, 12, 13]), (waits, XS, [4, 9, 16]), (in_a_map, [[1], [2, 3]], [[11], [12, 13]]),
    (in_a_loop, XS, [20, 21, 22]), (through_another_map, XS, [49]),
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [{"on_error": "skip"}, {"on_error": "collect"}, {"max_concurrency": 9}]


def flow_of(build: Callable[..., None], **options: Any) -> Flow:
    f = Flow("own lists")
    build(f, **options)
    return f


async def test_an_item_waits_for_a_list_of_its_map() -> None:
    ways: tuple[Literal["fail_fast", "continue"], ...] = ("fail_fast", "continue")
    for build, xs, found in KINDS:
        for errors in ways:
            assert (await flow_of(build).using(errors=errors).run(xs=xs))["o"] == found


def test_where_a_list_is_there_only_when_all_items_have_ended_that_is_refused() -> None:
    for build, _, _ in KINDS:
        for options in OPTIONS:
            [problem] = [
                one for one in flow_of(build, **options).check() if codes([one])[0].startswith("DF0324")
            ]
            assert next(iter(options)) in str(problem)


def test_a_list_of_a_map_over_edges_is_not_read_inside_it() -> None:
    """Nor is one that it makes of items read among them: it waits for the values of all items."""
    f = Flow("own lists")
    met = f.add(inc, x=every(f.input("a", int), f.input("b", int)))
    f.output("o", f.add(add, x=met.out, y=f.add(total, xs=collect(met.out)).out).out)
    assert "DF0324 add.y" in codes(f.check())
    f = Flow("own lists")
    item = f.add(inc, x=each(f.input("xs", list[int]), on_error="skip"))
    met = f.add(square, x=every(item.out, 5))
    f.output("o", collect(f.add(add, x=item.out, y=f.add(total, xs=collect(met.out)).out).out))
    assert "DF0324 add.y" in codes(f.check())


async def test_under_continue_an_own_list_stands_whatever_fails_later_in_an_item() -> None:
    with Flow("own lists") as f:
        item = f.add(inc, x=each(f.input("xs", list[int])))
        f.add(fails_on_odd, x=item.out)
        sums = f.add(total, xs=collect(item.out))
        f.output("sum", sums.out)
        f.output("o", collect(f.add(add, x=item.out, y=sums.out).out))
    with pytest.raises(RunFailed) as caught:
        await f.using(errors="continue").run(xs=XS)
    assert caught.value.result.outputs == {"sum": 9}
    assert caught.value.result.states["inc[1]/add"].value == "done"


async def test_under_continue_an_own_list_that_is_an_error_reaches_the_items() -> None:
    with Flow("own lists") as f:
        x = each(f.input("xs", list[int]))
        item = f.add(fails_on_odd, x=x)
        f.output("o", collect(f.add(add, x=x, y=f.add(total, xs=collect(item.out)).out).out))
    with pytest.raises(RunFailed) as caught:
        await f.using(errors="continue").run(xs=XS)
    assert [failure.path for failure in caught.value.failures] == ["fails_on_odd[0]", "fails_on_odd[2]"]
    assert caught.value.result.states["fails_on_odd[1]/add"].value == "not_run"
