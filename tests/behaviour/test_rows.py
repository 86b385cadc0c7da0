"""Rows of firings that never wait: what one does is seen by no other, and none holds up the rest (S14)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from anyio import Event, create_task_group

from dataflow import SKIP, Flow, Maybe, NodeState, Run, collect, each, node, this_firing
from tests.behaviour.nodes import fails
from tests.behaviour.rows import inc, one, row
from tests.behaviour.table import failed_run, states_of

PLACE: ContextVar[str] = ContextVar("place", default="nowhere")


# what a node sets


async def test_a_row_sees_nothing_of_what_its_nodes_set() -> None:
    async def sets(x: str) -> str:
        before = PLACE.get()
        PLACE.set(f"{before} and further")
        return before

    with Flow() as f:
        port = f.add(sets, x="").out
        for _ in range(10):
            port = f.add(sets, x=port).out
        f.output("o", port)
    assert (await f.run())["o"] == "nowhere"


async def test_rounds_items_and_tests_see_nothing_of_what_others_set() -> None:
    seen: list[str] = []

    def note(x: Any) -> Any:
        seen.append(PLACE.get())
        PLACE.set("another")
        return x

    async def sets(x: int) -> int:
        return int(note(x)) + 1

    with Flow() as f:
        with f.loop() as it:
            v = it.carry(0)
            up = f.add(sets, x=v.out)
            it.until(up.out, lambda x: note(x) > 2)
            v.next(up.out)
        f.output("o", collect(f.add(sets, x=each(list(range(5)))).out))
    await f.run()
    assert seen == ["nowhere"] * (3 + 3 + 5)


async def test_a_task_of_an_earlier_node_goes_on_asking_for_its_own_firing() -> None:
    asked: list[str] = []
    more = Event()

    async def ask() -> None:
        await more.wait()
        asked.append(this_firing().path)

    async with create_task_group() as group:

        async def starts(x: int) -> int:
            group.start_soon(ask)
            return x

        with Flow() as f:
            port = f.add(one).out
            for number in range(5):
                port = f.add(node(starts).with_(name=f"starts_{number}"), x=port).out
        await f.run()
        more.set()
    assert sorted(asked) == [f"starts_{number}" for number in range(5)]


# cancelling a run


async def stopped(f: Flow, wire: Callable[[Flow, Any], object], asks: int) -> dict[str, str]:
    """Run a flow in which a node cancels its own run, so many times."""
    runs: list[Run] = []

    async def stop(x: int) -> int:
        for _ in range(asks):
            runs[0].cancel("from inside")
        return x

    wire(f, stop)
    async with f.start() as run:
        runs.append(run)
        return states_of(await run)


def ready_beside(f: Flow, stop: Any) -> None:
    first = f.add(one)
    f.add(stop, x=first.out)
    f.add(inc, x=first.out)


async def test_a_node_of_a_row_may_cancel_its_own_run() -> None:
    for asks in (1, 2):
        assert await stopped(Flow(), lambda f, stop: row(f, stop, after=1), asks) == {
            "one": "done", "inc": "done", "stop": "cancelled", "inc_2": "not_run",
            "beside": "cancelled", "beside_0": "not_run",
        }  # fmt: skip
        ended = {"one": "done", "stop": "cancelled", "inc": "cancelled"}
        assert await stopped(Flow(), ready_beside, asks) == ended


# skips and errors in a row


async def may(x: int) -> Maybe[int]:
    return x if x > 9 else SKIP


async def may_not(x: int) -> int:
    return SKIP  # type: ignore[no-any-return]  # the mistake under test


async def test_skips_and_errors_given_to_nodes_of_a_row_go_to_its_end() -> None:
    f = Flow()
    row(f, may, after=2)
    result = await f.run()
    assert {result.states[path] for path in ("inc_2", "inc_3")} == {NodeState.SKIPPED}
    assert "port 'out' not emitted" in result.why("inc_3")
    f = Flow()
    row(f, fails, after=2)
    result = (await failed_run(f.using(errors="continue"))).result
    assert states_of(result)["inc_3"] == "not_run"
    assert "fails failed: ValueError: bad 2" in result.why("inc_3")
    f = Flow()
    row(f, may_not)
    assert (await failed_run(f)).failures[0].code == "DF0807"


async def test_an_optional_port_of_a_quick_node_takes_its_default_for_a_skip() -> None:
    async def plus(x: int, y: int = 10) -> int:
        return x + y

    with Flow() as f:
        first = f.add(one)
        f.output("o", f.add(plus, x=first.out, y=f.add(may, x=first.out).out).out)
    assert (await f.run())["o"] == 11
