"""Rows: attempts, timeouts and limits beside every other rule (S9.1 to S9.3, S15.1)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from anyio import sleep_forever

from dataflow import Flow, Retry, fallback, node, this_firing
from tests.behaviour.nodes import counted, ident
from tests.behaviour.table import Case
from tests.support.clocks import set_forward


def flaky(failures: int, **settings: Any) -> Any:
    """Make a node that fails so often, then gives the number of its attempt."""

    @counted
    async def tries(x: object = None) -> int:
        attempt = this_firing().attempt
        if attempt <= failures:
            raise ValueError(f"attempt {attempt}")
        return attempt

    return node(**settings)(tries)


@counted
async def stuck(x: object = None) -> int:
    await sleep_forever()
    return 0


async def overdue(x: object = None) -> int:
    set_forward(60)
    return await stuck(x)


def tried(failures: int, **settings: Any) -> Flow:
    with Flow() as f:
        bad = f.add(flaky(failures, **settings))
        f.output("o", f.add(ident, x=bad.out).out)
    return f


def handled(failures: int, **settings: Any) -> Flow:
    with Flow() as f:
        bad = f.add(flaky(failures, **settings))
        f.output("o", fallback(bad.out, "none"))
    return f


def late(**settings: Any) -> Flow:
    with Flow() as f:
        f.output("o", fallback(f.add(node(**settings)(stuck)).out, "none"))
    return f


def late_run() -> Flow:
    with Flow("slowly") as f:
        slow = f.add(node(name="stuck")(overdue))
        f.output("o", f.add(ident, x=slow.out).out)
    return f.using(timeout=30)


ATTEMPTS: Final = (
    Case(
        id="a node that succeeds on its second attempt is done, with that attempt's value", rule="S9.1",
        flow=partial(tried, 1, retries=2), outputs={"o": 2}, runs={"tries": 2, "ident": 1}, others="done",
        events=(
            ("node_started", "tries", {"attempt": 1}),
            ("attempt_failed", "tries", {"attempt": 1, "delay": 0.0}),
            ("node_started", "tries", {"attempt": 2}), ("node_finished", "tries", {"state": "done"}),
            ("node_started", "ident", {"attempt": 1}),
        ),
    ),
    Case(
        id="a node fails with the error of its last attempt", rule="S9.1", flow=partial(tried, 9, retries=2),
        status="failed", runs={"tries": 3}, states={"tries": "failed", "ident": "not_run"},
        failures=(("tries", "ValueError", "attempt 3"),),
    ),
    Case(
        id="an error that `on` does not name is not repeated", rule="S9.1",
        flow=partial(tried, 1, retries=Retry(2, on=("timeout", KeyError))), status="failed",
        runs={"tries": 1}, states={"tries": "failed", "ident": "not_run"},
        failures=(("tries", "ValueError", "attempt 1"),),
    ),
    Case(
        id="on_error decides after the last attempt: skip", rule="S9.3",
        flow=partial(handled, 9, retries=1, on_error="skip"), outputs={"o": "none"}, runs={"tries": 2},
        states={"tries": "failed"}, others="done",
    ),
    Case(
        id="a node that takes too long is timed_out, also where that is handled", rule="S9.2",
        flow=partial(late, timeout=0.005, on_error="skip"), outputs={"o": "none"}, runs={"stuck": 1},
        states={"stuck": "timed_out"}, others="done",
        events=(("node_finished", "stuck", {"state": "timed_out"}),),
    ),
    Case(
        id="a deadline ends a node like a timeout", rule="S9.2",
        flow=partial(late, deadline=0.005, retries=3, default=5), outputs={"o": 5}, runs={"stuck": 1},
        states={"stuck": "timed_out"}, others="done",
    ),
    Case(
        id="a run that takes too long fails, and what runs in it is cancelled", rule="S9.2", flow=late_run,
        status="failed", runs={"stuck": 1}, states={"stuck": "cancelled", "ident": "not_run"},
        failures=(("", "NodeTimeout", "DF0802 slowly:"),),
    ),
)  # fmt: skip
