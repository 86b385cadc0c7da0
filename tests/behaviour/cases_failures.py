"""Rows: failures, handled or not, attempts, timeouts and limits (S4.2, S9.1 to S9.4, S15.1)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from anyio import sleep_forever

from dataflow import Failure, Flow, Retry, fallback, node, this_firing
from tests.behaviour.nodes import counted, defaulted_pair, fails, fails_on_odd, ident, inc, one, src
from tests.behaviour.table import Case, wired
from tests.support.steady import set_forward


@counted
async def fails_untyped() -> Any:
    raise LookupError("lost")


@counted
async def report(failure: Failure) -> str:
    return f"{failure.path} {failure.type} {failure.message} {failure.attempt}"


@counted
async def report_of(x: int, failure: Failure) -> str:
    return f"{x} {failure.message}"


@counted
async def report_or(x: int, failure: Failure | None = None) -> list[object]:
    return [x, failure.message if failure else None]


def poisoned(reader: Literal["required", "optional", "after", "chain"]) -> Flow:
    with Flow() as f:
        bad = f.add(fails, x=f.input("x", int))
        good = f.add(one)
        match reader:
            case "required":
                last: Any = f.add(node(inc).with_(name="last"), x=bad.out)
            case "optional":
                last = f.add(node(defaulted_pair).with_(name="last"), x=good.out, y=bad.out)
            case "after":
                last = f.add(node(src).with_(name="last"), x=good.out)
                f.after(last, bad.done)
            case "chain":
                last = f.add(node(inc).with_(name="last"), x=f.add(inc, x=f.add(inc, x=bad.out).out).out)
        f.output("last", last.out)
        f.output("good", f.add(ident, x=good.out).out)
    return f.using(errors="continue")


@wired
def after_failure(f: Flow, x: int) -> None:
    """Start a node only after another has failed, by its signal alone."""
    bad, last = f.add(fails_on_odd, x=x), f.add(one)
    f.after(last, bad.error)
    f.output("first", bad.out)
    f.output("last", last.out)


@wired
def handled(f: Flow, how: Literal["skip", "default", "route", "error"]) -> None:
    match how:
        case "skip":
            bad = f.add(node(on_error="skip")(fails), x=2)
        case "default":
            bad = f.add(node(default=-1)(fails), x=2)
        case "route":
            bad = f.add(node(on_error="route")(fails), x=2)
        case "error":
            bad = f.add(fails, x=2)
    f.output("next", f.add(inc, x=bad.out).out)
    f.output("instead", f.add(ident, x=fallback(bad.out, "none")).out)
    if how in ("route", "error"):
        f.output("told", f.add(report, failure=bad.error).out)


@wired
def error_of_what_succeeds(f: Flow) -> None:
    good = f.add(src, x=4)
    f.output("told", f.add(report, failure=good.error).out)
    f.output("told with a value", f.add(report_of, x=good.out, failure=good.error).out)
    f.output("optional", f.add(report_or, x=good.out, failure=good.error).out)


def a_failure_port_reads_the_result(*, another_reader: bool) -> Flow:
    """Wire a result that is an error into a port of type Failure (S4.2)."""
    with Flow() as f:
        bad = f.add(fails_untyped)
        f.output("told", f.add(report, failure=bad.out).out)
        if another_reader:
            f.output("other", f.add(ident, x=bad.out).out)
    return f.using(errors="continue")


BAD: Final = "fails failed: ValueError: bad 7"
HANDLED: Final = ("fails: failed, and the failure is handled", "fails failed: ValueError: bad 2")

FAILURES: Final = (
    *(Case(id=f"an error on a port: {reader}", rule="S4.2", flow=partial(poisoned, reader), inputs={"x": 7},
            status="failed", outputs={"good": 1}, runs={"fails": 1, "one": 1, "ident": 1},
            states={"fails": "failed", "last": "not_run", "ident": "done"},
            failures=(("fails", "ValueError", "bad 7"),), why={"last": (BAD,), "last.out": (BAD,)},
            events=(("node_finished", "fails", {"state": "failed", "reason": BAD}),
                ("node_finished", "last", {"state": "not_run", "reason": BAD})))
        for reader in ("required", "optional", "after", "chain")),
    Case(id="on_error skip", rule="S9.3", flow=partial(handled, "skip"), outputs={"instead": "none"},
        runs={"fails": 1, "ident": 1}, states={"fails": "failed", "inc": "skipped"}, others="done",
        why={"fails.out": HANDLED, "inc": ("inc: port 'x'", *HANDLED)}),
    Case(id="a default", rule="S9.3", flow=partial(handled, "default"), outputs={"instead": -1, "next": 0},
        runs={"fails": 1, "inc": 1, "ident": 1}, states={"fails": "failed"}, others="done"),
    Case(id="after a failure", rule="S9.3", flow=partial(after_failure, 1),
        runs={"fails_on_odd": 1, "one": 1}, outputs={"last": 1},
        states={"fails_on_odd": "failed", "one": "done"}),
    Case(id="after no failure", rule="S9.3", flow=partial(after_failure, 2), runs={"fails_on_odd": 1},
        outputs={"first": 2}, states={"fails_on_odd": "done", "one": "skipped"},
        why={"one": ("one: port '$after'", "fails_on_odd: succeeded, so there is no failure")}),
    *(Case(id=f"a failure is routed: {how}", rule="S9.3", flow=partial(handled, how),
            runs={"fails": 1, "ident": 1, "report": 1},
            outputs={"instead": "none", "told": "fails ValueError bad 2 1"},
            states={"fails": "failed", "inc": "skipped"}, others="done")
        for how in ("route", "error")),
    Case(id="the failure of what succeeds", rule="S1.3", flow=error_of_what_succeeds,
        outputs={"optional": [4, None]}, runs={"src": 1, "report_or": 1},
        states={"report": "skipped", "report_of": "skipped"},
        why={"report": ("report: port 'failure'", "src: succeeded, so there is no failure")}),
    Case(id="an error whose only reader takes a failure", rule="S9.4",
        flow=partial(a_failure_port_reads_the_result, another_reader=False),
        outputs={"told": "fails_untyped LookupError lost 1"}, runs={"fails_untyped": 1, "report": 1},
        states={"fails_untyped": "failed"}, others="done"),
    Case(id="an error that has another reader", rule="S9.4", status="failed",
        flow=partial(a_failure_port_reads_the_result, another_reader=True),
        outputs={"told": "fails_untyped LookupError lost 1"}, runs={"fails_untyped": 1, "report": 1},
        states={"fails_untyped": "failed", "ident": "not_run"},
        failures=(("fails_untyped", "LookupError", "lost"),)),
)  # fmt: skip


def flaky(failures: int, **settings: Any) -> Any:
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


@wired
def tried(f: Flow, /, failures: int, **settings: Any) -> None:
    bad = f.add(flaky(failures, **settings))
    f.output("o", f.add(ident, x=bad.out).out)


@wired
def handled_after(f: Flow, /, failures: int, **settings: Any) -> None:
    bad = f.add(flaky(failures, **settings))
    f.output("o", fallback(bad.out, "none"))


@wired
def late(f: Flow, /, **settings: Any) -> None:
    f.output("o", fallback(f.add(node(**settings)(stuck)).out, "none"))


def late_run() -> Flow:
    with Flow("slowly") as f:
        slow = f.add(node(name="stuck")(overdue))
        f.output("o", f.add(ident, x=slow.out).out)
    return f.using(timeout=30)


ATTEMPTS: Final = (
    Case(id="a node that succeeds on its second attempt is done, with that attempt's value", rule="S9.1",
        flow=partial(tried, 1, retries=2), outputs={"o": 2}, runs={"tries": 2, "ident": 1}, others="done",
        events=(("node_started", "tries", {"attempt": 1}),
            ("attempt_failed", "tries", {"attempt": 1, "delay": 0.0}),
            ("node_started", "tries", {"attempt": 2}), ("node_finished", "tries", {"state": "done"}),
            ("node_started", "ident", {"attempt": 1}))),
    Case(id="a node fails with the error of its last attempt", rule="S9.1", flow=partial(tried, 9, retries=2),
        status="failed", runs={"tries": 3}, states={"tries": "failed", "ident": "not_run"},
        failures=(("tries", "ValueError", "attempt 3"),)),
    Case(id="an error that `on` does not name is not repeated", rule="S9.1",
        flow=partial(tried, 1, retries=Retry(2, on=("timeout", KeyError))), status="failed",
        runs={"tries": 1}, states={"tries": "failed", "ident": "not_run"},
        failures=(("tries", "ValueError", "attempt 1"),)),
    Case(id="on_error decides after the last attempt: skip", rule="S9.3",
        flow=partial(handled_after, 9, retries=1, on_error="skip"), outputs={"o": "none"}, runs={"tries": 2},
        states={"tries": "failed"}, others="done"),
    Case(id="a node that takes too long is timed_out, also where that is handled", rule="S9.2",
        flow=partial(late, timeout=0.005, on_error="skip"), outputs={"o": "none"}, runs={"stuck": 1},
        states={"stuck": "timed_out"}, others="done",
        events=(("node_finished", "stuck", {"state": "timed_out"}),)),
    Case(id="a deadline ends a node like a timeout", rule="S9.2",
        flow=partial(late, deadline=0.005, retries=3, default=5), outputs={"o": 5}, runs={"stuck": 1},
        states={"stuck": "timed_out"}, others="done"),
    Case(id="a run that takes too long fails, and what runs in it is cancelled", rule="S9.2", flow=late_run,
        status="failed", runs={"stuck": 1}, states={"stuck": "cancelled", "ident": "not_run"},
        failures=(("", "NodeTimeout", "DF0802 slowly:"),)),
)  # fmt: skip
