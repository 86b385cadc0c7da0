"""A stream of the pieces of one port (S3.5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

import anyio
import pytest
from anyio import create_task_group, wait_all_tasks_blocked

from dataflow import DataflowError, Flow, Run, RunFailed, collect, each, merge, node, this_firing, threaded
from tests.behaviour.nodes import gated


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


def halting(*gates: anyio.Event) -> Any:
    @node(name="halting")
    async def gives() -> AsyncIterator[int]:
        for number, gate in enumerate(gates):
            await gate.wait()
            yield number

    return gives


async def all_of(run: Run, port: Any) -> list[Any]:
    return [piece async for piece in run.stream(port)]


def small() -> Flow:
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


async def test_the_pieces_of_a_port_or_its_value_if_there_are_none() -> None:
    pieces: dict[str, list[Any]] = {
        "words": ["a", "bc"], "words.out": ["a", "bc"], "spelled": ["a", " ", "b", "c"],
        "spells.out": ["a", " ", "b", "c"], "quiet": ["a bc"], "$in.text": ["a bc"], "lengths": [[1, 2]],
        "looped": ["A BC"],
    }  # fmt: skip
    for port, expected in pieces.items():
        async with small().start(text="a bc") as run:
            assert await all_of(run, port) == expected


async def test_only_ports_of_the_root_of_the_flow_have_streams() -> None:
    with Flow("other") as other:
        step = other.add(quiet, "a")
    refused: dict[Any, str] = {
        "nobody": "DF0302", "quiet.other": "DF0302", "length": r"DF0335 length\.out:",
        "again": r"DF0335 again\.out:", "quiet.$done": r"quiet\.\$done", 3: "DF0338",
        step.out: r"DF0336 quiet\.out:",
    }  # fmt: skip
    async with small().start(text="a bc") as run:
        for port, problem in refused.items():
            with pytest.raises(DataflowError, match=problem):
                run.stream(port)


async def test_it_ends_when_the_port_has_settled_not_with_the_run() -> None:
    gate = anyio.Event()
    with Flow() as f:
        step = f.add(words, "a b")
        f.add(gated(gate, "held"), f.add(join, step.out).out)
        f.output("merged", merge(f.add(quiet, "a").out, f.add(gated(gate), "b").out))
    async with f.start() as run:
        assert await all_of(run, step.out) == ["a", "b"]
        assert await all_of(run, "merged") == ["a"]  # what a merge takes is known before it has all
        assert run.status == "running"
        gate.set()


async def test_pieces_come_while_the_node_runs_and_wake_a_reader() -> None:
    first, second, seen = anyio.Event(), anyio.Event(), list[int]()

    async def read(stream: AsyncIterator[int]) -> None:
        async for piece in stream:
            seen.append(piece)
            assert second.is_set() == (piece == 1)
            second.set()

    with Flow() as f:
        step = f.add(halting(first, second))
    async with f.start() as run, create_task_group() as group:
        stream: Any = run.stream(step.out)
        group.start_soon(read, stream)
        await wait_all_tasks_blocked()
        assert seen == []
        first.set()
        await run
    assert seen == [0, 1]


async def test_skips_and_cancelled_runs_end_it_without_anything() -> None:
    for is_long, pieces in ((True, ["abc"]), (False, [])):
        with Flow() as f:
            step = f.add(quiet, f.when("abc", lambda _, is_long=is_long: is_long).yes)  # type: ignore[misc]
        async with f.start() as run:
            assert await all_of(run, step.out) == pieces
    with Flow() as f:
        waiting = f.add(gated(anyio.Event()), "a")
    async with f.start() as run:
        stream = run.stream(waiting.out)
        run.cancel()
        assert [piece async for piece in stream] == []


async def test_an_error_ends_it_and_the_run_reports_the_failure() -> None:
    ways: tuple[Literal["fail_fast", "continue"], ...] = ("fail_fast", "continue")
    for errors in ways:
        for port, pieces in (("breaks", ["a piece"]), ("quiet", [])):
            with Flow() as f:
                f.add(quiet, f.add(breaks, "no").out)
            found = None
            with pytest.raises(RunFailed, match="no"):
                async with f.using(errors=errors).start() as run:
                    found = await all_of(run, port)
            assert found == pieces


async def test_after_a_failed_attempt_it_continues_with_what_is_given_instead() -> None:
    async def tries(says: bool) -> str:
        attempt = this_firing().attempt
        if says or attempt == 1:
            this_firing().emit(str(attempt))
        if attempt == 1:
            raise ValueError("try again")
        return "done"

    for says, pieces in ((True, ["1", "2"]), (False, ["1", "done"])):
        with Flow() as f:
            step = f.add(node(retries=1)(tries), says=says)
        async with f.start() as run:
            assert await all_of(run, step.out) == pieces
    with Flow() as f:
        broken = f.add(node(default="instead")(breaks), "no")
    async with f.start() as run:
        assert await all_of(run, broken.out) == ["a piece", "instead"]


async def test_a_value_is_passed_on_before_it_is_released() -> None:
    gate = anyio.Event()
    with Flow() as f:
        read = f.add(quiet, f.add(spells, f.input("text", str)).out)
        f.add(gated(gate), read.out)
    async with f.using(keep=False).start(text="ab") as run:
        assert await all_of(run, "quiet") == ["AB"]
        with pytest.raises(DataflowError, match=r"DF0337 spells\.out:"):
            run.stream("spells")
        gate.set()


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
