"""Ports into which two conversations lead: refused, unless only one can come (S5.2, S10.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dataflow import (
    ExecutionContext,
    Failure,
    Flow,
    Maybe,
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

BOTH = "port '{}' could get two conversations, from {} and from {}; make one of them with merge_contexts"


async def chat(context: ExecutionContext, text: str = "") -> ExecutionContext:
    return context


async def maybe_chat(context: ExecutionContext) -> Maybe[ExecutionContext]:
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


@node(ports=lambda _: Ports({"texts": Port(ExecutionContext, many=True, default=())}))
async def raw(inputs: Mapping[str, Any]) -> NodeOutput:
    return NodeOutput()


def named(name: str, function: Any = quiet) -> Any:
    return node(function).with_(name=name)


def into_chat(f: Flow, *sources: Any) -> None:
    """Wire several contexts into one port, as documents and `connect` can."""
    last = f.add(named("last", chat), sources[0])
    for source in sources[1:]:
        f.connect(repr(source).strip("'"), "last.context")
    f.output("o", last.out)


def two_sure(f: Flow, main: Any, text: Any) -> None:
    into_chat(f, f.add(named("a"), main, text).out, f.add(named("b"), main, text).out)


def one_and_what_goes_on_from_it(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    into_chat(f, main, f.add(named("b"), main, exits.yes).out)


def behind_one_exit(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    into_chat(f, f.add(named("a"), main, exits.yes).out, f.add(named("b"), main, exits.yes).out)


@node(ports=lambda _: Ports({}, {name: Port(str, exit=name[0]) for name in ("a1", "a2", "b1")}))
async def forks(inputs: Mapping[str, Any]) -> NodeOutput:
    return NodeOutput({"a1": "t"})


def two_ports_of_one_exit(f: Flow, main: Any, text: Any) -> None:
    fork = f.add(forks)
    into_chat(f, f.add(named("a"), main, fork.out.a1).out, f.add(named("b"), main, fork.out.a2).out)


def exits_of_a_raw_node(f: Flow, main: Any, text: Any) -> None:
    fork = f.add(forks)
    into_chat(f, f.add(named("a"), main, fork.out.a1).out, f.add(named("b"), main, fork.out.b1).out)


def behind_two_branches(f: Flow, main: Any, text: Any) -> None:
    one, other = f.when(text, bool), f.when(text, bool, name="other")
    into_chat(f, f.add(named("a"), main, one.yes).out, f.add(named("b"), main, other.no).out)


def ports_that_may_be_left_out(f: Flow, main: Any, text: Any) -> None:
    into_chat(f, f.add(named("a", maybe_chat), main).out, f.add(named("b", maybe_chat), main).out)


def optional_ports_behind_exits(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    into_chat(f, f.add(named("a", chat), main, exits.yes).out, f.add(named("b", chat), main, exits.no).out)


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
    told = f.add(talk, failed.out)
    into_chat(f, f.add(named("a"), main, told.out).out, f.add(named("b"), main, exits.no).out)


def into_many(f: Flow, main: Any, text: Any) -> None:
    f.add(named("last", many), f.add(named("a"), main, text).out, f.add(named("b"), main, text).out)


REFUSED: list[tuple[Callable[..., None], str]] = [
    (two_sure, BOTH.format("last.context", "a.out", "b.out")),
    (one_and_what_goes_on_from_it, BOTH.format("last.context", "main.out", "b.out")),
    (behind_one_exit, BOTH.format("last.context", "a.out", "b.out")),
    (two_ports_of_one_exit, BOTH.format("last.context", "a.out", "b.out")),
    (behind_two_branches, BOTH.format("last.context", "a.out", "b.out")),
    (ports_that_may_be_left_out, BOTH.format("last.context", "a.out", "b.out")),
    (optional_ports_behind_exits, BOTH.format("last.context", "a.out", "b.out")),
    (what_several_rounds_leave, BOTH.format("last.context", "loop.a", "loop.b")),
    (an_error_from_behind_the_other_exit, BOTH.format("last.context", "a.out", "b.out")),
    (into_many, BOTH.format("last.contexts", "a.out", "b.out")),
]


def wired(wire: Callable[..., None]) -> Flow:
    f = Flow()
    wire(f, f.context("main"), f.input("text", str))
    return f


@pytest.mark.parametrize(("wire", "problem"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_two_conversations_that_could_come_together_are_refused(
    wire: Callable[..., None], problem: str
) -> None:
    assert wired(wire).check() == [problem]


def test_so_is_a_list_of_them() -> None:
    f = Flow()
    main, text = f.context("main"), f.input("text", str)
    f.add(listed, gather(f.add(quiet, main, text).out, f.add(named("b"), main, text).out))
    both = BOTH.format("-", "quiet.out", "b.out").removeprefix("port '-'")
    assert f.check() == [f"gather(quiet.out, b.out){both}"]


def test_a_port_of_many_of_a_raw_node_is_no_exception() -> None:
    f = Flow()
    main = f.context("main")
    f.add(raw, texts=main)
    f.connect("main", "raw.texts")
    assert f.check() == [BOTH.format("raw.texts", "main.out", "main.out")]


def two_exits(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    into_chat(f, f.add(named("a"), main, exits.yes).out, f.add(named("b"), main, exits.no).out)


def three_cases_far_behind(f: Flow, main: Any, text: Any) -> None:
    cases = f.switch(text, str, ["1", "2", "3"])
    ends = []
    for case in ("1", "2", "3"):
        deep = f.add(named(f"text{case}", text_of), cases[case])
        ends.append(f.add(named(f"chat{case}", chat), f.add(named(f"first{case}"), main, deep.out).out).out)
    into_chat(f, *ends)


def a_merge_behind_an_exit(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    a, b = f.add(named("a"), main, exits.yes), f.add(named("b"), main, exits.yes)
    merged = f.add(named("m", chat), merge(a.out, b.out))
    into_chat(f, merged.out, f.add(named("c"), main, exits.no).out)


def by_order_alone(f: Flow, main: Any, text: Any) -> None:
    exits = f.when(text, bool)
    told = f.add(text_of, exits.yes)
    a, b = f.add(named("a", chat), main), f.add(named("b"), main, exits.no)
    f.after(a, told.done)
    into_chat(f, a.out, b.out)


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


def one_by_itself_into_many(f: Flow, main: Any, text: Any) -> None:
    f.add(many, main)


def what_a_map_collects(f: Flow, main: Any, text: Any) -> None:
    f.add(listed, collect(f.add(named("a"), main, each(["a", "b"])).out))


@pytest.mark.parametrize(
    "wire",
    [
        two_exits,
        exits_of_a_raw_node,
        three_cases_far_behind,
        a_merge_behind_an_exit,
        by_order_alone,
        a_node_and_what_handles_its_failure,
        inside_a_loop,
        one_by_itself_into_many,
        what_a_map_collects,
    ],
)
def test_what_never_comes_together_is_wired_as_it_is(wire: Callable[..., None]) -> None:
    assert wired(wire).check() == []


@pytest.mark.parametrize(
    "join",
    [
        merge,
        race,
        lambda a, b: fallback(a, b),
        lambda a, b: merge_contexts(a, b, how="pick"),
        lambda a, b: merge_contexts(a, b, how="append"),
        lambda a, b: merge_contexts(a, b, how="results"),
        lambda a, b: merge_contexts(a, b, how=max),
    ],
)
def test_a_join_says_what_becomes_of_both(join: Any) -> None:
    f = Flow()
    main, text = f.context("main"), f.input("text", str)
    f.add(chat, join(f.add(quiet, main, text).out, f.add(named("b"), main, text).out))
    assert f.check() == []


async def pick_later(contexts: list[ExecutionContext]) -> ExecutionContext:
    return contexts[0]


NO_POLICY = "port 'chat.context': how of merge_contexts cannot be 'first'; choices: pick, append, results, or a function"  # noqa: E501 - a whole message
ASYNC = (
    "port 'chat.context': how of merge_contexts: expected a plain function, found the async function "
    "pick_later; decide inside a node"
)


@pytest.mark.parametrize(("how", "problem"), [("first", NO_POLICY), (pick_later, ASYNC)])
def test_how_is_a_policy_or_a_plain_function(how: Any, problem: str) -> None:
    f = Flow()
    f.add(chat, merge_contexts(f.context("main"), how=how))
    assert f.check() == [problem]


@pytest.mark.parametrize("how", ["pick", "append"])
def test_only_conversations_are_merged(how: Any) -> None:
    f = Flow()
    text: Any = f.input("text", str)
    f.output("o", merge_contexts(text, f.context("main"), how=how))
    assert f.check() == ["merge_contexts reads $in.text, which is str; expected ExecutionContext"]


def test_settings_of_a_context_that_cannot_be_are_a_problem() -> None:
    f = Flow()
    f.context("main", system=3)  # type: ignore[arg-type]  # what the test is about
    assert f.check() == ["node 'main' (control.context): config system: expected a valid string, found int 3"]
