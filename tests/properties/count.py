"""Play a part of 2,000 random flows against the reference, and count what they contain and take.

`python -m tests.properties.count [how many]` prints the figures, and fails if a construct is rare, or one of
the ways that the engine has of doing what is done often.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest.mock import patch

from dataflow.runtime import attempts, workers
from dataflow.runtime.call import Attempt
from dataflow.scheduler.frames import Frame
from dataflow.scheduler.maps import Maps
from dataflow.scheduler.outcomes import Settling
from dataflow.scheduler.scheduler import Scheduler
from tests.properties.constructs import CONSTRUCTS, contained
from tests.properties.driving import drive
from tests.properties.figures import asked, counted, say, shown, verdict
from tests.properties.playing import expect, flow_of, hold, play
from tests.properties.random_flows import Program, sample

#: What is done often: how the short way is called, and the other.
WAYS: Final = {
    "a firing in a row, without a task's await": "a firing that is awaited by itself",
    "a result settled without a work list": "a result settled with a work list",
    "a value given to its readers at once": "a value told by the work list",
    "an item ended with its last value": "an item ended as any frame",
}


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count how often each way is taken in here."""
    found = Counter[str]()
    (call, awaited), (settle, listed), (put, told), (end, looked_at) = WAYS.items()

    def count(owner: Any, name: str, *ways: str) -> Any:
        """Count a way whenever a function is called; one way may be taken back by another's function."""
        function = getattr(owner, name)

        def counted(*args: Any, **given: Any) -> Any:
            for way in ways:
                found[way.removeprefix("-")] += -1 if way.startswith("-") else 1
            return function(*args, **given)

        return patch.object(owner, name, counted)

    with ExitStack() as stack:
        for wrapped in (
            count(workers, Attempt.__name__, call),
            count(attempts, Attempt.__name__, awaited),
            count(Settling, "succeed", settle),
            count(Settling, "_succeed", listed, f"-{settle}"),
            count(Settling, "_end_item", f"-{settle}", end),
            count(Maps, "item_ended", looked_at),
            patch.object(Scheduler, "put", _counting_put(found, put, told)),
        ):
            stack.enter_context(wrapped)
        yield found


def _counting_put(
    found: Counter[str], at_once: str, told: str
) -> Callable[[Scheduler, Frame, int, Any], None]:
    put = Scheduler.put

    def counted(scheduler: Scheduler, frame: Frame, slot: int, token: Any) -> None:
        settled = scheduler._settled
        before = len(settled)
        put(scheduler, frame, slot, token)
        is_listed = len(settled) > before and settled[before] == (frame, slot)
        found[told if is_listed else at_once] += 1

    return counted


FLOWS: Final = 2_000
#: Of so many flows each construct is in as many as this, of fewer in their part; and so many percent
#: come to a value.
LEAST: Final = 20
WITH_A_VALUE: Final = 85
#: So many percent are decided by the rules alone.
HELD: Final = 98
#: Each way is taken in so many percent of the flows, and so often when there is something to do.
TAKEN: Final = 10
#: What ends the name of a way in the count of the flows in which it is taken.
IN_FLOWS: Final = ", in flows"


async def count(seeds: Iterable[int]) -> Counter[str]:
    """Play the flows of these seeds, each in three orders and in a real run, and count."""
    counts = Counter[str]()
    for seed in seeds:
        program = sample(seed)
        with shown(seed, program):
            counts.update(await _counts(program))
    return counts


async def _counts(program: Program) -> Counter[str]:
    flow, expected = flow_of(program.document), expect(program)
    if not expected.is_decided:
        return Counter()
    for order in range(3):
        hold(expected, drive(flow, program, random.Random(order)))
    with counting() as taken:
        hold(expected, await play(flow, program))
    taken.update([f"{way}{IN_FLOWS}" for way, times in taken.items() if times])
    taken.update(["held", *contained(program, expected)])
    return taken


def rarely_taken(counts: Counter[str]) -> Iterator[str]:
    """Name the ways that are taken in too few flows, or too rarely."""
    for ways in WAYS.items():
        together = sum(counts[way] for way in ways)
        for way in ways:
            share = min(counts[way] / together, counts[f"{way}{IN_FLOWS}"] / counts["held"])
            if 100 * share < TAKEN:
                yield way


def main() -> int:
    """Print the figures; 1 if something is rare."""
    flows = asked(FLOWS)
    ways = [way for both in WAYS.items() for way in both]
    counts = counted("flows", flows, count, [*CONSTRUCTS, *ways, *(f"{way}{IN_FLOWS}" for way in ways)])
    held = counts["held"]
    share = 100 * counts["a value at the end"] / held
    say(f"{share:.1f} % came to a value; {flows - held} are not held, as time decides them")
    least = LEAST * min(1, held / FLOWS)
    rare = [name for name in CONSTRUCTS if counts[name] < least]
    is_enough = share >= WITH_A_VALUE and 100 * held >= HELD * flows
    return verdict([*rare, *rarely_taken(counts)], is_enough=is_enough)


if __name__ == "__main__":
    sys.exit(main())
