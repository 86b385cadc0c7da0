# ruff: noqa: E501 - a row is a line
"""What decides the outcome of a firing, and tables of outcomes in memory (S13.1, S13.2)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, TypedDict

import pytest
from pydantic import Field

from dataflow import Config, Flow, Maybe, MemoStats, ProcessMemo, Secret, node, threaded
from dataflow.compiler.plan import Call
from dataflow.memo.fingerprints import Fingerprint, fingerprint
from dataflow.memo.table import Entry
from dataflow.scheduler.hits import Candidate, Origin, Outcome, hit_of, why_missed
from dataflow.values.digests import NoDigest, digest
from tests.support.processes import printed_with
from tests.support.quick_nodes import Adder, awaiting, plan_of

RATE: Any = 3


class Mode(Enum):
    FAST = 1
    SLOW = 2


class Pair(TypedDict):
    x: int
    y: int


class Triple(Pair):
    z: int


class Perhaps(TypedDict):
    x: int
    y: Maybe[int]


class Settings(Config):
    mode: str = "a"
    tags: list[str] = Field(default_factory=lambda: ["x"])
    how: Any = None


def call_of(function: Any, **given: Any) -> Call:
    def wire(flow: Flow) -> None:
        step = flow.add(function, **given)
        flow.output("out", step.out)

    (found,) = [each.action for each in plan_of(wire).nodes if isinstance(each.action, Call)]
    return found


def of(function: Any, *, at: Any = None, environment: tuple[str, ...] = (), **inputs: Any) -> Fingerprint:
    given = inputs if at is None else {**inputs, "config": at}
    call = call_of(function, **given)
    ports = tuple(sorted(inputs))
    return fingerprint(call, ports, [digest(inputs[port]) for port in ports], environment)


def differing(one: Fingerprint, other: Fingerprint) -> set[str]:
    names = {*one.parts, *other.parts}
    different = {name for name in names if one.parts.get(name) != other.parts.get(name)}
    assert (one.key == other.key) == (not different)
    return different


def compiled(source: str, **names: Any) -> Any:
    """Define `f` as a cell of a notebook does: without a file that has its source."""
    names.setdefault("__name__", "notebook")
    exec(source, names)  # a text of this file
    return names["f"]


async def f() -> int:
    return 1


async def rated(x: int) -> Any:
    return x * RATE


async def h(x: int, y: int = 10) -> int:
    return x + y


async def configured(x: int, config: Settings) -> int:
    return x


def make(k: Any) -> Any:
    async def add(x: int) -> Any:
        return (x, k)

    return add


def made_of(text: str, name: str = "f") -> Any:
    return node(name=name)(compiled(f"async def f(x: int = 1) -> object: {text}"))


def made_giving(result: str) -> Any:
    source = f"async def f() -> {result}: return {{'x': 1, 'y': 2, 'z': 3}}"
    return compiled(source, Pair=Pair, Triple=Triple, Perhaps=Perhaps)


ROWS: list[tuple[str, Callable[[], Fingerprint], Callable[[], Fingerprint], set[str]]] = [
    ("a constant", lambda: of(made_of("return 1")), lambda: of(made_of("return 2")), {"code"}),
    ("the type of a constant", lambda: of(made_of("return 1")), lambda: of(made_of("return 1.0")), {"code"}),
    ("a bool for a number", lambda: of(made_of("return 1")), lambda: of(made_of("return True")), {"code"}),
    ("the type of a node", lambda: of(f), lambda: of(compiled("async def f(): return 1")), {"type"}),
    ("a version", lambda: of(node(f)), lambda: of(node(version="2")(f)), {"version"}),
    ("an input", lambda: of(h, x=1), lambda: of(h, x=2), {"input 'x'"}),
    ("the type of an input", lambda: of(rated, x=1), lambda: of(rated, x=True), {"input 'x'"}),
    ("a further input", lambda: of(h, x=1), lambda: of(h, x=1, y=10), {"input 'y'"}),
    ("a default", lambda: of(compiled("async def f(x, y=10): ..."), x=1), lambda: of(compiled("async def f(x, y=11): ..."), x=1), {"default 'y'"}),
    ("a default of a keyword", lambda: of(compiled("async def f(*, y=10): ...")), lambda: of(compiled("async def f(*, y=11): ...")), {"default 'y'"}),
    ("a closure", lambda: of(make(1), x=5), lambda: of(make(2), x=5), {"closure 'k'"}),
    ("the type of a closure", lambda: of(make(1), x=5), lambda: of(make(1.0), x=5), {"closure 'k'"}),
    ("a list in a closure", lambda: of(make([1]), x=5), lambda: of(make([2]), x=5), {"closure 'k'"}),
    ("a function in a closure", lambda: of(make(lambda: 1), x=5), lambda: of(make(lambda: 2), x=5), {"closure 'k'"}),
    ("what a function in a closure holds", lambda: of(make(make(1)), x=5), lambda: of(make(make(2)), x=5), {"closure 'k'"}),
    ("a class in a closure", lambda: of(make(Adder), x=5), lambda: of(make(Settings), x=5), {"closure 'k'", "library 'pydantic'", "library 'pydantic_core'"}),
    ("a function that it calls", lambda: of(compiled("def g(): return 1\nasync def f(): return g()")), lambda: of(compiled("def g(): return 2\nasync def f(): return g()")), {"helper 'notebook:g'"}),
    ("the ports of a result", lambda: of(made_giving("dict")), lambda: of(made_giving("Pair")), {"result"}),
    ("the keys of a result", lambda: of(made_giving("Pair")), lambda: of(made_giving("Triple")), {"result"}),
    ("a key that may be left out", lambda: of(made_giving("Pair")), lambda: of(made_giving("Perhaps")), {"result"}),
    ("a setting", lambda: of(configured, x=1, at=Settings(mode="a")), lambda: of(configured, x=1, at=Settings(mode="b")), {"config 'mode'"}),
    ("a list in a config", lambda: of(configured, x=1, at=Settings(tags=["a"])), lambda: of(configured, x=1, at=Settings(tags=["b"])), {"config 'tags'"}),
    ("a function in a config", lambda: of(configured, x=1, at=Settings(how=make(1))), lambda: of(configured, x=1, at=Settings(how=make(2))), {"config 'how'"}),
    ("an object", lambda: of(Adder(1), x=1), lambda: of(Adder(2), x=1), {"object"}),
    ("a method's object", lambda: of(Adder(1).add, x=1), lambda: of(Adder(2).add, x=1), {"object"}),
    ("an argument", lambda: of(functools.partial(h, y=1), x=1), lambda: of(functools.partial(h, y=2), x=1), {"argument 'y'"}),
    ("an argument by position", lambda: of(functools.partial(h, 1)), lambda: of(functools.partial(h, 2)), {"argument 0"}),
    ("what is wrapped", lambda: of(awaiting(make(1)), x=1), lambda: of(awaiting(make(2)), x=1), {"closure 'k'"}),
    ("a wrapper", lambda: of(awaiting(h), x=1), lambda: of(awaiting(awaiting(h)), x=1), {"code", "closure 'function'"}),
    ("a blocking function", lambda: of(threaded(compiled("def f(): return 1"))), lambda: of(threaded(compiled("def f(): return 2"))), {"code"}),
    ("a list that it reads", lambda: of(compiled("async def f(): return LIST", LIST=[1])), lambda: of(compiled("async def f(): return LIST", LIST=[2])), {"global 'LIST'"}),
    ("a lambda", lambda: of(threaded(lambda: 1)), lambda: of(threaded(lambda: 2)), {"code"}),
]  # fmt: skip


def test_parts_that_decide_the_outcome_count(subtests: pytest.Subtests) -> None:
    for name, one, other, parts in ROWS:
        with subtests.test(name):
            assert differing(one(), one()) == set()
            assert differing(one(), other()) == parts


SAME: list[tuple[str, Callable[[], Fingerprint], Callable[[], Fingerprint]]] = [
    ("the place in the file", lambda: of(made_of("return 1")), lambda: of(node(compiled("\n\nasync def f(x: int = 1) -> object:\n    return 1  # one")))),
    ("the order of inputs", lambda: of(h, x=1, y=2), lambda: of(h, y=2, x=1)),
    ("how a config is spelled", lambda: of(configured, x=1), lambda: of(configured, x=1, at=Settings(tags=["x"], mode="a"))),
    ("retries and limits", lambda: of(node(h), x=1), lambda: of(node(h).with_(retries=2, timeout=9, limit="api", on_error="skip"), x=1)),
    ("the id of a node", lambda: of(node(h), x=1), lambda: of(node(h).with_(name="other"), x=1)),
    ("state that it reads", lambda: of(compiled("async def f(): return LIST", LIST=[print])), lambda: of(compiled("async def f(): return LIST", LIST=[print, 2]))),
    ("a variable that it does not name", lambda: of(compiled("async def f(): return 1", RATE=1)), lambda: of(compiled("async def f(): return 1", RATE=2))),
    ("an attribute of that name", lambda: of(compiled("async def f(): return f.RATE", RATE=1)), lambda: of(compiled("async def f(): return f.RATE", RATE=2))),
    ("the value of a secret", lambda: of(make(Secret("KEY")), x=1), lambda: of(make(Secret("KEY", "of no concern")), x=1)),
]  # fmt: skip


def test_nothing_else_counts(subtests: pytest.Subtests) -> None:
    for name, one, other in SAME:
        with subtests.test(name):
            assert differing(one(), other()) == set()


MODE = f"helper '{__name__}:Mode'"


def test_plain_global_variables_count() -> None:
    values = (1, 1.0, True, None, "3", b"3", (1, (2,)), frozenset({1}), Mode.FAST, Mode.SLOW)
    for body in (
        "return RATE",
        "return [RATE for _ in 'a']",
        "return (lambda: RATE)()",
        "\n  class A: r = RATE",
    ):
        source = f"async def f(): {body}"
        three = of(compiled(source, RATE=3))
        for value in values:
            found = differing(three, of(compiled(source, RATE=value)))
            assert {part for part in found if MODE not in part} == {"global 'RATE'"}


def test_the_parts_are_named_as_people_read_them() -> None:
    k = 1

    async def all_of_it(x: int, config: Settings, y: int = 1) -> Any:
        return x + RATE + k

    told = of(all_of_it, x=1, at=Settings(), environment=("HOME",))
    assert sorted(told.parts) == [
        "Python", "closure 'k'", "code", "config 'how'", "config 'mode'", "config 'tags'", "default 'y'",
        "environment 'HOME'", "global 'RATE'", "input 'x'", "result", "type", "version",
    ]  # fmt: skip
    assert all(re.fullmatch("[0-9a-f]{32}", text) for text in told.parts.values())
    assert re.fullmatch("[0-9a-f]{40}", told.key)
    assert told.parts["input 'x'"] != digest(1).hex()


def test_a_function_with_something_without_content_hash_has_none() -> None:
    odd: Any = object()
    for function, place in [
        (make({"a": [odd]}), "closure 'k'[\"a\"][0]"),
        (Adder(odd), "object.by"),
        (Adder(odd).add, "object.by"),
        (functools.partial(h, y=iter([])), "argument 'y'"),  # type: ignore[arg-type]
        (compiled("async def f(x, y=object()): ..."), "default 'y'"),
    ]:
        with pytest.raises(NoDigest) as raised:
            of(function, x=1)
        assert (raised.value.problem.code, raised.value.problem.place) == ("DF0640", place)


def test_processes_with_other_hash_seeds_come_to_the_same() -> None:
    code = (
        "from tests.memo.test_fingerprints import ROWS;"
        "print(*[told().key for row in ROWS for told in row[1:3]])"
    )
    told = {printed_with(seed, code) for seed in ("1", "2")}
    assert told == {" ".join(each().key for row in ROWS for each in row[1:3])}


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def known(value: object = 1, *, type: str = "t", after: float = 0) -> Entry:
    origin = Origin("run", "a", NOON + after * SECOND)
    return Entry(type, {"input 'x'": str(value)}, hit_of(Outcome({"out": value}, {}, origin), "run"))


def keys_of(table: ProcessMemo, type: str = "t") -> list[str]:
    return [key for key, _ in table.newest(type, 99)]


class TestTable:
    def test_what_was_not_asked_for_the_longest_goes_first(self) -> None:
        table = ProcessMemo(most=2)
        table.remember("a", known())
        table.remember("b", known())
        assert table.recall("a") is not None
        table.remember("c", known())
        assert (keys_of(table), table.recall("b")) == (["c", "a"], None)

    def test_hits_and_misses_are_counted(self) -> None:
        table = ProcessMemo()
        table.recall("a")
        table.recall("a", is_counted=False)
        table.remember("a", known())
        table.recall("a")
        assert table.stats() == MemoStats(entries=1, hits=1, misses=1)
        table.recall("a", is_counted=False)
        assert table.stats() == MemoStats(entries=1, hits=1, misses=1)
        table.count_as_hit()
        assert table.stats() == MemoStats(entries=1, hits=2, misses=0)

    def test_threads_may_share_it(self) -> None:
        table = ProcessMemo(most=5)

        def use(number: int) -> None:
            table.remember(f"{number % 9}", known(type=f"{number % 2}"))
            table.recall(f"{number % 7}")
            if not number % 50:
                table.clear(f"{number % 2}")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(use, range(2_000)))
        assert table.stats().entries == len(keys_of(table, "0")) + len(keys_of(table, "1")) <= 5


PARTS = {"code": "c", "input 'x'": "1", "input 'y'": "2", "version": "v"}


def candidate(key: str = "other", *, after: float = 0, **parts: str) -> Candidate:
    named = {f"input {name!r}" if len(name) == 1 else name: value for name, value in parts.items()}
    return Candidate(key, {**PARTS, **named}, NOON + after * SECOND)


class TestWhy:
    """Why nothing is known: the nearest of the newest tells."""

    def test_the_fewest_parts_that_differ_are_named(self) -> None:
        cases = [
            ([], "nothing is known of this node type"),
            ([candidate(x="9")], "input 'x' differs from what is known"),
            ([candidate(x="9", y="9")], "input 'x' and input 'y' differ from what is known"),
            ([candidate(x="9", y="9"), candidate(code="9")], "code differs from what is known"),
            ([candidate(y="9"), candidate(x="9")], "input 'y' differs from what is known"),
            ([candidate(z="9")], "input 'z' differs from what is known"),
            (
                [candidate(code="9", version="9", x="9", y="9", z="9", q="9")],
                "code, input 'q', input 'x', input 'y', input 'z' and 1 more parts differ from what is known",
            ),
            ([candidate(x="9"), candidate("key")], "expired 3 s ago"),
        ]
        for known, told in cases:
            assert why_missed("key", PARTS, known, NOON + 63 * SECOND, 60) == told
