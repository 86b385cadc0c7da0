"""Races: who wins, what is withdrawn, and what becomes of errors (S5.3, S9.4)."""

from __future__ import annotations

from typing import Protocol

import pytest
from anyio import Event, get_cancelled_exc_class, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Failure, Flow, RunFailed, collect, each, fallback, race
from dataflow.core.states import NodeState
from tests.behaviour.nodes import fails, ident, inc, nothing, one, square, src
from tests.behaviour.table import play, reasons, states_of


async def waits(x: int) -> int:
    """Never come to an end by itself."""
    await sleep_forever()
    return x


async def shown(failure: Failure | int) -> str:
    return failure.message if isinstance(failure, Failure) else str(failure)


class Runner(Protocol):
    async def __call__(self, x: int) -> int: ...


def gated(*gates: Event) -> list[Runner]:
    """Make a node for each gate that waits for it."""

    def made(gate: Event) -> Runner:
        async def runner(x: int) -> int:
            await gate.wait()
            return x

        return runner

    return [made(gate) for gate in gates]


@pytest.mark.parametrize("first", [0, 1, 2])
async def test_the_first_to_settle_wins_wherever_it_stands(first: int) -> None:
    gates = [Event() for _ in range(3)]
    gates[first].set()
    with Flow() as f:
        runners = [f.add(runner, value) for value, runner in enumerate(gated(*gates))]
        f.output("winner", race(*(runner.out for runner in runners)))
    played = await play(f, {})
    assert played.result.outputs == {"winner": first}
    name = "runner" if first == 0 else f"runner_{first + 1}"
    decided = [event for event in played.events if event.kind == EventKind.RACE_DECIDED]
    assert [(event.path, dict(event.data)) for event in decided] == [("race", {"edge": f"{name}.out"})]
    ended = [state for path, state in played.result.states.items() if path != name]
    assert ended == [NodeState.CANCELLED] * 2


async def test_what_only_a_loser_needs_is_cancelled_or_never_starts() -> None:
    with Flow() as f:
        source = f.add(src, x=1)
        slow = f.add(waits, x=source.out)
        behind = f.add(inc, x=slow.out)
        further = f.add(inc, x=behind.out)
        f.output("winner", race(further.out, f.add(square, x=source.out).out))
    result = (await play(f, {})).result
    assert result.outputs == {"winner": 1}
    assert states_of(result) == {
        "src": "done", "waits": "cancelled", "inc": "not_run", "inc_2": "not_run", "square": "done",
    }  # fmt: skip
    assert reasons(result, "inc_2") == ["  because race: race lost at race"]
    assert reasons(result, "waits") == ["  because race: race lost at race"]


async def test_a_loser_that_would_come_to_its_end_is_cancelled_before() -> None:
    async def lasting(x: int) -> int:
        for _ in range(1_000):
            await checkpoint()
        return x

    with Flow() as f:
        f.output("winner", race(f.add(lasting, x=7).out, f.add(one).out))
    result = (await play(f, {})).result
    assert result.outputs == {"winner": 1}
    assert states_of(result) == {"lasting": "cancelled", "one": "done"}


async def test_a_loser_with_another_use_goes_on() -> None:
    gate = Event()

    async def opens(x: int) -> int:
        gate.set()
        return x

    with Flow() as f:
        slow = f.add(gated(gate)[0], x=7)
        winner = race(slow.out, f.add(one).out)
        f.output("slow", slow.out)
        f.output("opened", f.add(opens, x=winner).out)
    result = (await play(f, {})).result
    assert result.outputs == {"slow": 7, "opened": 1}


async def test_a_node_whose_done_is_read_stays_needed() -> None:
    gate = Event()

    async def opens(x: int) -> int:
        gate.set()
        return x

    with Flow() as f:
        slow = f.add(gated(gate)[0], x=7)
        f.add(opens, x=race(slow.out, f.add(one).out))
        last = f.add(ident, x=3)
        f.after(last, slow.done)
    result = (await play(f, {})).result
    assert set(states_of(result).values()) == {"done"}


async def test_a_node_that_two_races_have_given_up_is_stopped() -> None:
    with Flow() as f:
        slow = f.add(waits, x=1)
        f.output("a", race(slow.out, f.add(one).out))
        f.output("b", race(f.add(src, x=2).out, slow.out))
    result = (await play(f, {})).result
    assert result.outputs == {"a": 1, "b": 2}
    assert states_of(result)["waits"] == "cancelled"


async def test_a_node_that_an_undecided_race_reads_goes_on() -> None:
    gate = Event()

    async def opens(x: int) -> int:
        gate.set()
        return x

    with Flow() as f:
        slow = f.add(gated(gate)[0], x=5)
        never = f.add(waits, x=1)
        f.add(opens, x=race(slow.out, f.add(one).out))
        f.output("b", race(never.out, slow.out))
    result = (await play(f, {})).result
    assert result.outputs == {"b": 5}
    assert states_of(result)["waits"] == "cancelled"


async def test_a_map_and_a_loop_that_lose_are_stopped_with_all_inside() -> None:
    with Flow() as f:
        items = f.add(waits, x=each([1, 2, 3]))
        with f.loop(limit=2) as it:
            carried = it.carry(0)
            carried.next(f.add(waits, x=carried.out).out)
        looped = f.add(ident, x=carried.final)
        f.output("winner", race(collect(items.out), looped.out, f.add(one).out))
    result = (await play(f, {})).result
    assert result.outputs == {"winner": 1}
    states = states_of(result)
    assert {path: states[path] for path in states if path.startswith(("waits", "loop", "ident"))} == {
        "waits": "cancelled", "waits[0]": "cancelled", "waits[1]": "cancelled", "waits[2]": "cancelled",
        "loop": "cancelled", "loop[0]/waits_2": "cancelled", "ident": "not_run",
    }  # fmt: skip


async def test_a_source_outside_the_frame_stays_needed() -> None:
    gate = Event()

    async def opens(x: int) -> int:
        gate.set()
        return x

    with Flow() as f:
        slow = f.add(gated(gate)[0], x=7)
        inner = f.add(opens, x=race(slow.out, each([1, 2])))
        f.output("values", collect(inner.out))
        f.output("slow", slow.out)
    result = (await play(f, {})).result
    assert result.outputs == {"values": [1, 2], "slow": 7}


async def test_skips_and_errors_never_win() -> None:
    with Flow() as f:
        bad = f.add(fails, x=1)
        last = f.add(inc, x=f.add(inc, x=f.add(inc, x=0).out).out)
        f.output("winner", race(bad.out, f.add(nothing).out, last.out))
    played = await play(f, {})
    assert played.result.outputs == {"winner": 3}
    assert played.result.warnings == ()
    outrun = [event.data for event in played.events if event.kind == EventKind.WARNING]
    assert [data["code"] for data in outrun] == ["outrun"]
    assert outrun[0]["text"].startswith("DF0836 fails.out: ")
    assert "inc_3.out" in outrun[0]["text"]
    assert outrun[0]["text"].endswith("ValueError: bad 1")


async def test_a_race_of_skips_is_a_skip_that_fallback_fills() -> None:
    with Flow() as f:
        none = race(f.add(nothing).out, f.add(nothing).out)
        f.output("o", fallback(none, 9))
        f.output("none", none)
    result = (await play(f, {})).result
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
    played = await play(f, {})
    assert played.failed is not None
    assert [(one.path, one.message) for one in played.failed.failures] == [
        ("fails", "bad 1"),
        ("fails_2", "bad 2"),
    ]
    assert isinstance(played.failed.__cause__, ExceptionGroup)
    assert states_of(played.result)["inc"] == "not_run"
    assert "fails_2 failed: ValueError: bad 2" in played.result.why("inc")


async def test_the_failure_of_a_lost_race_may_be_taken_as_a_value() -> None:
    with Flow() as f:
        f.output("o", f.add(shown, failure=race(f.add(fails, x=1).out, f.add(fails, x=2).out)).out)
    result = (await play(f, {})).result
    assert result.outputs == {"o": "bad 1"}


async def test_a_race_of_races_raises_what_was_left_to_the_inner_one() -> None:
    with Flow() as f:
        inner = race(f.add(fails, x=1).out, f.add(fails, x=2).out)
        f.output("o", race(inner, f.add(fails, x=3).out))
    played = await play(f, {})
    assert played.failed is not None
    assert sorted(one.message for one in played.failed.failures) == ["bad 1", "bad 2", "bad 3"]


async def test_a_race_inside_a_map_raises_what_failed_outside_of_it() -> None:
    with Flow() as f:
        outside = f.add(fails, x=1)
        f.output("o", collect(f.add(inc, x=race(outside.out, f.add(fails, x=each([2])).out)).out))
    played = await play(f, {})
    assert played.failed is not None
    assert [(one.path, one.message) for one in played.failed.failures] == [
        ("fails", "bad 1"),
        ("fails_2[0]", "bad 2"),
    ]


async def test_each_round_and_each_item_has_a_race_of_its_own() -> None:
    with Flow() as f:
        with f.loop(limit=3) as it:
            carried = it.carry(0)
            slow = f.add(waits, x=carried.out)
            carried.next(race(slow.out, f.add(inc, x=carried.out).out))
        f.output("o", carried.final)
        items = f.input("items", list[int], [1, 2])
        f.output("items", collect(race(f.add(waits, x=each(items)).out, each(items))))
    result = (await play(f, {})).result
    assert result.outputs == {"o": 3, "items": [1, 2]}


async def test_a_constant_wins_at_once() -> None:
    with Flow() as f:
        f.output("o", race(f.add(waits, x=1).out, 4))
    result = (await play(f, {})).result
    assert result.outputs == {"o": 4}
    assert states_of(result) == {"waits": "cancelled"}  # it was ready, and never began


async def test_a_race_loser_that_will_not_be_cancelled_changes_nothing() -> None:
    async def stubborn(x: int) -> int:
        try:
            await sleep_forever()
        except get_cancelled_exc_class():
            return x
        return x

    with Flow() as f:
        f.output("o", race(f.add(stubborn, x=1).out, f.add(inc, x=f.add(inc, x=0).out).out))
    result = (await play(f, {})).result
    assert result.outputs == {"o": 2}
    assert states_of(result)["stubborn"] == "cancelled"


async def test_races_of_a_block_are_counted_in_their_paths() -> None:
    with Flow() as f:
        f.output("a", race(1, f.add(one).out))
        f.output("b", race(2, f.add(one).out))
    events = (await play(f, {})).events
    assert [event.path for event in events if event.kind == EventKind.RACE_DECIDED] == ["race", "race_2"]


async def test_a_race_with_a_failing_source_used_elsewhere_fails_the_run() -> None:
    """S9.4: the error has a use that is no race edge."""
    with Flow() as f:
        bad = f.add(fails, x=1)
        f.output("o", race(bad.out, f.add(one).out))
        f.add(inc, x=bad.out)
    with pytest.raises(RunFailed):
        await f.run()


@pytest.mark.parametrize("x", [1, 2])
async def test_exits_of_one_branch_race_though_they_settle_in_one_step(x: int) -> None:
    with Flow() as f:
        odd = f.when(f.input("x", int), lambda x: x % 2 == 1)
        f.output("o", f.add(ident, race(odd.yes, odd.no)).out)
        f.output("back", f.add(ident, race(odd.no, odd.yes)).out)
    assert (await play(f, {"x": x})).result.outputs == {"o": x, "back": x}
