"""Rows: loops (S6.1, S6.2)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Flow, merge
from tests.behaviour.nodes import counted, ident, src
from tests.behaviour.table import Case


@counted
async def step(v: int) -> int:
    return v + 1


@counted
async def grade(v: int) -> int:
    return v


def counting(
    start: int, leave: int, limit: int | None = 100, on_limit: Literal["exit", "fail"] = "exit"
) -> Flow:
    """Count up from `start` until `leave`; the body runs before the test."""
    with Flow("B07") as f:
        with f.loop(name="up", limit=limit, on_limit=on_limit) as it:
            v = it.carry(start)
            stepped = f.add(step, v=v.out)
            it.until(stepped.out, lambda x: x >= leave)
            v.next(stepped.out)
        f.output("out", it.result(stepped.out))
        f.output("final", v.final)
    return f


def while_below(start: int, bound: int, limit: int | None = 100) -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=limit) as it:
            v = it.carry(start)
            it.while_(v.out, lambda x: x < bound)
            stepped = f.add(step, v=v.out)
            v.next(stepped.out)
        f.output("out", it.result(stepped.out))
        f.output("final", v.final)
    return f


def next_only(kind: Literal["until", "while"]) -> Flow:
    """Have two nodes that only the next value needs, and one that nobody needs."""
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            graded = f.add(grade, v=v.out)
            if kind == "until":
                it.until(graded.out, lambda x: x >= 2)
            else:
                it.while_(v.out, lambda x: x < 3)
            f.add(src, x=graded.out)
            v.next(f.add(step, v=f.add(ident, x=graded.out).out).out)
        f.output("out", it.result(graded.out))
    return f


def last_live(*, ever: bool) -> Flow:
    """Read a port of the body that has a value in the rounds 0 and 2 of 4, or in none."""
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            w = f.when(v.out, lambda x: ever and x in {0, 2})
            it.until(v.out, lambda x: x >= 3)
            v.next(f.add(step, v=v.out).out)
        f.output("out", f.add(ident, x=it.result(w.yes)).out)
        f.output("joined", it.result(merge(w.yes, w.no)))
    return f


def exited(reason: str, rounds: int) -> tuple[tuple[str, str, dict[str, Any]], ...]:
    """Return the events of a loop `up` with so many rounds."""
    begun = (("loop_round", "up", {"round": number}) for number in range(rounds))
    return (*begun, ("loop_exited", "up", {"reason": reason, "iterations": rounds}))


AT_LIMIT: Final = "DF0834 up: ended at its limit of {} round"

LOOPS: Final = (
    *(
        Case(
            id=f"B07{letter}", rule="S6.2", flow=partial(counting, 0, 100, limit),
            outputs={"out": limit, "final": limit - 1}, runs={"step": limit},
            warnings=(AT_LIMIT.format(limit),), events=exited("max_iterations", limit), others="done",
        )
        for letter, limit in (("a", 1), ("b", 3))
    ),
    Case(
        id="B07c", rule="S6.1", flow=partial(counting, 0, 3, 10), outputs={"out": 3, "final": 2},
        runs={"step": 3}, events=exited("condition", 3), others="done",
    ),
    Case(
        id="B07f", rule="S6.2", flow=partial(counting, 0, 100, 3, "fail"), status="failed", runs={"step": 3},
        failures=(("up", "LoopLimit", "DF0803 up:"),), states={"up": "failed"},
        events=exited("failed", 3),
    ),
    Case(
        id="B07g", rule="S6.2", flow=partial(counting, 0, 250, None), outputs={"out": 250, "final": 249},
        runs={"step": 250}, events=exited("condition", 250),
    ),
    Case(
        id="the default limit is 100", rule="S6.2", flow=partial(counting, 0, 250),
        outputs={"out": 100, "final": 99}, runs={"step": 100}, warnings=(AT_LIMIT.format(100),),
        events=exited("max_iterations", 100),
    ),
    Case(
        id="the test comes before the limit", rule="S6.1", flow=partial(counting, 0, 3, 3, "fail"),
        outputs={"out": 3, "final": 2}, runs={"step": 3}, events=exited("condition", 3),
    ),
    Case(
        id="while", rule="S6.1", flow=partial(while_below, 0, 3), outputs={"out": 3, "final": 3},
        runs={"step": 3}, events=exited("condition", 3), others="done",
    ),
    Case(
        id="while without a round", rule="S6.1", flow=partial(while_below, 9, 3), outputs={"final": 9},
        runs={}, why={"up.step": ("up: no round brought a value",)}, events=exited("condition", 0),
        others="done",
    ),
    Case(
        id="until, what only next values need does not run in the last round", rule="S6.1",
        flow=partial(next_only, "until"), outputs={"out": 2},
        runs={"grade": 3, "src": 3, "step": 2, "ident": 2},
        states={"up[2]/step": "not_run", "up[2]/ident": "not_run"}, others="done",
        why={"up[2]/ident": ("no further round follows",)},
    ),
    Case(
        id="while, next values are computed in every round", rule="S6.1", flow=partial(next_only, "while"),
        outputs={"out": 2}, runs={"grade": 3, "src": 3, "step": 3, "ident": 3}, others="done",
    ),
    Case(
        id="a result is the last live value", rule="S6.1", flow=partial(last_live, ever=True),
        outputs={"out": 2, "joined": 3}, runs={"step": 3, "ident": 1},
    ),
    Case(
        id="a result that is never live", rule="S6.1", flow=partial(last_live, ever=False),
        outputs={"joined": 3}, runs={"step": 3}, states={"ident": "skipped"},
        why={"ident": ("ident: port 'x'", "up: no round brought a value", "up[3]/when: exit 'yes' not")},
    ),
)  # fmt: skip
