"""Rows: several edges on a port, the explicit joins, and ports without a value (S4, S5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal

from dataflow import Flow, Maybe, Step, collect, each, fallback, gather, merge, node
from tests.behaviour import nodes as n
from tests.behaviour.cases_failures import fails_untyped, report
from tests.behaviour.table import Case, wired


@n.counted
async def none() -> Maybe[object]:
    return None


@wired
def many(f: Flow, live: str, *, beside: bool = False) -> None:
    """Wire nodes a, b, c, d in this order to a many-port; those named are live."""
    taken = f.when(f.input("x", int), lambda _: True)
    edges = [
        f.add(node(n.src).with_(name=name), x=taken.yes if name in live else taken.no).out for name in "abcd"
    ]
    reader = f.add(n.listed_with, 9, *edges) if beside else f.add(n.listed, *edges)
    f.output("o", reader.out)


@wired
def many_in_declared_order(f: Flow) -> None:
    x = f.input("x", int)
    first, second, third = f.add(n.src, x=x), f.add(n.inc, x=x), f.add(n.ident, x=30)
    f.output("o", f.add(n.listed, third.out, first.out, second.out, first.out, 7).out)


@wired
def two_live(f: Flow) -> None:
    x = f.input("x", int)
    first, second = f.when(x, lambda v: v > 0), f.when(x, lambda v: v > 1)
    f.connect("when_2.yes", "inc.x")
    f.output("o", f.add(n.inc, x=first.yes).out)
    f.output("other", f.add(n.src, x=second.no).out)


def joined(join: Callable[..., Any], *sources: Callable[[Flow], Any], errors: Any = "fail_fast") -> Flow:
    with Flow() as f:
        f.output("o", f.add(n.ident, x=join(*(source(f) for source in sources))).out)
    return f.using(errors=errors)


def live(value: int) -> Callable[[Flow], Any]:
    return lambda f: f.add(n.src, x=value).out


def constant(value: object) -> Callable[[Flow], Any]:
    return lambda _: value


def dead(f: Flow) -> Any:
    return f.add(n.nothing).out


def a_none(f: Flow) -> Any:
    return f.add(none).out


NOT_EMITTED: Final = "nothing: port 'out' not emitted"

JOINS: Final = (
    *(Case(id=f"a many-port with live edges: {edges}", rule="S5.1", flow=partial(many, edges),
            inputs={"x": 1}, outputs={"o": [1] * len(edges)}, runs={**dict.fromkeys(edges, 1), "listed": 1},
            states=dict.fromkeys(set("abcd") - set(edges), "skipped"), others="done")
        for edges in ("abcd", "a", "bd", "d")),
    Case(id="a many-port without a live edge", rule="S5.1", flow=partial(many, ""), inputs={"x": 1}, runs={},
        states={"listed": "skipped"},
        why={"listed": ("listed: port 'xs'", "a: port 'x'", "when: exit 'no'")}),
    Case(id="a many-port lists in the order of its edges", rule="S5.1", flow=many_in_declared_order,
        inputs={"x": 1}, outputs={"o": [30, 1, 2, 1, 7]}, runs={"src": 1, "inc": 1, "ident": 1, "listed": 1}),
    Case(id="two live edges on a one-port", rule="S5.2", flow=two_live, inputs={"x": 2}, status="failed",
        runs={}, failures=(("inc", "NodeFailed", "DF0811 inc.x:"),),
        states={"inc": "failed", "src": "skipped"}),
    Case(id="two edges on a one-port, one of them live", rule="S5.2", flow=two_live, inputs={"x": 1},
        outputs={"o": 2, "other": 1}, runs={"inc": 1, "src": 1}),
    Case(id="two edges on a one-port, none of them live", rule="S5.2", flow=two_live, inputs={"x": 0},
        outputs={"other": 0}, runs={"src": 1}, states={"inc": "skipped"},
        why={"inc": ("inc: port 'x'", "when_2: exit 'yes' not taken")}),
    Case(id="merge takes the first live one", rule="S5.3",
        flow=partial(joined, merge, dead, live(2), live(3)), outputs={"o": 2},
        runs={"nothing": 1, "src": 1, "src_2": 1, "ident": 1}, others="done"),
    Case(id="merge of skips", rule="S5.3", flow=partial(joined, merge, dead, dead),
        states={"ident": "skipped"}, runs={"nothing": 1, "nothing_2": 1},
        why={"ident": ("ident: port 'x'", "none of its sources", NOT_EMITTED)}),
    Case(id="merge takes a None", rule="S5.3", flow=partial(joined, merge, a_none, live(3)),
        outputs={"o": None}, runs={"none": 1, "src": 1, "ident": 1}),
    Case(id="merge of constants", rule="S5.3", flow=partial(joined, merge, constant(0), constant(8)),
        outputs={"o": 0}, runs={"ident": 1}),
    Case(id="gather lists the live ones", rule="S5.3", flow=partial(joined, gather, live(2), dead, live(1)),
        outputs={"o": [2, 1]}, runs={"nothing": 1, "src": 1, "src_2": 1, "ident": 1}),
    Case(id="gather of one", rule="S5.3", flow=partial(joined, gather, live(2)), outputs={"o": [2]}),
    Case(id="gather of skips", rule="S5.3", flow=partial(joined, gather, dead, dead),
        states={"ident": "skipped"}, runs={"nothing": 1, "nothing_2": 1},
        why={"ident": ("ident: port 'x'", "", NOT_EMITTED)}),
    Case(id="fallback to a constant", rule="S5.3", flow=partial(joined, fallback, dead, constant(None)),
        outputs={"o": None}, runs={"nothing": 1, "ident": 1}),
    Case(id="fallback that is not needed", rule="S5.3", flow=partial(joined, fallback, live(0), constant(5)),
        outputs={"o": 0}, runs={"src": 1, "ident": 1}),
)  # fmt: skip


Why = Literal["disabled", "not taken", "failed"]
Reader = Literal[
    "required", "optional", "optional beside a value", "many", "many beside a value", "merge, first",
    "merge, last", "gather", "fallback", "after", "after beside a value", "error", "broadcast", "list",
    "first", "loop constant",
]  # fmt: skip


def dead_for(f: Flow, why: Why) -> Step[Any]:
    match why:
        case "disabled":
            return f.add(node(n.ident).with_(name="off", enabled=False), x=1)
        case "not taken":
            return f.add(node(n.ident).with_(name="off"), x=f.when(1, lambda _: False).yes)
        case "failed":
            return f.add(node(fails_untyped).with_(name="off"))


def read(why: Why, reader: Reader) -> Flow:
    """Read what has no value, beside the value 1; `last` is what reads it, `o` what comes of that."""
    with Flow() as f:
        off, good = dead_for(f, why), f.add(n.one)
        bare: Any = off.out
        f.output("o", f.add(node(n.ident).with_(name="end"), x=_last(f, reader, off, bare, good.out)).out)
    return f.using(errors="continue")


def _last(f: Flow, reader: Reader, off: Step[Any], bare: Any, good: Any) -> Any:  # noqa: C901 - a case a reader
    def last(fn: Any, *args: Any, **given: Any) -> Any:
        return f.add(node(fn).with_(name="last"), *args, **given).out

    match reader:
        case "required":
            return last(n.ident, x=bare)
        case "optional":
            return last(n.defaulted, x=bare)
        case "optional beside a value":
            return last(n.defaulted_pair, x=good, y=bare)
        case "many":
            return last(n.listed, bare)
        case "many beside a value":
            return last(n.listed, good, bare)
        case "merge, first":
            return last(n.ident, x=merge(bare, good))
        case "merge, last":
            return last(n.ident, x=merge(good, bare))
        case "gather":
            return last(n.ident, x=gather(bare, good))
        case "fallback":
            return last(n.ident, x=fallback(bare, 9))
        case "after" | "after beside a value":
            step = f.add(node(n.one).with_(name="last"))
            f.after(step, off.done)
            if reader != "after":
                f.after(step, f.add(n.src, x=1).done)
            return step.out
        case "error":
            return last(report, failure=off.error)
        case "broadcast":
            return collect(last(n.add, x=each([1, 2]), y=bare))
        case "list":
            return collect(last(n.inc, x=each(bare)))
        case "first":
            with f.loop(name="last", limit=2) as it:
                v = it.carry(bare)
                v.next(v.out)
            return v.final
        case "loop constant":
            with f.loop(name="up", limit=2) as it:
                v = it.carry(0)
                passed = last(n.defaulted_pair, x=v.out, y=bare)
                v.next(v.out)
            return it.result(passed)


#: By reader: what comes of a skip, None for a skip.
OF_SKIPS: Final[dict[Reader, Any]] = {
    "required": None,
    "optional": None,
    "optional beside a value": [1, "other"],
    "many": None, "many beside a value": [1], "merge, first": 1, "merge, last": 1, "gather": [1],
    "fallback": 9, "after": None, "after beside a value": 1, "error": None, "broadcast": [], "list": None,
    "first": None, "loop constant": [0, "other"],
}  # fmt: skip
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
    *(Case(id=f"a port that is dead tells why: {why}", rule="S3.3", flow=partial(read, why, "required"),
            states={"last": "skipped"}, why={"last": ("last: port 'x'", *chain)})
        for why, chain in CHAINS),
)  # fmt: skip
