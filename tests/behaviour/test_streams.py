"""A stream of the pieces of one port (S3.5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from anyio import Event, create_task_group, wait_all_tasks_blocked

from dataflow import (
    DataflowError,
    Flow,
    Run,
    RunFailed,
    collect,
    each,
    merge,
    node,
    this_firing,
    threaded,
)  # fmt: skip


@node
async def words(text: str) -> AsyncIterator[str]:
    for word in text.split():
        yield word


async def spells(text: str) -> str:
    for letter in text:
        this_firing().emit(letter)
    return text.upper()


async def quiet(text: str) -> str:
    return text


async def breaks(text: str) -> str:
    this_firing().emit("a piece")
    raise ValueError(text)


async def length(text: str) -> int:
    return len(text)


async def join(texts: list[str]) -> str:
    return " ".join(texts)


def waits_for(gate: Event) -> Callable[[str], Any]:
    async def waits(text: str) -> str:
        await gate.wait()
        return text

    return waits


async def all_of(run: Run, port: Any) -> list[Any]:
    return [piece async for piece in run.stream(port)]


def small() -> Flow:
    """Split, spell and pass on a text, and read them inside a map and a loop."""
    with Flow("small") as f:
        text = f.input("text", str)
        listed = f.add(words, text)
        f.output("words", listed.out)
        f.output("spelled", f.add(spells, text).out)
        f.output("quiet", f.add(quiet, text).out)
        f.output("lengths", collect(f.add(length, each(listed.out)).out))
        with f.loop(limit=2) as loop:
            carried = loop.carry(text)
            carried.next(f.add(node(spells).with_(name="again"), carried.out).out)
        f.output("looped", carried.final)
    return f


@pytest.mark.parametrize(
    ("port", "pieces"),
    [
        ("words", ["a", "bc"]),
        ("words.out", ["a", "bc"]),
        ("spelled", ["a", " ", "b", "c"]),
        ("spells.out", ["a", " ", "b", "c"]),
        ("quiet", ["a bc"]),
        ("$in.text", ["a bc"]),
        ("lengths", [[1, 2]]),
        ("looped", ["A BC"]),
    ],
)
async def test_the_pieces_of_a_port_or_its_value_if_there_are_none(port: str, pieces: list[Any]) -> None:
    async with small().start(text="a bc") as run:
        assert await all_of(run, port) == pieces


async def test_a_port_or_a_step_of_the_builder_names_the_port() -> None:
    with Flow() as f:
        step = f.add(spells, f.input("text", str))
    async with f.start(text="ab") as run:
        by_port, by_step = run.stream(step.out), run.stream(step)
        assert [piece async for piece in by_port] == ["a", "b"]
        assert [piece async for piece in by_step] == ["a", "b"]


async def test_only_ports_of_the_root_have_streams() -> None:
    refused: dict[Any, str] = {
        "nobody": "DF0302",
        "quiet.other": "DF0302",
        "length": r"DF0335 length\.out:",
        "again": r"DF0335 again\.out:",
        "quiet.$done": r"quiet\.\$done",
        3: "DF0338",
    }
    async with small().start(text="a bc") as run:
        for port, problem in refused.items():
            with pytest.raises(DataflowError, match=problem):
                run.stream(port)


async def test_a_port_of_another_flow_is_refused() -> None:
    with Flow("other") as other:
        step = other.add(quiet, "a")
    async with small().start(text="a") as run:
        with pytest.raises(DataflowError, match=r"DF0336 quiet\.out:"):
            run.stream(step.out)


async def test_it_ends_when_the_port_has_settled_not_with_the_run() -> None:
    gate = Event()
    with Flow() as f:
        step = f.add(words, "a b")
        f.add(waits_for(gate), f.add(join, step.out).out)
    async with f.start() as run:
        assert await all_of(run, step.out) == ["a", "b"]
        assert run.status == "running"
        gate.set()


async def test_pieces_come_while_the_node_runs() -> None:
    gate, seen = Event(), list[str]()

    @node
    async def halting() -> AsyncIterator[str]:
        yield "first"
        await gate.wait()
        yield "second"

    with Flow() as f:
        step = f.add(halting)
    async with f.start() as run:
        async for piece in run.stream(step.out):
            seen.append(piece)
            assert gate.is_set() == (piece == "second")
            gate.set()
    assert seen == ["first", "second"]


@pytest.mark.parametrize(("is_long", "pieces"), [(True, ["abc"]), (False, [])])
async def test_a_skip_ends_it_without_anything(is_long: bool, pieces: list[str]) -> None:
    with Flow() as f:
        exits = f.when("abc", lambda _: is_long)
        step = f.add(quiet, exits.yes)
    async with f.start() as run:
        assert await all_of(run, step.out) == pieces


@pytest.mark.parametrize(("port", "pieces"), [("breaks", ["a piece"]), ("quiet", [])])
@pytest.mark.parametrize("errors", ["fail_fast", "continue"])
async def test_an_error_ends_it_and_the_run_tells_the_failure(
    port: str, pieces: list[str], errors: Any
) -> None:
    with Flow() as f:
        f.add(quiet, f.add(breaks, "no").out)
    found = None
    with pytest.raises(RunFailed, match="no"):
        async with f.using(errors=errors).start() as run:
            found = await all_of(run, port)
    assert found == pieces


@pytest.mark.parametrize(("says", "pieces"), [(True, ["1", "2"]), (False, ["1", "done"])])
async def test_after_a_failed_attempt_it_goes_on_with_the_next(says: bool, pieces: list[str]) -> None:
    async def tries() -> str:
        attempt = this_firing().attempt
        if says or attempt == 1:
            this_firing().emit(str(attempt))
        if attempt == 1:
            raise ValueError("try again")
        return "done"

    with Flow() as f:
        step = f.add(node(retries=1)(tries))
    async with f.start() as run:
        assert await all_of(run, step.out) == pieces


async def test_the_value_in_place_of_a_failed_attempt_comes_after_its_pieces() -> None:
    with Flow() as f:
        step = f.add(node(default="instead")(breaks), "no")
    async with f.start() as run:
        assert await all_of(run, step.out) == ["a piece", "instead"]


async def test_a_cancelled_run_ends_it() -> None:
    with Flow() as f:
        step = f.add(waits_for(Event()), "a")
    async with f.start() as run:
        stream = run.stream(step.out)
        run.cancel()
        assert [piece async for piece in stream] == []


async def test_what_a_merge_takes_is_known_at_once() -> None:
    gate = Event()
    with Flow() as f:
        f.output("o", merge(f.add(quiet, "a").out, f.add(waits_for(gate), "b").out))
    async with f.start() as run:
        assert await all_of(run, "o") == ["a"]
        gate.set()


async def test_one_opened_late_gets_the_later_pieces() -> None:
    gates = [Event(), Event()]

    @node
    async def halting() -> AsyncIterator[str]:
        yield "first"
        gates[0].set()
        await gates[1].wait()
        yield "second"

    with Flow() as f:
        step = f.add(halting)
    async with f.start() as run:
        await gates[0].wait()
        stream = run.stream(step.out)
        gates[1].set()
        assert [piece async for piece in stream] == ["second"]


async def test_one_opened_after_the_port_has_settled_gets_the_value() -> None:
    with Flow() as f:
        generated, spelled = f.add(words, "a b"), f.add(spells, "ab")
    async with f.start() as run:
        await run
        assert await all_of(run, generated.out) == ["a", "b"]
        assert await all_of(run, spelled.out) == ["AB"]


async def test_a_value_is_passed_on_before_it_is_let_go() -> None:
    gate = Event()
    with Flow() as f:
        read = f.add(quiet, f.add(spells, f.input("text", str)).out)
        f.add(waits_for(gate), read.out)
    async with f.using(keep=False).start(text="ab") as run:
        assert await all_of(run, "quiet") == ["AB"]
        with pytest.raises(DataflowError, match=r"DF0337 spells\.out:"):
            run.stream("spells")
        gate.set()


async def test_a_slow_reader_neither_slows_the_run_nor_loses_a_piece() -> None:
    with Flow() as f:
        step = f.add(spells, "abc")
    async with f.start() as run:
        stream = run.stream(step.out)
        assert await anext(stream) == "a"
        await run
        assert [piece async for piece in stream] == ["b", "c"]


async def test_each_reader_has_its_own_copies() -> None:
    async def lists() -> str:
        this_firing().emit([1])
        return ""

    with Flow() as f:
        step = f.add(lists)
    async with f.start() as run:
        first: Any = run.stream(step.out)
        second: Any = run.stream(step.out)
        piece: Any = await anext(first)
        piece.append(2)
        assert await anext(second) == [1]


async def test_pieces_of_another_port_or_node_are_not_among_them() -> None:
    with Flow() as f:
        f.add(spells, "ab")
        other = f.add(node(spells).with_(name="other"), "cd")
    async with f.start() as run:
        assert await all_of(run, other.out) == ["c", "d"]


async def test_pieces_from_a_thread_come_in_order() -> None:
    @threaded
    def speaks() -> str:
        for letter in "abc":
            this_firing().emit(letter)
        return "abc"

    with Flow() as f:
        step = f.add(speaks)
    async with f.start() as run:
        assert await all_of(run, step.out) == ["a", "b", "c"]


async def test_a_reader_that_waits_is_woken_by_the_next_piece() -> None:
    gate, seen = Event(), list[str]()

    @node
    async def halting() -> AsyncIterator[str]:
        await gate.wait()
        yield "a"

    async def read(stream: AsyncIterator[str]) -> None:
        seen.extend([piece async for piece in stream])

    with Flow() as f:
        step = f.add(halting)
    async with f.start() as run, create_task_group() as group:
        group.start_soon(read, run.stream(step.out))
        await wait_all_tasks_blocked()
        assert seen == []
        gate.set()
        await run
    assert seen == ["a"]
