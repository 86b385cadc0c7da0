"""Play random flows, runs, graphs and sessions against the references, and count what they contain.

`python -m tests.properties.count [flows | runs | feedback | sessions] [how many] [how many flows]` prints the
figures of a part of what WHOLE says, and fails if a construct is rare, or anything else that is counted.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Final

import anyio

from dataflow.core.events import EventKind
from tests.properties.cases import Flat, flat, play_cut
from tests.properties.constructs import CONSTRUCTS, contained
from tests.properties.driving import drive
from tests.properties.effort import in_part
from tests.properties.live_sessions import UndecidedError, live_through
from tests.properties.live_sessions import script_of as session_of
from tests.properties.plain_loops import Loop, found_loops, plain_loops, random_graph
from tests.properties.playing import expect, flow_of, hold, play
from tests.properties.random_flows import ASKING, Program, sample
from tests.properties.sittings import Life, script_of

#: How many of each are played on a night; a part of them in CI.
WHOLE: Final = {"flows": 2_000, "runs": 2_000, "graphs": 50_000, "flat flows": 2_000, "sessions": 600}


@contextmanager
def shown(seed: int, program: Program) -> Iterator[None]:
    """Print the seed and the flow of what fails in here."""
    try:
        yield
    except BaseException:
        print(f"seed {seed}, {program}")  # noqa: T201 - figures are printed
        raise


def counted(
    what: str, count: Callable[[Iterable[int]], Awaitable[Counter[str]]], place: int = 2
) -> Counter[str]:
    """Count in what is played of the seeds: as many as an argument of the command says, or a part of all."""
    number = int(sys.argv[place]) if len(sys.argv) > place else in_part(WHOLE[what])
    begun = perf_counter()
    found = anyio.run(count, range(number))
    for name in sorted(found):
        print(f"{found[name]:7}  {name}")  # noqa: T201 - as above
    print(f"{number} {what} in {perf_counter() - begun:.0f} s")  # noqa: T201 - as above
    found["played"] = number
    return found


def rare(found: Counter[str], names: Iterable[str], least: float) -> list[str]:
    """Name what there is less of than this."""
    return sorted(name for name in names if found[name] < least)


#: Of so many flows each construct is in as many as this, of fewer in their part; and so many percent
#: come to a value.
LEAST: Final = 20
WITH_A_VALUE: Final = 85
#: So many percent are decided by the rules alone, as of sessions.
HELD: Final = 98


async def count_flows(seeds: Iterable[int]) -> Counter[str]:
    """Play the flows of these seeds, each in three orders and in a real run."""
    counts = Counter[str]()
    for seed in seeds:
        program = sample(seed)
        with shown(seed, program):
            flow, expected = flow_of(program.document), expect(program)
            if expected.is_decided:
                for order in range(3):
                    hold(expected, drive(flow, program, random.Random(order)))
                hold(expected, await play(flow, program))
                counts.update(["held", *contained(program, expected)])
    return counts


def flows() -> list[str]:
    found = counted("flows", count_flows)
    held = found["held"]
    few = rare(found, CONSTRUCTS, LEAST * min(1, held / WHOLE["flows"]))
    few += ["a value at the end"] * (100 * found["a value at the end"] < WITH_A_VALUE * held)
    return few + ["held"] * (100 * held < HELD * found["played"])


#: After a record of each kind the process has died so often at least; fewer runs miss a kind now and then.
LEAST_CUTS: Final = 5
#: The kinds of records that random flows write.
KINDS: Final = frozenset(kind.value for kind in EventKind) - {
    "piece", "pieces_void", "timer_set", "memo_hit", "memo_missed", "memo_skipped",
}  # fmt: skip


async def count_cuts(seeds: Iterable[int]) -> Counter[str]:
    """Live through the runs of these seeds, and count the records after which their process died."""
    cuts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=25, weights=ASKING)
        life = Life(program, choose)
        if life.expected.is_decided:
            with shown(seed, program):
                await life.through(script_of(choose.randrange, 7))
            cuts += life.cuts
    return cuts


def runs() -> list[str]:
    cuts = counted("runs", count_cuts)
    return rare(cuts, KINDS, LEAST_CUTS) if cuts["played"] >= WHOLE["runs"] else []


#: One flat flow in so many is also run again after each of its records.
CUT: Final = 20
#: Each kind of loop is in one of so many graphs and flows, at least.
RARE: Final = 50
LOOPS: Final = ("nested", "three deep", "several heads", "several feedback edges", "side by side")
IN_FLOWS: Final = (*LOOPS, "maps over edges", "maps over edges in loops")


def kinds_of(loops: set[Loop]) -> set[str]:
    """Tell what is among the loops of a graph."""
    depths = {loop: sum(loop.body < other.body for other in loops) for loop in loops}
    deepest = max(depths.values(), default=0)
    is_there = (
        deepest > 0,
        deepest > 1,
        any(len(loop.heads) > 1 for loop in loops),
        any(len(loop.edges) > 1 for loop in loops),
        list(depths.values()).count(0) > 1,
    )
    return {kind for kind, is_kind in zip(LOOPS, is_there, strict=True) if is_kind}


async def count_graphs(seeds: Iterable[int]) -> Counter[str]:
    """Compare the loops of the graphs of these seeds."""
    counts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        graph = random_graph(choose)
        found = found_loops(graph)
        assert found == plain_loops(graph, choose), f"seed {seed}: {graph}"
        counts.update(kinds_of(found))
    return counts


async def count_flat(seeds: Iterable[int]) -> Counter[str]:
    """Play the flows of these seeds in three orders and in a real run, some again after each record."""
    counts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        one = flat(choose)
        with shown(seed, one.program):
            await _play(one, choose, is_cut=seed % CUT == 0)
        counts.update(kinds_of(set(one.drawn.loops)))
        cells = one.drawn.cells()
        counts["maps over edges"] += any(cell is not None for cell in cells)
        inside = {node for loop in one.drawn.loops for node in loop.body}
        counts["maps over edges in loops"] += any(cells[node] is not None for node in inside)
        counts["rounds"] += sum(path.endswith("]") for path in one.states)
    return counts


async def _play(one: Flat, choose: random.Random, *, is_cut: bool) -> None:
    for _ in range(3):
        one.hold(drive(one.flow, one.program, choose))
    one.hold(await play(one.flow, one.program))
    for played in await play_cut(one, choose) if is_cut else ():
        one.hold(played)


def feedback() -> list[str]:
    in_graphs, in_flows = counted("graphs", count_graphs), counted("flat flows", count_flat, 3)
    few = [f"{kind} in graphs" for kind in rare(in_graphs, LOOPS, in_graphs["played"] / RARE)]
    return few + [f"{kind} in flows" for kind in rare(in_flows, IN_FLOWS, in_flows["played"] / RARE)]


#: Each of these has befallen the sessions as often as a construct is in flows.
BEFALLS: Final = (
    "a failure", "a firing inside that stood", "a firing of the root that stood", "a flow node",
    "a get was given up", "a loop", "a map", "a node got another function", "a race that may stop nodes",
    "a value was watched", "an update overtook", "answered", "got a failed", "got a skip", "got a value",
    "got an earlier revision", "paused",
)  # fmt: skip


async def count_befallen(seeds: Iterable[int]) -> Counter[str]:
    """Live through the sessions of these seeds, and count what has befallen them."""
    found = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=15, weights=ASKING)
        with shown(seed, program):
            try:
                found += await live_through(program, session_of(choose.randrange, 8), choose)
                found["held"] += 1
            except* UndecidedError:
                found["left to time"] += 1
    return found


def sessions() -> list[str]:
    found = counted("sessions", count_befallen)
    few = rare(found, BEFALLS, LEAST * min(1, found["played"] / WHOLE["sessions"]))
    return few + ["held"] * (100 * found["held"] < HELD * found["played"])


def main() -> int:
    """Count, and print what is too rare; 1 if anything is."""
    counts = {count.__name__: count for count in (flows, runs, feedback, sessions)}
    few = counts[sys.argv[1] if len(sys.argv) > 1 else "flows"]()
    if few:
        print(f"too rare: {', '.join(few)}")  # noqa: T201 - as above
    return int(bool(few))


if __name__ == "__main__":
    sys.exit(main())
