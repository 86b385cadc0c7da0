"""Ports into which two conversations lead: refused, unless only one can come (S5.2, S10.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dataflow import (
    Diagnostic,
    ExecutionContext,
    Failure,
    Flow,
    NodeOutput,
    Port,
    Ports,
    collect,
    each,
    fallback,
    gather,
    merge,
    merge_contexts,
    node,
    race,
)  # fmt: skip


async def chat(context: ExecutionContext, text: str = "") -> ExecutionContext:
    return context


async def quiet(context: ExecutionContext, text: str) -> ExecutionContext:
    return context


async def recover(failure: Failure, context: ExecutionContext) -> ExecutionContext:
    return context


async def talk(told: str | Failure) -> str:
    return str(told)


async def many(*contexts: ExecutionContext) -> int:
    return len(contexts)


async def listed(contexts: list[ExecutionContext]) -> int:
    return len(contexts)


async def text_of(text: str) -> str:
    return text


def named(name: str, function: Any = quiet) -> Any:
    return node(function).with_(name=name)


def into_chat(f: Flow, *sources: Any) -> None:
    """Wire several contexts into one port, as documents and `connect` can."""
    last = f.add(named("last", chat), sources[0])
    for source in sources[1:]:
        f.connect(repr(source).strip("'"), "last.context")
    f.output("o", last.out)


def both(f: Flow, main: Any, one: Any, other: Any, function: Any = quiet) -> None:
    into_chat(f, f.add(named("a", function), main, one).out, f.add(named("b", function), main, other).out)


@node(ports=lambda _: Ports({}, {name: Port(str, exit=name[0]) for name in ("a1", "a2", "b1")}))
async def forks(inputs: Mapping[str, Any]) -> NodeOutput:
    return NodeOutput({"a1": "t"})


Wire = Callable[[Flow, Any, Any], object]


def exits(yes: str, no: str, function: Any = quiet) -> Wire:
    def wire(f: Flow, main: Any, text: Any) -> None:
        branch = f.when(text, bool)
        both(f, main, getattr(branch, yes), getattr(branch, no), function)

    return wire


def forked(one: str, other: str) -> Wire:
    def wire(f: Flow, main: Any, text: Any) -> None:
        fork = f.add(forks)
        both(f, main, getattr(fork.out, one), getattr(fork.out, other))

    return wire


def what_several_rounds_leave(f: Flow, main: Any, text: Any) -> None:
    with f.loop(limit=2) as loop:
        carried = loop.carry(text)
        exits = f.when(carried.out, bool)
        yes = loop.result(f.add(named("a"), main, exits.yes).out)
        no = loop.result(f.add(named("b"), main, exits.no).out)
        carried.next(carried.out)
    into_chat(f, yes, no)


def an_error_from_behind_the_other_exit(f: Flow, main: Any, text: Any) -> None:
    """The failure of what is behind an exit may come though the exit was not taken (S4.2)."""
    exits = f.when(text, bool)
    failed = f.add(named("broken", text_of), exits.yes)
    both(f, main, f.add(talk, failed.out).out, exits.no)


def two(f: Flow, main: Any, text: Any) -> tuple[Any, Any]:
    return f.add(named("a"), main, text).out, f.add(named("b"), main, text).out


#: The wiring, with the port and the two conversations that may meet there.
REFUSED: list[tuple[Wire, str, str, str]] = [
    (lambda f, main, text: both(f, main, text, text), "last.context", "a.out", "b.out"),
    (
        lambda f, main, text: into_chat(f, main, f.add(named("b"), main, f.when(text, bool).yes).out),
        "last.context", "main.out", "b.out",
    ),
    (exits("yes", "yes"), "last.context", "a.out", "b.out"),
    (forked("a1", "a2"), "last.context", "a.out", "b.out"),
    (
        lambda f, main, text: both(f, main, f.when(text, bool).yes, f.when(text, bool).no),
        "last.context", "a.out", "b.out",
    ),
    (exits("yes", "no", chat), "last.context", "a.out", "b.out"),
    (what_several_rounds_leave, "last.context", "loop.a", "loop.b"),
    (an_error_from_behind_the_other_exit, "last.context", "a.out", "b.out"),
    (lambda *given: given[0].add(named("last", many), *two(*given)), "last.contexts", "a.out", "b.out"),
    (lambda *given: given[0].add(listed, gather(*two(*given))), "listed.contexts", "a.out", "b.out"),
]  # fmt: skip


def wired(wire: Wire) -> Flow:
    f = Flow()
    wire(f, f.context("main"), f.input("text", str))
    return f


def test_two_conversations_that_could_meet_are_refused() -> None:
    for wire, port, first, second in REFUSED:
        (problem,) = wired(wire).check()
        assert isinstance(problem, Diagnostic)
        assert (problem.code, problem.place) == ("DF0334", port)
        assert dict(problem.details) == {"first": first, "second": second}


def a_merge_behind_an_exit(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    a, b = f.add(named("a"), main, exits.yes), f.add(named("b"), main, exits.yes)
    merged = f.add(named("m", chat), merge(a.out, b.out))
    into_chat(f, merged.out, f.add(named("c"), main, exits.no).out)


def a_node_and_what_handles_its_failure(f: Flow, main: Any, text: Any) -> None:
    a = f.add(named("a"), main, text)
    into_chat(f, a.out, f.add(recover, a.error, main).out)


def inside_a_loop(f: Flow, main: Any, text: Any) -> None:
    with f.loop(limit=2) as loop:
        carried = loop.carry(main)
        exits = f.when(text, bool)
        last = f.add(named("last", chat), f.add(named("a"), carried.out, exits.yes).out)
        f.add(named("b"), carried.out, exits.no)
        f.connect("b", "last.context")
        carried.next(last.out)
    f.output("o", carried.final)


def test_conversations_that_never_meet_are_accepted() -> None:
    accepted: list[Wire] = [
        exits("yes", "no"), forked("a1", "b1"), a_merge_behind_an_exit, a_node_and_what_handles_its_failure,
        inside_a_loop,
        lambda f, main, _text: f.add(many, main),
        lambda f, main, _text: f.add(listed, collect(f.add(quiet, main, each(["a", "b"])).out)),
    ]  # fmt: skip
    for wire in accepted:
        assert wired(wire).check() == []


def test_joins_combine_two_conversations() -> None:
    joins: list[Any] = [merge, race, fallback]
    hows: list[Any] = ["pick", "append", "results", max]
    for join in [*joins, *(partial(merge_contexts, how=how) for how in hows)]:
        f = Flow()
        f.add(chat, join(*two(f, f.context("main"), f.input("text", str))))
        assert f.check() == []
