"""`run_sync` from a script, a worker thread, inside a running loop (B56)."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest
from anyio import to_thread

from dataflow import Flow, RunFailed, TypedFlow, flow

PLACE: ContextVar[str] = ContextVar("place", default="nowhere")


async def add_one(x: int) -> int:
    return x + 1


async def place() -> str:
    return PLACE.get()


async def fail(x: int) -> int:
    raise ValueError(f"bad {x}")


with Flow("B56") as one_more:
    one_more.output("o", one_more.add(add_one, x=one_more.input("x", int)).out)

with Flow("B56 fails") as failing:
    failing.output("o", failing.add(fail, x=failing.input("x", int)).out)


def test_from_a_script() -> None:
    assert one_more.run_sync(x=1)["o"] == 2


async def test_inside_a_running_loop() -> None:
    assert one_more.run_sync(x=1)["o"] == 2


async def test_from_a_worker_thread() -> None:
    assert (await to_thread.run_sync(lambda: one_more.run_sync(x=1)))["o"] == 2


def test_from_a_thread_of_its_own() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(one_more.run_sync(x=1)["o"]))
    thread.start()
    thread.join()
    assert found == [2]


async def test_inside_a_node() -> None:
    async def nested(x: int) -> int:
        value: int = one_more.run_sync(x=x)["o"]
        return value

    with Flow() as f:
        f.output("o", f.add(nested, x=1).out)
    assert (await f.run())["o"] == 2


@pytest.mark.parametrize("times", [1, 3])
def test_a_failure_is_raised_where_it_was_called(times: int) -> None:
    for _ in range(times):
        with pytest.raises(RunFailed, match="bad 1") as raised:
            failing.run_sync(x=1)
        assert type(raised.value.__cause__) is ValueError


async def test_a_failure_inside_a_running_loop() -> None:
    with pytest.raises(RunFailed, match="bad 1") as raised:
        failing.run_sync(x=1)
    assert type(raised.value.__cause__) is ValueError


with Flow("place") as placed:
    placed.output("o", placed.add(place).out)


def test_nodes_see_the_callers_contextvars() -> None:
    PLACE.set("a script")
    assert placed.run_sync()["o"] == "a script"


async def test_nodes_see_the_callers_contextvars_inside_a_running_loop() -> None:
    PLACE.set("a notebook")
    assert placed.run_sync()["o"] == "a notebook"


@flow
def twice(f: Flow, x: int) -> int:
    return f.add(add_one, x=f.add(add_one, x=x).out).out


async def test_a_typed_flow() -> None:
    assert isinstance(twice, TypedFlow)
    assert await twice(3) == 5
    assert await twice(x=4) == 6
    assert twice.run_sync(x=5)["out"] == 7
