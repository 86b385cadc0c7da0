"""`run_sync` from a script, a worker thread, inside a running loop (B56)."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest
from anyio import to_thread

from dataflow import Flow, RunFailed
from tests.behaviour.nodes import fails, inc

PLACE: ContextVar[str] = ContextVar("place", default="nowhere")


async def place() -> str:
    return PLACE.get()


with Flow("B56") as one_more:
    one_more.output("o", one_more.add(inc, x=one_more.input("x", int)).out)
    one_more.output("place", one_more.add(place).out)

with Flow("B56 fails") as failing:
    failing.output("o", failing.add(fails, x=failing.input("x", int)).out)


def check_here(where: str) -> None:
    PLACE.set(where)
    assert one_more.run_sync(x=1).outputs == {"o": 2, "place": where}
    for _ in range(3):
        with pytest.raises(RunFailed, match="bad 1") as raised:
            failing.run_sync(x=1)
        assert type(raised.value.__cause__) is ValueError


def test_from_a_script_and_from_a_thread() -> None:
    check_here("a script")
    found = []
    thread = threading.Thread(target=lambda: found.append(one_more.run_sync(x=1)["o"]))
    thread.start()
    thread.join()
    assert found == [2]


async def test_inside_a_running_loop_in_a_worker_thread_and_inside_a_node() -> None:
    check_here("a notebook")
    assert (await to_thread.run_sync(lambda: one_more.run_sync(x=1)))["o"] == 2

    async def nested(x: int) -> int:
        value: int = one_more.run_sync(x=x)["o"]
        return value

    with Flow() as f:
        f.output("o", f.add(nested, x=1).out)
    assert (await f.run())["o"] == 2
