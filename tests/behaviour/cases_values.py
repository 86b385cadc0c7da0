"""Rows: values, missing values, ports left out (S1.6, S3.2)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NotRequired, TypedDict

from dataflow import Flow
from tests.behaviour.nodes import Parts, add, counted, defaulted, defaulted_pair, ident, split, src
from tests.behaviour.table import Case, wired

FALSY: Final[tuple[object, ...]] = (0, 0.0, False, "", [], {}, None)


class Both(TypedDict):
    a: int
    b: NotRequired[int]


@counted
async def sink(y: Any) -> Any:
    return y


@counted
async def without_a() -> Both:
    return {"b": 1}  # type: ignore[typeddict-item]  # as above


@counted
async def only_a() -> Both:
    return {"a": 1}


@counted
async def whole(parts: Parts) -> list[Any]:
    return [parts.a, parts.b]


@counted
async def both(x: int) -> Parts:
    return Parts(a=x, b=-x)


async def anything(given: Any) -> list[Any]:
    return list(given)


async def texts(given: list[str]) -> int:
    return len(given)


@wired
def opened(f: Flow) -> None:
    f.output("count", f.add(texts, given=f.add(anything, given=f.input("given", Any)).out).out)


def falsy(value: object, *, as_constant: bool) -> Flow:
    with Flow("B32") as f:
        given = f.input("v", object, value)
        given = f.add(ident, x=value if as_constant else given).out
        is_zero = f.when(given, lambda x: x == 0)
        f.output("opt", f.add(defaulted, x=given).out)
        f.output("sink", f.add(sink, y=given).out)
        f.output("zero", f.add(ident, x=is_zero.yes).out)
        f.output("itself", given)
    return f


def optional_port(source: str, *, beside: bool = False) -> Flow:
    with Flow("B33") as f:
        x = f.input("x", int, 1)
        parts = f.add(split, x=x)
        skipped = f.add(src, x=f.when(x, lambda v: v > 1).yes)
        given: Any = {"none": f.add(ident, x=None).out, "skipped": skipped.out, "left out": parts.out.b}.get(
            source
        )
        if source == "nowhere":
            f.output("o", f.add(defaulted).out)
        elif beside:
            f.output("o", f.add(defaulted_pair, x=given, y=parts.out.a).out)
        else:
            f.output("o", f.add(defaulted, x=given).out)
    return f


def returning(fn: Any, *ports: str) -> Flow:
    with Flow() as f:
        step = f.add(fn)
        for port in ports:
            f.output(port, getattr(step.out, port) if port != "out" else step.out)
    return f


@wired
def fields(f: Flow, *, all_given: bool) -> None:
    step = f.add(both if all_given else split, x=3)
    f.output("whole", f.add(whole, parts=step.out).out)
    f.output("sum", f.add(add, x=step.out.a, y=4).out)


VALUES: Final = (
    *(Case(id=f"B32: {value!r} as {'a constant' if as_constant else 'an input'}", rule="S1.6",
            flow=partial(falsy, value, as_constant=as_constant), inputs={} if as_constant else {"v": value},
            outputs={"opt": value, "sink": value, "itself": value, **({"zero": value} if value == 0 else {})},
            runs={"ident": 1, "defaulted": 1, "sink": 1, **({"ident_2": 1} if value == 0 else {})})
        for value in FALSY
        for as_constant in (False, True)),
    Case(id="B33 optional, no edge", rule="S4.5", flow=partial(optional_port, "nowhere"),
        outputs={"o": "dflt"}, runs={"split": 1, "ident": 1, "defaulted": 1}),
    Case(id="B33 optional, None", rule="S1.6", flow=partial(optional_port, "none"), outputs={"o": None},
        runs={"split": 1, "ident": 1, "defaulted": 1},
        events=(("node_finished", "ident", {}), ("node_started", "defaulted", {}))),
    Case(id="B33 optional, from a skipped node", rule="S4.3", flow=partial(optional_port, "skipped"),
        runs={"split": 1, "ident": 1}, states={"defaulted": "skipped", "src": "skipped"}),
    Case(id="B33 optional, left out", rule="S4.3", flow=partial(optional_port, "left out"),
        runs={"split": 1, "ident": 1}, states={"defaulted": "skipped", "split": "done"},
        why={"defaulted": ("defaulted: port 'x'", "split: port 'b' not emitted")}),
    *(Case(id=f"B33 optional, beside a live port: {source}", rule="S4.4",
            flow=partial(optional_port, source, beside=True), outputs={"o": ["dflt", 1]})
        for source in ("skipped", "left out")),
    *(Case(id=f"what an open container holds is checked: {given}", rule="S1.7", flow=opened,
            inputs={"given": given}, **ends)
        for given, ends in ((["a"], {"outputs": {"count": 1}}),
            ([1], {"status": "failed", "failures": (("texts", "NodeFailed", "DF0601 texts.given[0]:"),)}))),
    Case(id="an unconditional port left out", rule="S3.2", flow=partial(returning, without_a, "a"),
        status="failed", failures=(("without_a", "NodeFailed", "DF0807 without_a.a:"),)),
    Case(id="a key left out", rule="S1.3", flow=partial(returning, only_a, "a", "b", "out"), outputs={"a": 1},
        why={"only_a.out": ("port 'out' not emitted",), "only_a.b": ("port 'b' not emitted",)}),
    Case(id="a whole result with a field left out", rule="S1.3", flow=partial(fields, all_given=False),
        outputs={"sum": 7}, runs={"split": 1, "add": 1}, states={"whole": "skipped"},
        why={"whole": ("whole: port 'parts'", "split: port 'out' not emitted")}),
)  # fmt: skip
