"""A run that can go no further fails and says which ports are unsettled; it never hangs (S8.4)."""

from __future__ import annotations

from dataflow import EventKind, Flow
from tests.behaviour.nodes import inc, src
from tests.behaviour.table import play


def with_a_flaw() -> Flow:
    """Damage the compiled flow: let its last node wait for one port more than it has."""
    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(src, x=f.input("x", int)).out).out)
    f.compile().root.waits[1] += 1
    return f


async def test_an_unsettled_port_fails_the_run_and_its_stream_ends() -> None:
    played = await play(with_a_flaw(), {"x": 1})
    assert played.failed is not None
    [failure] = played.failed.failures
    assert "internal error" in failure.message
    assert "inc.out" in failure.message
    assert "src.out" not in failure.message
    assert (played.result.status, played.tally.runs()) == ("failed", {"src": 1})
    last = played.events[-1]
    assert (last.kind, last.data) == (EventKind.RUN_FINISHED, {"status": "failed", "failures": [""]})
