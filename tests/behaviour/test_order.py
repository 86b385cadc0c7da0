"""The order in which ready nodes start, and long paths, which need no recursion (S8.1, S14.2, S15.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import anyio
import pytest
from anyio import Event

from dataflow import SKIP, Flow, Maybe, Result, collect, each, node
from dataflow.scheduler.scheduler import Scheduler
from tests.behaviour.flow_parts import point
from tests.behaviour.table import states_of
from tests.support.source import home_of


class Log:
    """Nodes that note when they start; `gates` holds up those that are to wait for another to start."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.gates: dict[str, Event] = {}

    def named(self, name: str, *, until: str = "") -> Any:
        async def noted(x: object = None, y: object = None) -> int:
            self.started.append(name)
            self.gates.setdefault(name, Event()).set()
            if until:
                await self.gates.setdefault(until, Event()).wait()
            return 1

        return node(noted).with_(name=name)


def at_the_start(f: Flow, log: Log) -> None:
    for name in "dacb":
        f.add(log.named(name))


def made_ready(f: Flow, log: Log) -> None:
    """Let a make c and e ready: c starts next, e waits behind b and g, which were ready before."""
    a, b = f.add(log.named("a")), f.add(log.named("b"))
    c = f.add(log.named("c"), x=a.out)
    f.add(log.named("d"), x=b.out)
    f.add(log.named("e"), x=a.out)
    f.add(log.named("g"))
    f.add(log.named("h"), x=c.out)


def edges_in_another_order(f: Flow, log: Log) -> None:
    f.connect("a", "c.x")
    f.connect("a", "b.x")
    for name in "bca":
        f.add(log.named(name))


def two_ports(f: Flow, log: Log) -> None:
    f.connect("point.y", "b.x")
    f.connect("point.x", "c.x")
    for name in "bc":
        f.add(log.named(name))
    f.add(point)


def waiting(f: Flow, log: Log) -> None:
    for name in "abcdefgh":
        f.add(log.named(name, until="h"))


def items(f: Flow, log: Log) -> None:
    item = each([10, 20, 30])
    first, second = f.add(log.named("a"), x=item), f.add(log.named("b"), x=item)
    f.add(log.named("c"), x=collect(first.out), y=collect(second.out))


def rounds(f: Flow, log: Log) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(0)
        for name in "cab":
            f.add(log.named(name), x=v.out)
        last = f.add(log.named("last"), x=v.out)
        it.until(last.out, lambda _: False)
        v.next(last.out)


ORDERS: Final[dict[Callable[[Flow, Log], None], str]] = {
    at_the_start: "d a c b", made_ready: "a c h b d g e", edges_in_another_order: "a b c", two_ports: "b c",
    waiting: "a b c d e f g h", items: "a b a b a b c", rounds: "c a b last c a b last",
}  # fmt: skip


async def test_what_is_ready_starts_in_declared_order(subtests: pytest.Subtests) -> None:
    for wire, order in ORDERS.items():
        with subtests.test(wire.__name__):
            log = Log()
            with Flow() as f:
                wire(f, log)
            await f.run()
            assert " ".join(log.started) == order


async def test_a_result_lists_states_in_declared_order_whatever_opened_first() -> None:
    async def lists(x: object) -> list[int]:
        return [1, 2]

    for late in ("a", "b"):
        log = Log()
        with Flow() as f:
            for name, other in ("ab", "ba"):
                begun = f.add(log.named(f"before_{name}", until=f"in_{other}" if name == late else ""))
                items = f.add(node(lists).with_(name=f"list_{name}"), x=begun.out)
                f.add(log.named(f"in_{name}"), x=each(items.out))
        assert list((await f.run()).states) == [
            "before_a", "list_a", "in_a", "before_b", "list_b", "in_b",
            "in_a[0]", "in_a[1]", "in_b[0]", "in_b[1]",
        ]  # fmt: skip


LENGTH: Final = 3000


async def step(x: int) -> int:
    return x + 1


def chain(f: Flow, port: int) -> int:
    for _ in range(LENGTH):
        port = f.add(step, x=port).out
    return port


def count(result: Result, state: str) -> int:
    return list(states_of(result).values()).count(state)


async def test_long_chains_of_values_and_skips() -> None:
    with Flow() as f:
        f.output("o", chain(f, f.input("x", int)))
    assert (await f.run(x=0))["o"] == LENGTH
    with Flow() as f:
        last = chain(f, f.when(f.input("x", int), lambda x: x > 0).yes)
        f.output("o", last)
    result = await f.run(x=0)
    reasons = result.why(last).splitlines()
    assert (count(result, "skipped"), len(reasons)) == (LENGTH, LENGTH + 2)
    assert reasons[-1] == "  because when: exit 'yes' not taken"


class Item(NamedTuple):
    value: int
    nothing: Maybe[int]


class Dead(NamedTuple):
    nothing: Maybe[int]
    value: int


async def test_an_item_that_ends_while_a_long_dead_path_is_told_is_ended_in_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is still to be told of its frame is told before the frame is released."""
    for steps in (1, 2, 3, 5, 1000):
        monkeypatch.setattr(home_of(Scheduler), "MOST_STEPS", steps)
        await end_beside_a_dead_path()


async def end_beside_a_dead_path() -> None:
    gate = Event()

    async def waits(x: int) -> Item:
        await gate.wait()
        return Item(x, SKIP)

    async def opens(x: int) -> Dead:
        await anyio.sleep(0.01)  # when all items wait
        gate.set()
        return Dead(SKIP, x)

    with Flow() as f:
        items = f.input("items", list[int])
        item = f.add(waits, each(items))
        f.output("o", collect(f.add(step, item.out.value).out))
        f.output("none", collect(item.out.nothing))
        port = f.add(opens, f.input("x", int)).out.nothing
        for _ in range(300):
            port = f.add(step, port).out
        f.output("dead", port)
    result = await f.run(items=[1, 2, 3, 4, 5], x=1)
    assert dict(result.outputs) == {"o": [2, 3, 4, 5, 6], "none": []}
