"""Seeded faults: for each a change of the engine's text, and the tests that have to notice it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["MUTANTS", "Mutant"]

TABLE: Final = "tests/behaviour/test_table.py::test_a_flow_behaves_as_its_row_says[{}-asyncio]"

QUICKENING: Final = "tests/compiler/test_quick_calls.py::test_{}"
INLINE: Final = "tests/runtime/test_quick_calls.py::test_{}[asyncio]"
SETTLING: Final = "tests/scheduler/test_outcomes.py::test_{}"
ROWS: Final = "tests/behaviour/test_rows.py::{}"
ROW_ENDS: Final = "tests/behaviour/test_row_ends.py::{}"
ORDER: Final = "tests/behaviour/test_order.py::{}"
MEMO: Final = "tests/behaviour/test_memo_{}"
RUN_SLOTS: Final = "tests/scheduler/test_run_slots.py::test_{}"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: `new` takes the place of `old`, which the source of the engine has exactly once."""

    name: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS: Final = (
    Mutant(
        "a join counts the values that arrive",
        "            waits[reader] -= 1\n",
        "            waits[reader] -= not has_dead_input\n",
        (TABLE.format("an optional port that is dead beside a live one"),),
    ),
    Mutant(
        "a skip walks through a live join",
        "for feed, cause in dead if feed.required or not has_value]",
        "for feed, cause in dead]",
        (TABLE.format("an optional port that is dead beside a live one"),),
    ),
    Mutant(
        "a limit is off by one",
        "loop.limit is not None and opened.round + 1 >= loop.limit",
        "loop.limit is not None and opened.round >= loop.limit",
        (TABLE.format("B07a"), TABLE.format("the default limit is 100")),
    ),
    Mutant(
        "a parallel edge is lost",
        "_token(frame, slot) for slot in given.slots if is_live(",
        "_token(frame, slot) for slot in dict.fromkeys(given.slots) if is_live(",
        (TABLE.format("a many-port lists in the order of its edges"),),
    ),
    Mutant(
        "an inner loop goes on where it was in the round before",
        "        frame.note_opened(node.index, opened)\n        self._next_round(",
        "        frame.note_opened(node.index, opened := self.__dict__.setdefault(node.id, opened))\n"
        "        self._next_round(",
        (TABLE.format("a loop in a loop starts afresh in each outer round"),),
    ),
    Mutant(
        "items are listed in the order in which they end",
        "            opened.collected[own][item.position] = token\n",
        "            opened.collected[own][-opened.missing[own]] = token\n",
        ("tests/behaviour/test_waiting.py::test_items_in_any_order_of_completion_are_collected_in_order",),
    ),
    Mutant(
        "an error on an optional port is ignored",
        "        if not feed.takes_failure:\n",
        "        if not feed.takes_failure and feed.required:\n",
        (TABLE.format("an error on a port"),),
    ),
    Mutant(
        "a loser of a race goes on",
        "        self.withdraw(frame, node, [slot for slot in feed.slots if slot != winner])\n",
        "",
        ("tests/behaviour/test_races.py::test_a_loser_that_would_come_to_its_end_is_cancelled_before",),
    ),
    Mutant(
        "a lazy port is pulled before its reader is known to fire",
        "        return [feed for feed in node.feeds if not feed.is_lazy]\n",
        "        self.pull(frame, node)\n        return node.feeds\n",
        ("tests/behaviour/test_lazy_ports.py::test_a_lazy_source_on_a_branch_not_taken_never_runs",),
    ),
    Mutant(
        "a default is taken in place of a falsy value",
        "        if type(token) is not Skip:\n            return slot\n",
        "        if token:\n            return slot\n",
        (TABLE.format("fallback that is not needed"), TABLE.format("merge takes a None")),
    ),
    # the short ways
    Mutant(
        "what is told others too is given to calls alone",
        "        if slot in special or not others.isdisjoint(readers):\n",
        "        if not others.isdisjoint(readers):\n",
        (QUICKENING.format("values_with_other_readers_than_calls_are_inspected"),),
    ),
    Mutant(
        "joins, maps and loops are given values as calls are",
        "        if slot in special or not others.isdisjoint(readers):\n",
        "        if slot in special:\n",
        (QUICKENING.format("values_with_other_readers_than_calls_are_inspected"),),
    ),
    Mutant(
        "a port for what has been done is forgotten",
        "    if not is_single or len(node.outputs) != 1 or plan.uses is not None:\n",
        "    if not is_single or plan.uses is not None:\n",
        (QUICKENING.format("a_node_with_another_port_that_is_read_has_no_single_slot"),),
    ),
    Mutant(
        "what may be withdrawn is settled as any other",
        "    if not is_single or len(node.outputs) != 1 or plan.uses is not None:\n",
        "    if not is_single or len(node.outputs) != 1:\n",
        (QUICKENING.format("all_values_are_inspected_where_nodes_may_be_withdrawn_or_never_needed"),),
    ),
    Mutant(
        "a value that others read too is handed over itself",
        "    if not any(shared):\n",
        "    if not all(shared):\n",
        (QUICKENING.format("only_values_with_other_readers_are_copied"),),
    ),
    Mutant(
        "firings of a row share a context",
        "Attempt(worker, frame, index), copy()\n",
        "Attempt(worker, frame, index), self._context\n",
        ("tests/behaviour/test_rows.py::test_a_row_sees_nothing_of_what_its_nodes_set[asyncio]",),
    ),
    Mutant(
        "a firing does not find itself",
        "            CURRENT.set(source)\n",
        "",
        (ROWS.format("test_a_task_of_an_earlier_node_goes_on_asking_for_its_own_firing[asyncio]"),),
    ),
    Mutant(
        "a driver goes on after an error",
        "                worker.driver = Driver()\n",
        "",
        (INLINE.format("after_an_error_a_new_driver_goes_on"),),
    ),
    Mutant(
        "a row never gives up its turn",
        " and ended < until and",
        " and",
        (
            INLINE.format("it_stops_when_its_time_is_over"),
            "tests/behaviour/test_row_turns.py::test_two_rows_take_turns[asyncio]",
        ),
    ),
    Mutant(
        "a chain is put back before those that wait",
        " ready.append(firing)\n",
        " ready.appendleft(firing)\n",
        ("tests/behaviour/test_row_turns.py::test_two_rows_take_turns[asyncio]",),
    ),
    Mutant(
        "a call is given a skip as it stands",
        "quick is None or index in frame.dead_inputs or",
        "quick is None or",
        (INLINE.format("it_stops_before_a_call_that_is_given_a_skip"),),
    ),
    Mutant(
        "what was cancelled in a row fires",
        "index in frame.dead_inputs or frame.states[index] != READY:",
        "index in frame.dead_inputs:",
        (INLINE.format("it_stops_before_what_was_cancelled_meanwhile"),),
    ),
    Mutant(
        "a firing of a closed frame is done",
        "            if own_cancels() or frame.is_closing:\n",
        "            if own_cancels():\n",
        ("tests/behaviour/test_rows.py::test_a_node_of_a_row_may_cancel_its_own_run[asyncio]",),
    ),
    Mutant(
        "a cancellation that a node has left is for the next one",
        "            await self._has_cancelled_itself(worker)\n            return self._raised(",
        "            return self._raised(",
        (ROW_ENDS.format("test_a_node_of_a_row_that_ends_oddly_is_the_one_that_fails[asyncio]"),),
    ),
    Mutant(
        "a join fires with its first value",
        "            if not left and states[index] == WAITING:\n",
        "            if states[index] == WAITING:\n",
        (SETTLING.format("a_node_that_waits_for_more_is_not_ready_yet"),),
    ),
    Mutant(
        "a value that is not kept stays",
        " or not scheduler.is_plain:",
        ":",
        (SETTLING.format("a_value_that_is_not_kept_is_let_go"),),
    ),
    Mutant(
        "a slot is lost with each value",
        "        scheduler.admission.ended((frame, index))\n",
        "",
        (SETTLING.format("a_slot_that_a_firing_gives_back_goes_to_who_waited_first"),),
    ),
    Mutant(
        "a skip is given to calls at once",
        "            or is_dead(token)\n        ):\n",
        "        ):\n",
        (TABLE.format("an optional port that is dead beside a live one"),),
    ),
    Mutant(
        "the last item does not end its map",
        "            self.end(frame, node, opened)\n",
        "            return\n",
        (SETTLING.format("the_value_of_its_last_node_ends_an_item"),),
    ),
    Mutant(
        "an item holds its values when it has ended",
        "        frame.release()\n",
        "",
        (SETTLING.format("the_value_of_its_last_node_ends_an_item"),),
    ),
    Mutant(
        "the newest is served first",
        "        waiting.extend(newly)\n",
        "        waiting.extendleft(newly)\n",
        (RUN_SLOTS.format("all_start_in_the_order_in_which_they_came"),),
    ),
    Mutant(
        "what was cancelled takes a slot",
        " = waiting.popleft()\n            if frame.states[index] in (READY, RUNNING):",
        " = waiting.popleft()\n            if True:",
        (RUN_SLOTS.format("what_was_cancelled_while_it_waited_takes_no_slot"),),
    ),
    Mutant(
        "a thread that runs on gives its slot back at once",
        "        if kept is None or kept.drop():\n",
        "        if kept is None or kept:\n",
        (RUN_SLOTS.format("a_slot_comes_back_in_the_event_loop_when_the_last_thread_returns"),),
    ),
    Mutant(
        "frames share a set that they write to",
        "_NOBODY: Final[Any] = frozenset()\n",
        "_NOBODY: Final[Any] = set()\n",
        ("tests/scheduler/test_frames.py::test_what_a_new_frame_shares_refuses_to_be_written_to",),
    ),
    Mutant(
        "states are listed as their frames have opened",
        " in sorted(frame.opened, reverse=True):",
        " in frame.opened:",
        (ORDER.format("test_a_result_lists_states_in_declared_order_whatever_opened_first[asyncio]"),),
    ),
    Mutant(
        "what came back after its time is remembered",
        "            if has_returned():\n",
        "            if result is not None:\n",
        (
            MEMO.format(
                "outcomes.py::TestFailures::test_what_comes_back_after_its_time_is_no_outcome[asyncio]"
            ),
        ),
    ),
    Mutant(
        "the only reader of a hit has what is remembered itself",
        " is None or plan.shared[slot] else own_copy(value)",
        " is None or plan.shared[slot] else value",
        (
            MEMO.format(
                "outcomes.py::TestCopies::"
                "test_nobody_changes_it_where_a_scope_hands_its_only_copy_over[asyncio]"
            ),
        ),
    ),
    Mutant(
        "what is remembered is what the first reader has",
        "{port: own_copy(value) for port, value in given.items()",
        "{port: value for port, value in given.items()",
        (
            MEMO.format(
                "outcomes.py::TestCopies::"
                "test_nobody_changes_it_where_a_scope_hands_its_only_copy_over[asyncio]"
            ),
        ),
    ),
    Mutant(
        "those who wait for an outcome compute it too",
        "            call.outcome = outcome\n",
        "            call.outcome = None\n",
        (MEMO.format("races.py::TestFlights::test_who_leads_tells_those_who_wait[asyncio]"),),
    ),
    Mutant(
        "what a flow gives stays in the store",
        "*plan.at_end, ",
        "",
        (MEMO.format("stores.py::TestChains::test_an_output_in_between_is_read[asyncio]"),),
    ),
)
