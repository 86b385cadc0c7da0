"""Races: which source wins, what is withdrawn, and what errors lead to (S5.3, S9.4)."""

from __future__ import annotations

from anyio import Event, get_cancelled_exc_class, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Failure, Flow, collect, each, fallback, race
from tests.behaviour.nodes import fails, forever, gated, ident, inc, nothing, one, opening, square, src
from tests.behaviour.table import failed_run, play, reasons, states_of


async def shown(failure: Failure | int) -> str:
    return failure.message if isinstance(failure, Failure) else str(failure)


async def test_the_first_to_settle_wins_wherever_it_is() -> None:
    for first in range(3):
        gates = [Event() for _ in range(3)]
        gates[first].set()
        with Flow() as f:
            runners = [f.add(gated(gate, f"r{value}"), value) for value, gate in enumerate(gates)]
            f.output("winner", race(*(runner.out for runner in runners)))
        played = await play(f)
        assert played.result.outputs == {"winner": first}
        decided = [event for event in played.events if event.kind == EventKind.RACE_DECIDED]
        assert [(event.path, dict(event.data)) for event in decided] == [("race", {"edge": f"r{first}.out"})]
        states = {f"r{n}": "done" if n == first else "cancelled" for n in range(3)}
        assert states_of(played.result) == states


async def test_what_only_a_loser_needs_is_cancelled_or_never_starts() -> None:
    with Flow() as f:
        source = f.add(src, x=1)
        slow = f.add(forever, x=source.out)
        further = f.add(inc, x=f.add(inc, x=slow.out).out)
        f.output("winner", race(further.out, f.add(square, x=source.out).out))
    result = await f.run()
    assert result.outputs == {"winner": 1}
    assert states_of(result) == {
        "src": "done", "forever": "cancelled", "inc": "not_run", "inc_2": "not_run", "square": "done",
    }  # fmt: skip
    assert reasons(result, "inc_2") == reasons(result, "forever") == ["  because race: race lost at race"]


async def test_a_loser_that_would_come_to_its_end_is_cancelled_before() -> None:
    async def lasting(x: int) -> int:
        for _ in range(1_000):
            await checkpoint()
        return x

    async def stubborn(x: int) -> int:
        try:
            await sleep_forever()
        except get_cancelled_exc_class():
            return x
        return x

    for loser in (lasting, stubborn):
        with Flow() as f:
            quick = f.add(inc, x=f.add(inc, x=0).out)
            f.output("winner", race(f.add(loser, x=7).out, quick.out))
        result = await f.run()
        assert result.outputs == {"winner": 2}
        assert states_of(result) == {loser.__name__: "cancelled", "inc": "done", "inc_2": "done"}


async def test_a_loser_with_another_use_continues() -> None:
    """Another reader, one of its signal, an undecided race, a frame outside."""
    gate = Event()
    with Flow() as f:
        slow = f.add(gated(gate), x=7)
        f.add(opening(gate), x=race(slow.out, f.add(one).out))
        f.output("slow", slow.out)
    assert (await f.run()).outputs == {"slow": 7}
    gate = Event()
    with Flow() as f:
        slow = f.add(gated(gate), x=7)
        f.add(opening(gate), x=race(slow.out, f.add(one).out))
        f.after(f.add(ident, x=3), slow.done)
    assert set(states_of(await f.run()).values()) == {"done"}
    gate = Event()
    with Flow() as f:
        slow = f.add(gated(gate), x=5)
        never = f.add(forever, x=1)
        f.add(opening(gate), x=race(slow.out, f.add(one).out))
        f.output("b", race(never.out, slow.out))
    result = await f.run()
    assert (result.outputs, states_of(result)["forever"]) == ({"b": 5}, "cancelled")
    gate = Event()
    with Flow() as f:
        slow = f.add(gated(gate), x=7)
        inner = f.add(opening(gate), x=race(slow.out, each([1, 2])))
        f.output("values", collect(inner.out))
        f.output("slow", slow.out)
    assert (await f.run()).outputs == {"values": [1, 2], "slow": 7}


async def test_a_map_and_a_loop_that_lose_are_stopped_with_all_inside() -> None:
    with Flow() as f:
        items = f.add(forever, x=each([1, 2, 3]))
        with f.loop(limit=2) as it:
            carried = it.carry(0)
            carried.next(f.add(forever, x=carried.out).out)
        looped = f.add(ident, x=carried.final)
        f.output("winner", race(collect(items.out), looped.out, f.add(one).out))
    result = await f.run()
    assert result.outputs == {"winner": 1}
    assert states_of(result) == {
        "forever": "cancelled", **{f"forever[{n}]": "cancelled" for n in range(3)}, "one": "done",
        "loop": "cancelled", "loop[0]/forever_2": "cancelled", "ident": "not_run",
    }  # fmt: skip


async def test_skips_and_errors_never_win() -> None:
    with Flow() as f:
        bad = f.add(fails, x=1)
        last = f.add(inc, x=f.add(inc, x=f.add(inc, x=0).out).out)
        f.output("winner", race(bad.out, f.add(nothing).out, last.out))
    played = await play(f)
    assert played.result.outputs == {"winner": 3}
    [outrun] = [event.data for event in played.events if event.kind == EventKind.WARNING]
    assert (outrun["code"], outrun["text"]) == ("outrun", *played.result.warnings)
    assert outrun["text"].startswith("DF0836 fails.out: ")
    assert "inc_3.out" in outrun["text"]
    with Flow() as f:
        none = race(f.add(nothing).out, f.add(nothing).out)
        f.output("o", fallback(none, 9))
        f.output("none", none)
    result = await f.run()
    assert result.outputs == {"o": 9}
    assert [line.split(": ")[0] for line in reasons(result, "none")] == [
        "  because race",
        "  because nothing",
    ]


async def test_a_race_that_nobody_can_win_any_more_fails_with_every_failure() -> None:
    """S5.3, S9.4: the failures that were left to the race are then the frame's."""
    with Flow() as f:
        lost = race(f.add(fails, x=1).out, f.add(nothing).out, f.add(fails, x=2).out)
        f.output("o", f.add(inc, x=lost).out)
    failed = await failed_run(f)
    assert [(e.path, e.message) for e in failed.failures] == [("fails", "bad 1"), ("fails_2", "bad 2")]
    assert isinstance(failed.__cause__, ExceptionGroup)
    assert states_of(failed.result)["inc"] == "not_run"
    assert "fails_2 failed: ValueError: bad 2" in failed.result.why("inc")
    with Flow() as f:
        inner = race(f.add(fails, x=1).out, f.add(fails, x=2).out)
        f.output("o", race(inner, f.add(fails, x=3).out))
    assert sorted(one.message for one in (await failed_run(f)).failures) == ["bad 1", "bad 2", "bad 3"]
    with Flow() as f:
        outside = f.add(fails, x=1)
        f.output("o", collect(f.add(inc, x=race(outside.out, f.add(fails, x=each([2])).out)).out))
    paths = [(one.path, one.message) for one in (await failed_run(f)).failures]
    assert paths == [("fails", "bad 1"), ("fails_2[0]", "bad 2")]
    with Flow() as f:
        f.output("o", f.add(shown, failure=race(f.add(fails, x=1).out, f.add(fails, x=2).out)).out)
    assert (await f.run()).outputs == {"o": "bad 1"}  # it may be taken as a value


async def test_each_round_and_each_item_has_a_separate_race() -> None:
    with Flow() as f:
        with f.loop(limit=3) as it:
            carried = it.carry(0)
            slow = f.add(forever, x=carried.out)
            carried.next(race(slow.out, f.add(inc, x=carried.out).out))
        f.output("o", carried.final)
        items = f.input("items", list[int], [1, 2])
        f.output("items", collect(race(f.add(forever, x=each(items)).out, each(items))))
    assert (await f.run()).outputs == {"o": 3, "items": [1, 2]}
