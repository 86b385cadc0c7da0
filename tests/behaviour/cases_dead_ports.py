"""Rows: what comes of a port without a value, by why it has none and by who reads it (S4.2, S4.3, S4.7)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Flow, Step, collect, each, fallback, gather, merge, node
from tests.behaviour.cases_failures import fails_untyped, report
from tests.behaviour.nodes import (
    add,
    defaulted,
    defaulted_pair,
    fails,
    ident,
    inc,
    listed,
    one,
    src,
    total,
)
from tests.behaviour.table import Case

Why = Literal["disabled", "not taken", "failed"]
Reader = Literal[
    "required", "optional", "optional beside a value", "many", "many beside a value", "merge, first",
    "merge, last", "gather", "fallback", "after", "after beside a value", "error", "broadcast", "list",
    "first", "loop constant",
]  # fmt: skip


def dead(f: Flow, why: Why) -> Step[Any]:
    """Place a node `off` that brings no value."""
    match why:
        case "disabled":
            return f.add(node(ident).with_(name="off", enabled=False), x=1)
        case "not taken":
            return f.add(node(ident).with_(name="off"), x=f.when(1, lambda _: False).yes)
        case "failed":
            return f.add(node(fails_untyped).with_(name="off"))


def read(why: Why, reader: Reader) -> Flow:
    """Read what has no value, beside the value 1; `last` is what reads it, `o` what comes of that."""
    with Flow() as f:
        off, good = dead(f, why), f.add(one)
        bare: Any = off.out
        f.output("o", f.add(node(ident).with_(name="end"), x=_last(f, reader, off, bare, good.out)).out)
    return f.using(errors="continue")


def _last(f: Flow, reader: Reader, off: Step[Any], bare: Any, good: Any) -> Any:  # noqa: C901 - a case a reader
    def last(fn: Any, *args: Any, **given: Any) -> Any:
        return f.add(node(fn).with_(name="last"), *args, **given).out

    match reader:
        case "required":
            return last(ident, x=bare)
        case "optional":
            return last(defaulted, x=bare)
        case "optional beside a value":
            return last(defaulted_pair, x=good, y=bare)
        case "many":
            return last(listed, bare)
        case "many beside a value":
            return last(listed, good, bare)
        case "merge, first":
            return last(ident, x=merge(bare, good))
        case "merge, last":
            return last(ident, x=merge(good, bare))
        case "gather":
            return last(ident, x=gather(bare, good))
        case "fallback":
            return last(ident, x=fallback(bare, 9))
        case "after" | "after beside a value":
            step = f.add(node(one).with_(name="last"))
            f.after(step, off.done)
            if reader != "after":
                f.after(step, f.add(src, x=1).done)
            return step.out
        case "error":
            return last(report, failure=off.error)
        case "broadcast":
            return collect(last(add, x=each([1, 2]), y=bare))
        case "list":
            return collect(last(inc, x=each(bare)))
        case "first":
            with f.loop(name="last", limit=2) as it:
                v = it.carry(bare)
                v.next(v.out)
            return v.final
        case "loop constant":
            with f.loop(name="up", limit=2) as it:
                v = it.carry(0)
                passed = last(defaulted_pair, x=v.out, y=bare)
                v.next(v.out)
            return it.result(passed)


#: By reader: what comes of a skip, None for a skip.
OF_SKIPS: Final[dict[Reader, Any]] = {
    "required": None,
    "optional": None,
    "optional beside a value": [1, "other"],
    "many": None,
    "many beside a value": [1],
    "merge, first": 1,
    "merge, last": 1,
    "gather": [1],
    "fallback": 9,
    "after": None,
    "after beside a value": 1,
    "error": None,
    "broadcast": [],
    "list": None,
    "first": None,
    "loop constant": [0, "other"],
}
#: Readers that an error does not poison: the merge has its value, the report takes the failure.
OF_ERRORS: Final[dict[Reader, Any]] = {"merge, last": 1, "error": "off LookupError lost 1"}
#: Paths of the last reader where it does not stand alone.
PATHS: Final[dict[Reader, tuple[str, ...]]] = {
    "broadcast": ("last[0]", "last[1]"),
    "loop constant": ("up[0]/last", "up[1]/last"),
}
WHY: Final[tuple[Why, ...]] = ("disabled", "not taken")
CHAINS: Final[tuple[tuple[Why, tuple[str, ...]], ...]] = (
    ("disabled", ("off: disabled",)),
    ("not taken", ("off: port 'x'", "when: exit 'yes' not taken")),
)


def of_skip(why: Why, reader: Reader, came: Any) -> Case:
    skips = came is None or reader == "broadcast"
    states = dict.fromkeys(PATHS.get(reader, ("last",)), "skipped" if skips else "done")
    if came is None:
        states["end"] = "skipped"
    return Case(
        id=f"{reader}: {why}", rule="S4.3", flow=partial(read, why, reader),
        outputs={} if came is None else {"o": came}, states={"off": "skipped", **states}, others="done",
        warnings=tuple(f"DF0835 last[{n}]:" for n in (0, 1))
        if reader == "broadcast"
        else (),
    )  # fmt: skip


def of_error(reader: Reader) -> Case:
    came = OF_ERRORS.get(reader)
    paths = PATHS.get(reader, ("last",))
    states = dict.fromkeys((*paths, "end"), "not_run" if came is None else "done")
    is_handled = reader == "error"
    return Case(
        id=f"{reader}: failed", rule="S4.2", flow=partial(read, "failed", reader),
        status="completed" if is_handled else "failed", outputs={} if came is None else {"o": came},
        states={"off": "failed", **states}, others="done",
        failures=() if is_handled else (("off", "LookupError", "lost"),),
    )  # fmt: skip


def in_items(*, beside: bool) -> Flow:
    """Disable the node that reads an item first, alone or beside another."""
    with Flow() as f:
        xs = f.input("xs", list[int])
        off = f.add(node(inc).with_(name="off", enabled=False), x=each(xs))
        f.output("off", collect(off.out))
        f.output("next", collect(f.add(src, x=off.out).out))
        if beside:
            f.output("on", collect(f.add(inc, x=each(xs)).out))
    return f


def in_a_loop(use: Literal["next", "test", "result", "while"]) -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=3) as it:
            v, w = it.carry(0), it.carry(0)
            off = f.add(node(inc).with_(name="off", enabled=False), x=v.out)
            stepped = f.add(inc, x=v.out)
            v.next(stepped.out)
            w.next(off.out if use in ("next", "while") else w.out)
            if use == "test":
                it.until(off.out, lambda _: True)
            elif use == "while":
                it.while_(w.out, lambda _: True)
        f.output("off", it.result(off.out))
        f.output("alls", it.all(off.out))
        f.output("w", w.final)
        f.output("steps", it.all(stepped.out))
    return f


def disabled_reader(of: Literal["value", "error", "failure", "done"]) -> Flow:
    """Let a disabled node read what succeeded or failed."""
    with Flow() as f:
        bad = f.add(fails, x=1)
        good = f.add(one)
        match of:
            case "value":
                f.add(node(inc).with_(name="off", enabled=False), x=good.out)
            case "error":
                f.add(node(inc).with_(name="off", enabled=False), x=bad.out)
            case "failure":
                f.add(node(report).with_(name="off", enabled=False), failure=bad.error)
            case "done":
                f.after(f.add(node(one).with_(name="off", enabled=False)), bad.done)
        f.output("good", good.out)
    return f.using(errors="continue")


def disabled_with(**settings: Any) -> Flow:
    with Flow() as f:
        off = f.add(node(fails).with_(name="off", enabled=False, **settings), x=1)
        last = f.add(one)
        f.after(last, off.done)
        f.output("o", fallback(off.out, "none"))
        f.output("after", last.out)
    return f


def dead_then_poisoned(*, first: Why) -> Flow:
    """Bring a skip and an error to the two ports of one node."""
    with Flow() as f:
        off, bad = dead(f, first), f.add(fails, x=2)
        f.output("o", f.add(node(add).with_(name="last"), x=off.out, y=bad.out).out)
        f.output("sum", f.add(total, xs=gather(off.out, bad.out)).out)
        f.output("instead", f.add(ident, x=fallback(off.out, bad.out)).out)
    return f.using(errors="continue")


IN_A_LOOP: Final[tuple[tuple[Literal["next", "test", "result", "while"], str, int, dict[str, Any]], ...]] = (
    ("next", "max_iterations", 3, {"steps": [1, 2, 3]}),
    ("test", "exhausted", 1, {"w": 0, "steps": [1]}),
    ("result", "max_iterations", 3, {"w": 0, "steps": [1, 2, 3]}),
    ("while", "exhausted", 1, {"steps": [1]}),
)
DISABLED_READERS: Final[tuple[Literal["value", "error", "failure", "done"], ...]] = (
    "value", "error", "failure", "done",
)  # fmt: skip

DEAD_PORTS: Final = (
    *(of_skip(why, reader, came) for reader, came in OF_SKIPS.items() for why in WHY),
    *(of_error(reader) for reader in OF_SKIPS),
    *(
        Case(
            id=f"a port that is dead tells why: {why}", rule="S3.3", flow=partial(read, why, "required"),
            states={"last": "skipped"}, why={"last": ("last: port 'x'", *chain)},
        )
        for why, chain in CHAINS
    ),
    *(
        Case(
            id=f"a disabled reader of items: {'beside another' if beside else 'alone'}", rule="S4.7",
            flow=partial(in_items, beside=beside), inputs={"xs": [1, 2]},
            outputs={"off": [], "next": [], **({"on": [2, 3]} if beside else {})},
            runs={"inc": 2} if beside else {},
            states={"off": "done", "off[0]": "skipped", "off[1]": "skipped", "off[0]/src": "skipped"},
            events=(("map_opened", "off", {"items": 2}),),
            why={"off[1]/src": ("off[1]/src: port 'x'", "off[1]: disabled")},
        )
        for beside in (False, True)
    ),
    *(
        Case(
            id=f"a disabled node in a loop: {use}", rule="S4.7", flow=partial(in_a_loop, use),
            outputs={"alls": [], **outputs}, runs={"inc": rounds}, states={"up[0]/off": "skipped"},
            events=(("loop_exited", "up", {"reason": reason, "iterations": rounds}),), others=None,
            why={"up.off": ("up: no round brought a value", f"up[{rounds - 1}]/off: disabled")},
            warnings=("DF0834 up:",) if use == "while" and reason != "exhausted" else (),
        )
        for use, reason, rounds, outputs in IN_A_LOOP
    ),
    *(
        Case(
            id=f"a disabled reader: of a {of}", rule="S4.7", flow=partial(disabled_reader, of),
            status="completed" if of == "failure" else "failed", outputs={"good": 1},
            runs={"fails": 1, "one": 1}, states={"off": "skipped", "fails": "failed"}, others="done",
            failures=() if of == "failure" else (("fails", "ValueError", "bad 1"),),
            why={"off": ("disabled",)},
        )
        for of in DISABLED_READERS
    ),
    *(
        Case(
            id=f"a disabled node never fails: {settings or 'plain'}", rule="S4.7",
            flow=partial(disabled_with, **settings), outputs={"o": "none"}, runs={},
            states={"off": "skipped", "one": "skipped"}, why={"one": ("one: port '$after'", "off: disabled")},
        )
        for settings in ({}, {"default": 7}, {"on_error": "route"}, {"on_error": "skip"})
    ),
    *(
        Case(
            id=f"an error beside a skip: {first}", rule="S4.2", flow=partial(dead_then_poisoned, first=first),
            status="failed", runs={"fails": 1},
            states={"off": "skipped", "last": "not_run", "total": "not_run", "ident": "not_run"},
            failures=(("fails", "ValueError", "bad 2"),), why={"last": ("fails failed: ValueError: bad 2",)},
        )
        for first in WHY
    ),
)  # fmt: skip
