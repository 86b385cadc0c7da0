"""Rows: failures that are handled, and what an unhandled one leaves (S4.2, S9.3, S9.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Failure, Flow, collect, each, fallback, gather, merge, node
from tests.behaviour.nodes import (
    counted,
    defaulted_pair,
    fails,
    fails_on_odd,
    ident,
    inc,
    listed,
    one,
    src,
    total,
)
from tests.behaviour.table import Case


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


@counted
async def wrong_text() -> Any:
    return "text"


def poisoned(reader: Literal["required", "optional", "many", "gather", "after", "chain"]) -> Flow:
    """Let an error come to a port, beside ports that have values, while other parts go on."""
    with Flow() as f:
        bad = f.add(fails, x=f.input("x", int))
        good = f.add(one)
        match reader:
            case "required":
                last: Any = f.add(node(inc).with_(name="last"), x=bad.out)
            case "optional":
                last = f.add(node(defaulted_pair).with_(name="last"), x=good.out, y=bad.out)
            case "many":
                last = f.add(node(listed).with_(name="last"), good.out, bad.out)
            case "gather":
                last = f.add(node(total).with_(name="last"), xs=gather(good.out, bad.out))
            case "after":
                last = f.add(node(src).with_(name="last"), x=good.out)
                f.after(last, bad.done)
            case "chain":
                last = f.add(node(inc).with_(name="last"), x=f.add(inc, x=f.add(inc, x=bad.out).out).out)
        f.output("last", last.out)
        f.output("good", f.add(ident, x=good.out).out)
    return f.using(errors="continue")


def handled(how: Literal["skip", "default", "route", "error"]) -> Flow:
    with Flow() as f:
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
    return f


def after_a_default() -> Flow:
    """Read the signal of a node that failed and has a default."""
    with Flow() as f:
        bad = f.add(node(default=-1)(fails), x=2)
        last = f.add(one)
        f.after(last, bad.done)
        f.output("o", last.out)
    return f


def error_of_what_succeeds() -> Flow:
    with Flow() as f:
        good = f.add(src, x=4)
        f.output("told", f.add(report, failure=good.error).out)
        f.output("told with a value", f.add(report_of, x=good.out, failure=good.error).out)
        f.output("optional", f.add(report_or, x=good.out, failure=good.error).out)
    return f


def a_failure_port_reads_the_result(*, another_reader: bool) -> Flow:
    """Wire a result that is an error into a port of type Failure (S4.2)."""
    with Flow() as f:
        bad = f.add(fails_untyped)
        f.output("told", f.add(report, failure=bad.out).out)
        if another_reader:
            f.output("other", f.add(ident, x=bad.out).out)
    return f.using(errors="continue")


def inner_failure_port(scope: Literal["map", "loop"]) -> Flow:
    """Read the error of an outer node, and nothing else of it, by failure ports of an inner scope."""
    with Flow() as f:
        bad = f.add(fails_untyped)
        if scope == "map":
            f.output("o", collect(f.add(report_or, x=each([1, 2]), failure=bad.out).out))
        else:
            with f.loop(name="up", limit=2) as it:
                v = it.carry(0)
                told = f.add(report_or, x=v.out, failure=bad.out)
                it.until(v.out, lambda x: x == 1)
                v.next(f.add(inc, x=v.out).out)
            f.output("o", it.result(told.out))
    return f


def checked_on_entry() -> Flow:
    """Lead text from an untyped port into a typed one (S1.7)."""
    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(wrong_text).out).out)
    return f


def items(on_error: Literal["fail", "skip"]) -> Flow:
    with Flow() as f:
        passed = f.add(node(on_error=on_error)(fails_on_odd), x=each(f.input("xs", list[int])))
        more = f.add(inc, x=passed.out)
        f.output("o", collect(more.out))
        f.output("sum", f.add(total, xs=collect(more.out)).out)
        f.output("aside", f.add(one).out)
    return f.using(errors="continue")


def two_failures() -> Flow:
    with Flow() as f:
        first, second = f.add(fails, x=1), f.add(fails, x=2)
        f.output("o", f.add(listed, first.out, second.out).out)
        f.output("aside", f.add(one).out)
    return f.using(errors="continue")


def merged_away(*, handled: bool) -> Flow:
    with Flow() as f:
        bad = f.add(node(on_error="skip")(fails) if handled else fails, x=2)
        f.output("o", f.add(inc, x=merge(bad.out, f.add(one).out)).out)
    return f.using(errors="continue")


BAD: Final = "fails failed: ValueError: bad 7"
HANDLED: Final = ("fails: failed, and the failure is handled", "fails failed: ValueError: bad 2")

FAILURES: Final = (
    *(
        Case(
            id=f"an error on a port: {reader}", rule="S4.2", flow=partial(poisoned, reader), inputs={"x": 7},
            status="failed", outputs={"good": 1}, runs={"fails": 1, "one": 1, "ident": 1},
            states={"fails": "failed", "last": "not_run", "ident": "done"},
            failures=(("fails", "ValueError", "bad 7"),), why={"last": (BAD,), "last.out": (BAD,)},
            events=(
                ("node_finished", "fails", {"state": "failed", "reason": BAD}),
                ("node_finished", "last", {"state": "not_run", "reason": BAD}),
            ),
        )
        for reader in ("required", "optional", "many", "gather", "after", "chain")
    ),
    Case(
        id="on_error skip", rule="S9.3", flow=partial(handled, "skip"), outputs={"instead": "none"},
        runs={"fails": 1, "ident": 1}, states={"fails": "failed", "inc": "skipped"}, others="done",
        why={"fails.out": HANDLED, "inc": ("inc: port 'x'", *HANDLED)},
    ),
    Case(
        id="a default", rule="S9.3", flow=partial(handled, "default"), outputs={"instead": -1, "next": 0},
        runs={"fails": 1, "inc": 1, "ident": 1}, states={"fails": "failed"}, others="done",
    ),
    *(
        Case(
            id=f"a failure is routed: {how}", rule="S9.3", flow=partial(handled, how),
            runs={"fails": 1, "ident": 1, "report": 1},
            outputs={"instead": "none", "told": "fails ValueError bad 2 1"},
            states={"fails": "failed", "inc": "skipped"}, others="done",
        )
        for how in ("route", "error")
    ),
    Case(
        id="after a failure with a default", rule="S9.3", flow=after_a_default, outputs={"o": 1},
        runs={"fails": 1, "one": 1}, states={"fails": "failed"}, others="done",
        why={"fails.$done": ()},
    ),
    Case(
        id="the failure of what succeeds", rule="S1.3", flow=error_of_what_succeeds,
        outputs={"optional": [4, None]}, runs={"src": 1, "report_or": 1},
        states={"report": "skipped", "report_of": "skipped"},
        why={"report": ("report: port 'failure'", "src: succeeded, so there is no failure")},
    ),
    Case(
        id="an error whose only reader takes a failure", rule="S9.4",
        flow=partial(a_failure_port_reads_the_result, another_reader=False),
        outputs={"told": "fails_untyped LookupError lost 1"}, runs={"fails_untyped": 1, "report": 1},
        states={"fails_untyped": "failed"}, others="done",
    ),
    Case(
        id="an error that has another reader", rule="S9.4", status="failed",
        flow=partial(a_failure_port_reads_the_result, another_reader=True),
        outputs={"told": "fails_untyped LookupError lost 1"}, runs={"fails_untyped": 1, "report": 1},
        states={"fails_untyped": "failed", "ident": "not_run"},
        failures=(("fails_untyped", "LookupError", "lost"),),
    ),
    Case(
        id="an error whose only readers are failure ports of items", rule="S9.4",
        flow=partial(inner_failure_port, "map"), outputs={"o": [[1, "lost"], [2, "lost"]]},
        runs={"fails_untyped": 1, "report_or": 2}, states={"fails_untyped": "failed"}, others="done",
    ),
    Case(
        id="an error whose only reader is a failure port of a loop", rule="S9.4",
        flow=partial(inner_failure_port, "loop"), outputs={"o": [1, "lost"]},
        runs={"fails_untyped": 1, "report_or": 2, "inc": 1}, states={"fails_untyped": "failed"},
    ),
    Case(
        id="a value of another type from an untyped port", rule="S1.7", flow=checked_on_entry,
        status="failed", runs={"wrong_text": 1},
        failures=(("inc", "NodeFailed", "DF0601 inc.x:"),),
    ),
    Case(
        id="items that fail", rule="S9.4", flow=partial(items, "fail"), inputs={"xs": [1, 2, 3, 4]},
        status="failed", outputs={"aside": 1}, runs={"fails_on_odd": 4, "inc": 2, "one": 1},
        states={
            "fails_on_odd": "failed", "fails_on_odd[0]": "failed", "fails_on_odd[0]/inc": "not_run",
            "fails_on_odd[1]/inc": "done", "fails_on_odd[2]": "failed", "fails_on_odd[3]": "done",
            "total": "not_run",
        },
        failures=(("fails_on_odd[0]", "ValueError", "odd 1"), ("fails_on_odd[2]", "ValueError", "odd 3")),
        why={"total": ("fails_on_odd[0] failed: ValueError: odd 1",)},
    ),
    Case(
        id="items whose failures are handled", rule="S9.3", flow=partial(items, "skip"),
        inputs={"xs": [1, 2, 3, 4]}, outputs={"aside": 1, "o": [3, 5], "sum": 8},
        runs={"fails_on_odd": 4, "inc": 2, "one": 1, "total": 1},
        states={"fails_on_odd": "done", "fails_on_odd[0]": "failed", "fails_on_odd[0]/inc": "skipped"},
    ),
    Case(
        id="two failures", rule="S9.5", flow=two_failures, status="failed", outputs={"aside": 1},
        runs={"fails": 1, "fails_2": 1, "one": 1}, states={"listed": "not_run"},
        failures=(("fails", "ValueError", "bad 1"), ("fails_2", "ValueError", "bad 2")),
    ),
    Case(
        id="a handled failure is a skip to merge", rule="S5.3", flow=partial(merged_away, handled=True),
        outputs={"o": 2}, states={"fails": "failed"}, others="done",
    ),
    Case(
        id="an unhandled failure wins a merge", rule="S5.3", flow=partial(merged_away, handled=False),
        status="failed", states={"fails": "failed", "inc": "not_run"}, others="done",
        failures=(("fails", "ValueError", "bad 2"),),
    ),
)  # fmt: skip
