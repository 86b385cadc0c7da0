"""Which ways a run takes: of what is done often there is a short way, and one that looks at everything.

They are told by wrapping the functions they go through, so that the engine knows nothing of being counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest.mock import patch

from dataflow.runtime import attempts, workers
from dataflow.runtime.call import Attempt
from dataflow.scheduler.frames import Frame
from dataflow.scheduler.maps import Maps
from dataflow.scheduler.outcomes import Settling
from dataflow.scheduler.scheduler import Scheduler

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
