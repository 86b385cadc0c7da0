"""Rows: what comes of a port without a value, by why it has none and by who reads it (S4.2, S4.3, S4.7)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Flow, Step, collect, each, fallback, gather, merge, node
from tests.behaviour.cases_failures import fails_untyped, report
from tests.behaviour.nodes import add, defaulted, defaulted_pair, ident, inc, listed, one, src
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
)  # fmt: skip
