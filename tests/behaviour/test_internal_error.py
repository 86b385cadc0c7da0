"""A run that can go no further fails and says which ports are unsettled; it never hangs (S8.4)."""

from __future__ import annotations

import pytest

from dataflow import EventKind, Flow, RunFailed
from tests.behaviour.nodes import inc, src, tallying


def with_a_flaw() -> Flow:
    """Damage the compiled flow: let its last node wait for one port more than it has."""
    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(src, x=f.input("x", int)).out).out)
    f.compile().root.waits[1] += 1
    return f


async def test_an_unsettled_port_fails_the_run() -> None:
    with tallying() as tally, pytest.raises(RunFailed, match="internal error") as raised:
        await with_a_flaw().run(x=1)
    assert raised.value.result.status == "failed"
    assert "inc.out" in raised.value.failures[0].message
    assert "src.out" not in raised.value.failures[0].message
    assert tally.runs() == {"src": 1}


async def test_the_stream_of_such_a_run_ends() -> None:
    with tallying():
        async with with_a_flaw().start(x=1) as run:
            last = [event async for event in run.events()][-1]
            assert (last.kind, last.data) == (EventKind.RUN_FINISHED, {"status": "failed", "failures": [""]})
            with pytest.raises(RunFailed, match="internal error"):
                await run
