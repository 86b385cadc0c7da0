"""The past of a run, folded from its journal (S11.3, S12.1, S12.2)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dataflow import NodeState, StoreError
from dataflow.core.states import RunStatus
from dataflow.durable.journal_view import Past, fold
from dataflow.stores import Record

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
ENDED = {"ports": {"out": {"value": 1}}, "metadata": {}}


class Journal:
    """Records of a run, one a second."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.tell("run_started", flow="f", inputs={}, shape="")

    def tell(self, kind: str, path: str = "", **data: Any) -> Journal:
        seq = len(self.records) + 1
        time = (BEGUN + timedelta(seconds=seq - 1)).isoformat()
        self.records.append(Record(seq, kind, path, json.dumps({**data, "time": time})))
        return self

    def spoil(self, text: str) -> Journal:
        """Have another text in place of the newest record."""
        seq, kind, path = self.records[-1].seq, self.records[-1].kind, self.records[-1].path
        self.records[-1] = Record(seq, kind, path, text)
        return self

    def fold(self) -> Past:
        return fold("r", self.records, "runs.db")


def started(path: str = "a", attempt: int = 1, type: str = "m:a") -> Journal:
    return Journal().tell("node_started", path, type=type, attempt=attempt)


class TestRuns:
    def test_what_was_interrupted_was_executed_up_to_its_newest_record(self) -> None:
        journal = Journal().tell("run_paused", asks=["a"], elapsed=4.5).tell("run_resumed")
        assert journal.tell("node_started", "a", type="m:a", attempt=1).fold().elapsed == 5.5
        journal = started().tell("run_resumed").tell("node_started", "b", type="m:b", attempt=1)
        assert journal.fold().elapsed == 2
        assert started().tell("run_finished", status="failed").fold().elapsed == 2


class TestLoopsAndMaps:
    def test_why_a_loop_has_ended_shows_what_its_test_said(self) -> None:
        said = {"condition": False, "max_iterations": True, "exhausted": True, "failed": None}
        for reason, goes_on in said.items():
            past = Journal().tell("loop_exited", "l", reason=reason, iterations=3).fold()
            assert past.loop_goes_on("l", 3) is goes_on, reason


#: What a cut, or a disk that is wrong, leaves of a record.
UNREADABLE = {
    "cut": '{"type": "m:a", "att',
    "empty": "",
    "no object": "[]",
    "a number": "5",
    "no time": '{"type": "m:a", "attempt": 1}',
    "another time": '{"type": "m:a", "attempt": 1, "time": "today"}',
    "no field": '{"time": "2026-01-01T00:00:00+00:00"}',
    "deep": "[" * 200_000,
}


def test_an_unreadable_record_is_dropped_unless_others_follow_it(subtests: pytest.Subtests) -> None:
    for name, text in UNREADABLE.items():
        with subtests.test(name):
            past = started().spoil(text).fold()
            assert (past.is_torn, past.seq) == (True, 2)
            assert "a" not in past.firings or not past.firings["a"].is_running
            past = started().spoil(text).tell("run_resumed").fold()
            assert (past.is_torn, past.seq) == (False, 3)
            journal = started().spoil(text).tell("run_finished", status="completed")
            with pytest.raises(StoreError, match=r"DF1116 store runs\.db: run r: record 2 "):
                journal.fold()


def test_the_end_of_a_firing_is_recorded_as_a_whole_or_not_at_all() -> None:
    whole: dict[str, Any] = {"state": "done", **ENDED}
    failures: list[object] = [{}, "", 1, {"v": {}}, {"v": []}, {"v": {"path": 1}}]
    parts: list[dict[str, Any]] = [
        *({name: whole[name] for name in whole if name != missing} for missing in whole),
        *({**whole, "failure": failure} for failure in failures),
        {**whole, "state": "excellent"},
    ]
    for data in parts:
        past = started().tell("node_finished", "a", **data).fold()
        assert (past.is_torn, past.firings["a"].state) == (True, None), data


class TestLaterReleases:
    """Records of kinds that a later release writes are passed over (S20)."""

    def test_unknown_kinds_are_ignored_wherever_they_are(self) -> None:
        past = Journal().tell("memo_hit", "a", key="k").tell("run_paused", asks=[], elapsed=1.0).fold()
        assert past.status is RunStatus.PAUSED
        journal = Journal().tell("tool_call", "a", name="x")
        past = journal.fold()
        assert (past.is_torn, past.seq, past.elapsed) == (False, 2, 1)
        assert journal.spoil('{"na').fold().is_torn

    def test_fields_that_nobody_knows_are_passed_over(self) -> None:
        firing = Journal().tell("node_started", "a", type="m:a", attempt=1, priority=3).fold().firings["a"]
        assert firing.is_running


class TestWhatGoesOnAgain:
    def test_a_map_in_which_an_item_begins_after_its_end_has_not_ended(self) -> None:
        for state in ("failed", "cancelled"):
            journal = started("m", type="map").tell("node_finished", "m", state=state, **ENDED)
            past = journal.tell("node_started", "m[0]/a", type="m:a", attempt=1).fold()
            assert past.firings["m"].state is None, state

    def test_a_map_that_is_done_stays_so_whatever_begins_in_it(self) -> None:
        journal = started("b").tell("node_finished", "b", state="failed", **ENDED)
        journal.tell("node_started", "m", type="map", attempt=1)
        journal.tell("node_finished", "m", state="done", **ENDED)
        past = journal.tell("node_started", "m[0]/a", type="m:a", attempt=1).fold()
        assert past.firings["m"].state is NodeState.DONE
