"""What a change costs in a live session: an update, in flows of any size; a cutoff; other code for a node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from itertools import count
from typing import Any, Final

from benchmarks.functions import add_all, increment
from benchmarks.question import Question, Way, WorkOf
from benchmarks.timing import MICROSECONDS, Work, run_on, seconds, seconds_in_turn, times_as_long
from dataflow import Flow, Live

__all__ = ["QUESTIONS", "WORKS"]

#: How many nodes an update reaches.
REACHED: Final = 10
#: How many updates are timed at once, as one takes less than a millisecond.
UPDATES: Final = 100
#: The flow beside which larger ones are measured.
SMALL: Final = 1_000
#: The flow whose instructions are counted.
COUNTED: Final = 100


async def sign(number: int) -> int:
    """Stop most changes."""
    return 1 if number > 0 else -1


async def twice(number: int) -> int:
    """Be other code than that of `increment`."""
    return number + number


def wide_flow(nodes: int) -> Flow:
    """Wire a flow in which one input reaches ten nodes in series, another all others, which are joined."""
    with Flow("wide") as flow:
        number, other = flow.input("number", int, 0), flow.input("other", int, 0)
        for _ in range(REACHED):
            number = flow.add(increment, number).out
        others = [flow.add(increment, other).out for _ in range(nodes - REACHED - 1)]
        flow.output("number", number)
        flow.output("others", flow.add(add_all, *others).out)
    return flow


def chain_flow(nodes: int, first: Callable[[int], Awaitable[int]] = increment) -> Flow:
    """Wire nodes in series behind an input."""
    with Flow("chain") as flow:
        number = flow.add(first, flow.input("number", int, 1)).out
        for _ in range(nodes - 1):
            number = flow.add(increment, number).out
        flow.output("number", number)
    return flow


async def settle(session: Live, *outputs: str) -> None:
    """Compute what is stale of the outputs."""
    for output in outputs:
        await session.get(output)


def updates(session: Live, added: int, times: int = UPDATES) -> Work:
    """Update the input so many times and get the output each time, which as many nodes add 1 to."""
    numbers = count(1)  # each is another

    async def run() -> tuple[int, int]:
        before = session.counts.called
        for _, number in zip(range(times), numbers, strict=False):
            await session.update(number=number)
            found = await session.get("number")
        return found - number, session.counts.called - before

    return Work(run, (added, added * times), times)


def runs(flow: Flow, added: int, times: int = UPDATES) -> Work:
    """Run a flow so many times."""

    async def run() -> int:
        found = 0
        for number in range(times):
            found = (await flow.run(number=number))["number"] - number
        return found

    return Work(run, added, times)


async def alone(nodes: int) -> float:
    """Return the microseconds of an update that reaches ten nodes."""
    async with wide_flow(nodes).live() as session:
        await settle(session, "number", "others")
        return await seconds(updates(session, REACHED)) / UPDATES * MICROSECONDS


async def beside_a_run(nodes: int) -> float:
    """Compare an update that reaches ten nodes with a run of just those."""
    async with wide_flow(nodes).live() as session:
        await settle(session, "number", "others")
        return await times_as_long((updates(session, REACHED), runs(chain_flow(REACHED), REACHED)))


async def beside_firings(nodes: int) -> float:
    """Compare it with as many firings of a long chain, in which the cost of a run itself gets lost."""
    firings = UPDATES * REACHED
    async with wide_flow(nodes).live() as session:
        await settle(session, "number", "others")
        return await times_as_long((updates(session, REACHED), runs(chain_flow(firings), firings, 1)))


async def beside_what_is_allowed(nodes: int) -> float:
    """Compare it with three times as many firings of a long chain, and 100 µs."""
    firings = UPDATES * REACHED
    async with wide_flow(nodes).live() as session:
        await settle(session, "number", "others")
        works = updates(session, REACHED), runs(chain_flow(firings), firings, 1)
        update, fired = (taken / UPDATES for taken in await seconds_in_turn(works))
        return update / (3 * fired + 100 / MICROSECONDS)


async def beside_a_small_flow(nodes: int) -> float:
    """Compare it with the same update in a smaller flow."""
    async with wide_flow(nodes).live() as session, wide_flow(SMALL).live() as small:
        for one in (session, small):
            await settle(one, "number", "others")
        return await times_as_long((updates(session, REACHED), updates(small, REACHED)))


async def behind_a_cutoff(nodes: int) -> float:
    """Compare an update that the first node stops with a run of all the nodes behind it."""
    async with chain_flow(nodes + 1, first=sign).live() as session:
        await settle(session, "number")
        number = count(2)

        async def stand() -> tuple[int, int]:
            before = session.counts.called
            await session.update(number=next(number))
            return await session.get("number"), session.counts.called - before

        return await times_as_long((Work(stand, (nodes + 1, 1), nodes), runs(chain_flow(nodes), nodes, 1)))


async def beside_building(nodes: int) -> float:
    """Compare giving the last of ten nodes other code, and its value, with building the whole flow."""
    functions = (twice, increment)
    turns = count()
    async with wide_flow(nodes).live() as session:
        await settle(session, "number", "others")

        async def replace() -> bool:
            before = session.counts.called
            await session.replace(f"increment_{REACHED}", functions[next(turns) % 2])
            await session.get("number")
            return session.counts.called == before + 1

        async def build() -> bool:
            return isinstance(wide_flow(nodes), Flow)

        return await times_as_long((Work(replace, True, 1), Work(build, True, 1)))


def live_updates(size: int) -> Work:
    """Update an input that reaches ten nodes so many times, in a session of its own."""
    flow = wide_flow(COUNTED)

    async def run() -> object:
        async with flow.live() as session:
            await session.get("number")
            return await updates(session, REACHED, size).run()

    return Work(run, (REACHED, size * REACHED), size * REACHED)


def bare_updates(size: int) -> Work:
    """Do the same in a loop."""

    async def run() -> int:
        for number in range(size):
            found = number
            for _ in range(REACHED):
                found = await increment(found)
        return found - number

    return Work(run, REACHED, size * REACHED)


WORKS: Final[dict[Way, WorkOf]] = {Way.ASYNCIO: live_updates, Way.BARE: bare_updates}


def _question(
    name: str,
    title: str,
    unit: str,
    sizes: tuple[int, ...],
    measure: Callable[[int], Coroutine[Any, Any, float]],
    target: float | None = None,
) -> Question:
    ways = {way: partial(run_on, str(way), measure) for way in (Way.ASYNCIO, Way.TRIO)}
    return Question(name, title, unit, sizes, ways, target)


QUESTIONS = (
    _question("live-time", "an update that reaches 10 of {:,} nodes", "µs in all", (10_000,), alone),
    _question(
        "live-allowed",
        "an update that reaches 10 of {:,} nodes",
        "times 3 × 10 firings and 100 µs",
        (10_000,),
        beside_what_is_allowed,
        1.0,
    ),
    _question(
        "live",
        "an update that reaches 10 of {:,} nodes",
        "times running just those 10",
        (10_000,),
        beside_a_run,
        3.0,
    ),
    _question(
        "live-firings",
        "an update that reaches 10 of {:,} nodes",
        "times 10 firings",
        (10_000,),
        beside_firings,
    ),
    _question(
        "live-growth",
        "an update that reaches 10 of {:,} nodes",
        "times that of 10 of 1,000",
        (10_000, 100_000),
        beside_a_small_flow,
        1.2,
    ),
    _question(
        "live-cutoff",
        "an update that is cut off before {:,} nodes",
        "times firing them",
        (1_000,),
        behind_a_cutoff,
    ),
    _question(
        "live-replacing",
        "other code for one of {:,} nodes",
        "times building the flow",
        (10_000,),
        beside_building,
    ),
)
