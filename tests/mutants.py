"""Seeded faults: for each a change of the engine's text, and the tests that have to notice it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["MUTANTS", "Mutant"]

TABLE: Final = "tests/behaviour/test_table.py::test_a_flow_behaves_the_same_with_nobody_listening[asyncio-{}]"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: `old` stands exactly once in the file of the package, and `new` takes its place."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS: Final = (
    Mutant(
        "a join counts the values that arrive",
        "pushing.py",
        "            waits[reader] -= 1\n",
        "            waits[reader] -= not is_odd\n",
        (TABLE.format("an optional port that is dead beside a live one"),),
    ),
    Mutant(
        "a skip walks through a live join",
        "readiness.py",
        "for feed, cause in dead if feed.required or not has_value]",
        "for feed, cause in dead]",
        (TABLE.format("an optional port that is dead beside a live one"),),
    ),
    Mutant(
        "a limit is off by one",
        "loops.py",
        "loop.limit is not None and opened.round + 1 >= loop.limit",
        "loop.limit is not None and opened.round >= loop.limit",
        (TABLE.format("B07a"), TABLE.format("the default limit is 100")),
    ),
    Mutant(
        "a parallel edge is lost",
        "binding.py",
        "for slot in given.slots if _is_live(",
        "for slot in dict.fromkeys(given.slots) if _is_live(",
        (TABLE.format("a many-port lists in the order of its edges"),),
    ),
    Mutant(
        "an inner loop goes on where it was in the round before",
        "loops.py",
        "        frame.note_opened(node.index, opened)\n",
        "        frame.note_opened(node.index, opened := self.__dict__.setdefault(node.id, opened))\n",
        (TABLE.format("a loop in a loop starts afresh in each outer round"),),
    ),
    Mutant(
        "items are listed in the order in which they end",
        "maps.py",
        "            opened.collected[own][item.position] = token\n",
        "            opened.collected[own][-opened.lacking[own]] = token\n",
        ("tests/behaviour/test_waiting.py::test_items_in_any_order_of_completion_are_collected_in_order",),
    ),
    Mutant(
        "an error on an optional port is ignored",
        "readiness.py",
        "        if not feed.takes_failure:\n",
        "        if not feed.takes_failure and feed.required:\n",
        (TABLE.format("an error on a port: optional"),),
    ),
    Mutant(
        "a loser of a race goes on",
        "racing.py",
        "        self.withdraw(frame, node, [slot for slot in feed.slots if slot != winner])\n",
        "",
        ("tests/behaviour/test_races.py::test_a_loser_that_would_come_to_its_end_is_cancelled_before",),
    ),
    Mutant(
        "a lazy port is pulled before its reader is known to fire",
        "pulling.py",
        "        return [feed for feed in node.feeds if not feed.is_lazy]\n",
        "        self.pull(frame, node)\n        return node.feeds\n",
        ("tests/behaviour/test_lazy_ports.py::test_a_lazy_source_on_a_branch_not_taken_never_runs",),
    ),
    Mutant(
        "a default is taken in place of a falsy value",
        "readiness.py",
        "        if type(token) is not Skip:\n            return slot\n",
        "        if token:\n            return slot\n",
        (TABLE.format("fallback that is not needed"), TABLE.format("merge takes a None")),
    ),
)
