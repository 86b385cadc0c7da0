"""The tests notice seeded faults of the engine: each is made in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

import dataflow

__all__ = ["MUTANTS", "Mutant"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: `new` takes the place of `old`, which the source of the engine has exactly once."""

    name: str
    old: str
    new: str
    tests: tuple[str, ...]


#: How the ids of tests begin, and end; what is between stands in the table below.
ROOMS: Final = {
    "table": ("behaviour/test_table.py::test_a_flow_behaves_as_its_row_says[", "-asyncio]"),
    "quick": ("compiler/test_quick_calls.py::test_", ""),
    "inline": ("runtime/test_quick_calls.py::test_", ""),
    "settling": ("scheduler/test_outcomes.py::test_", ""),
    "rows": ("behaviour/test_rows.py::test_", ""),
    "row_ends": ("behaviour/test_row_ends.py::test_", ""),
    "row_turns": ("behaviour/test_rows.py::test_", ""),
    "order": ("behaviour/test_order.py::test_", ""),
    "memo": ("behaviour/test_memo_", ""),
    "run_slots": ("scheduler/test_outcomes.py::test_", ""),
    "other": ("", ""),
}
#: Each fault: its name, `old => new` with `\n` for the end of a line, and a test on each line with an @.
FAULTS: Final = r"""
a join counts the values that arrive
    waits[reader] -= 1 => waits[reader] -= not has_dead_input
    @ table: an optional port that is dead beside a live one
a skip walks through a live join
    for feed, cause in dead if feed.required or not has_value] => for feed, cause in dead]
    @ table: an optional port that is dead beside a live one
a limit is off by one
    loop.limit is None or rounds < loop.limit: => loop.limit is None or rounds < loop.limit - 1:
    @ table: B07a
    @ table: the default limit is 100
a parallel edge is lost
    _token(frame, slot) for slot in given.slots if is_live(
    => _token(frame, slot) for slot in dict.fromkeys(given.slots) if is_live(
    @ table: a many-port lists in the order of its edges
an inner loop goes on where it was in the round before
    opened)\n        self._next_round(
    => opened := self.__dict__.setdefault(node.id, opened))\n        self._next_round(
    @ table: a loop in a loop starts afresh in each outer round
items are listed in the order in which they end
    opened.collected[own][item.position] = token => opened.collected[own][-opened.missing[own]] = token
    @ other: behaviour/test_waiting.py::test_items_in_any_order_of_completion_are_collected_in_order
an error on an optional port is ignored
    if not feed.takes_failure: => if not feed.takes_failure and feed.required:
    @ table: an error on a port
a loser of a race goes on
    self.withdraw(frame, node, [slot for slot in feed.slots if slot != winner]) => pass
    @ other: behaviour/test_races.py::test_a_loser_that_would_come_to_its_end_is_cancelled_before
a lazy port is pulled before its reader is known to fire
    return [feed for feed in node.feeds if not feed.is_lazy]
    => self.pull(frame, node)\n        return node.feeds
    @ other: behaviour/test_lazy_ports.py::test_a_lazy_source_on_a_branch_not_taken_never_runs
a default is taken in place of a falsy value
    if type(token) is not Skip:\n            return slot => if token:\n            return slot
    @ table: fallback that is not needed
    @ table: merge takes a None
what is told others too is given to calls alone
    if slot in special or not others.isdisjoint(readers): => if not others.isdisjoint(readers):
    @ quick: values_with_other_readers_than_calls_are_inspected
joins, maps and loops are given values as calls are
    if slot in special or not others.isdisjoint(readers): => if slot in special:
    @ quick: values_with_other_readers_than_calls_are_inspected
a port for what has been done is forgotten
    if not is_single or len(node.outputs) != 1 or plan.uses is not None:
    => if not is_single or plan.uses is not None:
    @ quick: a_node_with_another_port_that_is_read_has_no_single_slot
what may be withdrawn is settled as any other
    if not is_single or len(node.outputs) != 1 or plan.uses is not None:
    => if not is_single or len(node.outputs) != 1:
    @ quick: all_values_are_inspected_where_nodes_may_be_withdrawn_or_never_needed
a value that others read too is handed over itself
    if not any(shared): => if not all(shared):
    @ quick: only_values_with_other_readers_are_copied
firings of a row share a context
    Attempt(), copy() => Attempt(), self.context
    @ rows: a_row_sees_nothing_of_what_its_nodes_set[asyncio]
a firing does not find itself
    CURRENT.set(source) => pass
    @ rows: a_task_of_an_earlier_node_goes_on_asking_for_its_own_firing[asyncio]
a driver goes on after an error
    worker.driver = Driver()\n                look(current, begun) => look(current, begun)
    @ inline: after_an_error_a_new_driver_goes_on[asyncio]
a row never gives up its turn
    and begun < until and => and
    @ inline: it_stops_when_its_time_is_over[asyncio]
    @ row_turns: two_rows_take_turns[asyncio]
a chain is put back before those that wait
    ready.append(firing) => ready.appendleft(firing)
    @ row_turns: two_rows_take_turns[asyncio]
a call is given a skip as it stands
    quick is None or index in frame.dead_inputs or => quick is None or
    @ inline: it_stops_before_a_call_that_is_given_a_skip[asyncio]
what was cancelled in a row fires
    index in frame.dead_inputs or frame.states[index] != READY: => index in frame.dead_inputs:
    @ inline: it_stops_before_what_was_cancelled_meanwhile[asyncio]
a firing of a closed frame is done
    if own_cancels() or frame.is_closing: => if own_cancels():
    @ rows: a_node_of_a_row_may_cancel_its_own_run[asyncio]
a cancellation that a node has left is for the next one
    await self._has_cancelled_itself(worker)\n            return self._raised( => return self._raised(
    @ row_ends: a_node_of_a_row_that_ends_oddly_is_the_one_that_fails[asyncio]
a join fires with its first value
    if not left and states[index] == WAITING: => if states[index] == WAITING:
    @ settling: a_node_that_waits_for_more_is_not_ready_yet
a value that is not kept stays
    or not scheduler.is_plain or => or
    @ settling: a_value_that_is_not_kept_is_let_go
a slot is lost with each value
    scheduler.admission.ended((frame, index)) => pass
    @ settling: a_slot_that_a_firing_gives_back_goes_to_who_waited_first
a skip is given to calls at once
    or is_dead(token)\n        ): => ):
    @ table: an optional port that is dead beside a live one
the last item does not end its map
    self.end(frame, node, opened) => return
    @ settling: the_value_of_its_last_node_ends_an_item
an item holds its values when it has ended
    item.release()\n        return follows => return follows
    @ settling: the_value_of_its_last_node_ends_an_item
the newest is served first
    waiting.extend(newly) => waiting.extendleft(newly)
    @ run_slots: all_start_in_the_order_in_which_they_came
what was cancelled takes a slot
    = waiting.popleft()\n            if frame.states[index] in (READY, RUNNING):
    => = waiting.popleft()\n            if True:
    @ run_slots: what_was_cancelled_while_it_waited_takes_no_slot
a thread that runs on gives its slot back at once
    if kept is None or kept.drop(): => if kept is None or kept:
    @ run_slots: a_slot_comes_back_in_the_event_loop_when_the_last_thread_returns
frames share a set that they write to
    _NOBODY: Final[Any] = frozenset() => _NOBODY: Final[Any] = set()
    @ other: scheduler/test_readiness.py::test_what_a_new_frame_shares_refuses_to_be_written_to
states are listed as their frames have opened
    in sorted(frame.opened, reverse=True): => in frame.opened:
    @ order: a_result_lists_states_in_declared_order_whatever_opened_first[asyncio]
what came back after its time is remembered
    if has_returned(): => if result is not None:
    @ memo: outcomes.py::TestFailures::test_what_comes_back_after_its_time_is_no_outcome[asyncio]
the only reader of a hit has what is remembered itself
    is None or plan.shared[slot] else own_copy(value) => is None or plan.shared[slot] else value
    @ memo: outcomes.py::TestCopies::test_nobody_changes_it_where_a_scope_hands_its_only_copy_over[asyncio]
what is remembered is what the first reader has
    {port: own_copy(value) for port, value in given.items() => {port: value for port, value in given.items()
    @ memo: outcomes.py::TestCopies::test_nobody_changes_it_where_a_scope_hands_its_only_copy_over[asyncio]
those who wait for an outcome compute it too
    call.outcome = outcome => call.outcome = None
    @ memo: races.py::TestFlights::test_who_leads_tells_those_who_wait[asyncio]
what a flow gives stays in the store
    *plan.at_end, =>
    @ memo: stores.py::TestChains::test_an_output_in_between_is_read[asyncio]
"""


def _mutants() -> Iterator[Mutant]:
    for fault in re.split(r"\n(?=\S)", FAULTS.strip()):
        name, *lines = fault.splitlines()
        change = " ".join(line.strip() for line in lines if "@ " not in line)
        old, _, new = change.replace(r"\n", "\n").partition(" =>")
        named = [re.fullmatch(r" +@ (\w+): (.+)", line) for line in lines if "@ " in line]
        tests = [(*ROOMS[one[1]], one[2]) for one in named if one]
        yield Mutant(name, old, new[1:], tuple(f"tests/{begin}{id}{end}" for begin, end, id in tests))


MUTANTS: Final = (*_mutants(),)


ROOT: Final = Path(__file__).parents[2]
ENGINE: Final = Path(dataflow.__file__).parent


def test_with(package: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests with a copy of the engine in place of this one."""
    path = [str(package.parent), *(entry for entry in sys.path if entry), str(ROOT)]
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


test_with.__test__ = False  # type: ignore[attr-defined]  # it is no test


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ENGINE, tmp_path / "dataflow"))


@pytest.mark.timeout(900)  # the tests of all faults, one after the other
def test_a_copy_without_a_fault_passes(copy: Path) -> None:
    tests = dict.fromkeys(test for mutant in MUTANTS for test in mutant.tests)
    done = test_with(copy, *tests)
    assert done.returncode == 0, done.stdout + done.stderr


def seed(mutant: Mutant, package: Path) -> None:
    """Write a fault into the one file of a package that has its text."""
    texts = {file: file.read_text(encoding="utf-8") for file in package.rglob("*.py")}
    found = {
        str(file.relative_to(package)): count for file in texts if (count := texts[file].count(mutant.old))
    }
    assert list(found.values()) == [1], f"renew the mutant: {mutant.old!r} is in {found}"
    file = package.joinpath(*found)
    file.write_text(texts[file].replace(mutant.old, mutant.new), encoding="utf-8")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_is_noticed(mutant: Mutant, copy: Path) -> None:
    seed(mutant, copy)
    for test in mutant.tests:
        done = test_with(copy, test)
        assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
        assert "AssertionError" in done.stdout or "\nE       assert" in done.stdout, done.stdout
        assert "ImportError" not in done.stdout
