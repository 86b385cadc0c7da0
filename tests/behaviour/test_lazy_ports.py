"""Lazy ports and pulled ports: what nobody needs never runs (S8.1, S8.3)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import DataflowError, Failure, Flow, Lazy, RunFailed, collect, each, node
from tests.behaviour.nodes import add, fails, ident, inc, listed, nothing, one, square, src, tallying
from tests.behaviour.table import failed_run, play, reasons, states_of


async def needs(x: int, extra: Lazy[int]) -> int:
    return x + extra


async def may_need(x: int, extra: Lazy[int] = 100) -> int:
    return x + extra


async def takes_failure(x: int, extra: Lazy[int | Failure]) -> str:
    return extra.message if isinstance(extra, Failure) else str(extra)


def branch(*, taken: bool) -> Flow:
    with Flow() as f:
        exits = f.when(f.input("x", int, 1), lambda _: taken)
        extra = f.add(inc, x=f.add(src, x=10).out)
        f.output("o", f.add(needs, x=exits.yes, extra=extra.out).out)
    return f


async def test_a_lazy_source_runs_when_its_reader_will_fire() -> None:
    played = await play(branch(taken=True))
    assert (played.result.outputs, played.tally.paths) == ({"o": 12}, ["src", "inc"])


async def test_a_lazy_source_on_a_branch_not_taken_never_runs() -> None:
    played = await play(branch(taken=False))
    assert (played.result.outputs, played.tally.paths, played.result.warnings) == ({}, [], ())
    states = {"when": "done", "src": "not_run", "inc": "not_run", "needs": "skipped"}
    finished = {e.path: e.data["state"] for e in played.events if e.kind == "node_finished"}
    assert finished == states_of(played.result) == states
    assert reasons(played.result, "src") == ["  because src: not demanded"]


async def test_a_lazy_value_counts_like_any_other() -> None:
    """A skip skips or leaves the default, an error poisons or is taken; a disabled source is a skip."""
    with Flow() as f:
        first = f.add(one).out
        f.add(needs, x=first, extra=f.add(nothing).out)
        f.output("default", f.add(may_need, x=first, extra=f.add(nothing).out).out)
        f.output("alone", f.add(may_need, x=first).out)
        f.output("constant", f.add(needs, x=first, extra=5).out)
        off = f.add(node(one).with_(enabled=False))
        f.output("off", f.add(may_need, x=first, extra=off.out).out)
        f.output("failure", f.add(takes_failure, x=1, extra=f.add(fails, x=3).out).out)
    result = await f.run()
    assert result.outputs == {"default": 101, "alone": 101, "constant": 6, "off": 101, "failure": "bad 3"}
    assert states_of(result)["needs"] == "skipped"
    with Flow() as f:
        f.add(needs, x=f.add(one).out, extra=f.add(fails).out)
    assert states_of((await failed_run(f)).result)["needs"] == "not_run"


async def test_a_lazy_source_is_shared_by_readers_items_and_rounds() -> None:
    with Flow() as f:
        extra = f.add(inc, x=f.add(src, x=10).out)
        f.output("o", collect(f.add(needs, x=each(f.input("xs", list[int])), extra=extra.out).out))
    for xs, runs in (([1, 2, 3], {"src": 1, "inc": 1}), ([], {})):
        played = await play(f, {"xs": xs})
        assert (played.result.outputs, played.tally.runs()) == ({"o": [x + 11 for x in xs]}, runs)
    with Flow() as f:
        shared = f.add(one)
        steps = [f.add(needs, x=f.add(src, x=number).out, extra=shared.out) for number in range(4)]
        f.output("o", f.add(listed, *(step.out for step in steps)).out)
    played = await play(f)
    assert (played.result.outputs, played.tally.runs()["one"]) == ({"o": [1, 2, 3, 4]}, 1)


async def test_a_lazy_source_inside_an_item_runs_for_the_items_that_need_it() -> None:
    with Flow() as f:
        x = each(f.input("xs", list[int]))
        odd = f.when(x, lambda x: x % 2 == 1)
        f.output("o", collect(f.add(needs, x=odd.yes, extra=f.add(inc, x=x).out).out))
    played = await play(f, {"xs": [1, 2, 3]})
    assert played.result.outputs == {"o": [3, 7]}
    assert sorted(played.tally.paths) == ["when[0]/inc", "when[2]/inc"]
    assert states_of(played.result)["when[1]/inc"] == "not_run"


async def test_what_was_never_demanded_is_not_run_also_if_disabled_or_closed_by_a_failure() -> None:
    """S4.7, S8.1"""
    with Flow() as f:
        f.add(needs, x=f.add(fails).out, extra=f.add(one).out)
    states = states_of((await failed_run(f)).result)
    assert states == {"fails": "failed", "one": "not_run", "needs": "not_run"}
    with Flow() as f:
        taken = f.when(f.input("x", int, 1), lambda _: False)
        f.add(may_need, x=taken.yes, extra=f.add(node(one).with_(enabled=False)).out)
    result = await f.run()
    assert states_of(result)["one"] == "not_run"
    assert reasons(result, "one") == ["  because one: not demanded"]


# pull


def wide() -> tuple[Flow, dict[str, Any]]:
    with Flow() as f:
        x = f.input("x", int, 1)
        left, right = f.add(inc, x=x), f.add(src, x=x)
        behind = f.add(add, left.out, 10)
        items = f.add(ident, x=each(f.input("xs", list[int], [1, 2])))
        f.output("left", behind.out)
        f.output("right", right.out)
        f.output("items", collect(items.out))
        f.output("side", collect(f.add(square, x=items.out).out))
        f.add(fails, x=right.out)
    return f, {"behind": behind.out, "right": right.out, "x": x}


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
    again = f.add(inc, x=ports["right"])  # what was wired since
    assert await f.pull(again.out) == 2


async def test_pull_raises_what_keeps_the_port_from_a_value() -> None:
    f, _ = wide()
    f.output("none", f.add(nothing).out)
    refused: dict[str, tuple[type[Exception], str]] = {
        "none": (DataflowError, r"DF0817 output 'none': .*nothing: port 'out' not"),
        "fails": (RunFailed, "bad 1"),
        "square": (DataflowError, r"DF0335 square\.out:"),
        "nowhere": (DataflowError, "DF0302"),
    }
    for port, (kind, problem) in refused.items():
        with pytest.raises(kind, match=problem):
            await f.pull(port)
