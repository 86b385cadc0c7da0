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
OPENED: dict[str, object] = {"prompt": "?", "schema": {}, "show": None, "expires": None, "given": {}}
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
    def test_an_empty_journal_tells_nothing(self) -> None:
        past = fold("r", [], "runs.db")
        assert (past.seq, dict(past.told), past.firings) == (0, {}, {})

    def test_the_first_record_has_the_flow_and_the_inputs(self) -> None:
        past = Journal().fold()
        assert (past.flow, past.told["inputs"], past.started, past.seq) == ("f", {}, BEGUN, 1)

    def test_the_end_tells_the_status(self) -> None:
        for status in ["completed", "failed", "cancelled"]:
            assert Journal().tell("run_finished", status=status).fold().status is RunStatus(status), status

    def test_a_pause_tells_how_long_it_was_executed(self) -> None:
        journal = Journal().tell("run_paused", asks=["a"], elapsed=4.5)
        past = journal.fold()
        assert (past.status, past.elapsed) == (RunStatus.PAUSED, 4.5)
        past = journal.tell("run_resumed").fold()
        assert (past.status, past.elapsed) == (RunStatus.RUNNING, 4.5)

    def test_what_was_interrupted_was_executed_up_to_its_newest_record(self) -> None:
        journal = Journal().tell("run_paused", asks=["a"], elapsed=4.5).tell("run_resumed")
        assert journal.tell("node_started", "a", type="m:a", attempt=1).fold().elapsed == 5.5
        journal = started().tell("run_resumed").tell("node_started", "b", type="m:b", attempt=1)
        assert journal.fold().elapsed == 2
        assert started().tell("run_finished", status="failed").fold().elapsed == 2

    def test_the_end_tells_what_nothing_has_handled(self) -> None:
        past = Journal().tell("run_finished", status="failed", failures=["a"]).fold()
        assert past.failures == {"a"}

    def test_what_was_forgotten_then_stays_forgotten(self) -> None:
        journal = (
            started().tell("node_finished", "a", state="done", **ENDED).tell("run_finished", status="failed")
        )
        assert journal.tell("run_resumed", forgotten=["a"]).fold().firings["a"].state is None

    def test_warnings_are_known_in_their_order(self) -> None:
        past = (
            Journal().tell("warning", "b", code="c", text="1").tell("warning", "a", code="c", text="2").fold()
        )
        assert list(past.warnings) == [("b", "c", "1"), ("a", "c", "2")]


class TestFirings:
    def test_one_that_has_started_is_running(self) -> None:
        firing = started(attempt=2).fold().firings["a"]
        assert (firing.is_running, firing.type, firing.attempt, firing.state) == (True, "m:a", 2, None)

    def test_one_that_has_ended_has_its_ports(self) -> None:
        firing = started().tell("node_finished", "a", state="done", **ENDED).fold().firings["a"]
        assert (firing.is_running, firing.state, firing.ports) == (
            False, NodeState.DONE, {"out": {"value": 1}}
        )  # fmt: skip

    def test_one_that_is_attempted_again_waits_for_its_time(self) -> None:
        journal = started().tell("attempt_failed", "a", attempt=1, error={}, delay=60)
        firing = journal.fold().firings["a"]
        assert (firing.is_running, firing.attempt) == (False, 1)
        assert firing.next_at == BEGUN + timedelta(seconds=62)
        firing = journal.tell("node_started", "a", type="m:a", attempt=2).fold().firings["a"]
        assert (firing.is_running, firing.attempt, firing.next_at) == (True, 2, None)

    def test_the_last_attempt_waits_for_nothing(self) -> None:
        past = started().tell("attempt_failed", "a", attempt=1, error={}, delay=None).fold()
        assert past.firings["a"].next_at is None

    def test_loops_maps_and_flow_nodes_open_what_is_inside(self) -> None:
        cases: list[tuple[str, bool]] = [("loop", True), ("map", True), ("flow", True), ("m:a", False)]
        for kind, is_opener in cases:
            assert started(type=kind).fold().firings["a"].is_opener is is_opener, kind

    def test_the_attempt_at_a_subflow_is_the_running_or_the_next_one(self) -> None:
        waiting = started(type="flow").tell("attempt_failed", "a", attempt=1, error={}, delay=60)
        assert Journal().fold().attempt_at_flow("a") == 1
        assert started(attempt=2, type="flow").fold().attempt_at_flow("a") == 2
        assert waiting.fold().attempt_at_flow("a") == 2

    def test_forgetting_keeps_the_attempts_counted(self) -> None:
        past = started(attempt=3).tell("node_finished", "a", state="failed", **ENDED).fold()
        past.forget(["a", "nobody"])
        firing = past.firings["a"]
        assert (firing.state, firing.attempt, firing.ports) == (None, 3, {})


class TestLoopsAndMaps:
    def test_a_loop_continues_that_has_begun_another_round(self) -> None:
        past = Journal().tell("loop_round", "l", round=2).fold()
        assert (past.loop_goes_on("l", 2), past.loop_goes_on("l", 3)) == (True, None)

    def test_why_a_loop_has_ended_shows_what_its_test_said(self) -> None:
        said = {"condition": False, "max_iterations": True, "exhausted": True, "failed": None}
        for reason, goes_on in said.items():
            past = Journal().tell("loop_exited", "l", reason=reason, iterations=3).fold()
            assert past.loop_goes_on("l", 3) is goes_on, reason

    def test_all_of_it_is_known_until_it_is_forgotten(self) -> None:
        journal = Journal().tell("loop_round", "x", round=2).tell("map_opened", "x", items=3)
        past = journal.tell("race_decided", "x", edge="a.out").fold()
        assert (past.rounds, past.maps, past.races) == ({"x": 3}, {"x": 3}, {"x": "a.out"})
        past.forget(["x"])
        assert (past.rounds, past.maps, past.races) == ({}, {}, {})


class TestAsks:
    def test_an_open_one_waits(self) -> None:
        past = started().tell("ask_opened", "a", **OPENED).fold()
        assert (list(past.open_asks), past.firings["a"].is_running) == (["a"], False)

    def test_they_are_listed_as_they_opened(self) -> None:
        journal = started().tell("node_started", "b", type="m:b", attempt=1)
        past = journal.tell("ask_opened", "b", **OPENED).tell("ask_opened", "a", **OPENED).fold()
        assert list(past.open_asks) == ["b", "a"]

    def test_one_that_is_answered_waits_no_more(self) -> None:
        journal = started().tell("ask_opened", "a", **OPENED)
        past = journal.tell("ask_answered", "a", by="Ada", values={"out": 1}).fold()
        ask = past.firings["a"].ask
        assert ask is not None
        assert (ask.values, ask.by, dict(past.open_asks)) == ({"out": 1}, "Ada", {})

    def test_one_that_is_closed_waits_no_more_until_it_is_opened_again(self) -> None:
        journal = started().tell("ask_opened", "a", **OPENED).tell("ask_closed", "a", reason="over")
        assert not journal.fold().open_asks
        assert list(journal.tell("ask_opened", "a", **OPENED).fold().open_asks) == ["a"]

    def test_the_end_of_one_that_was_never_opened_tells_nothing(self) -> None:
        cases: list[tuple[str, dict[str, Any]]] = [
            ("ask_answered", {"by": "Ada", "values": {}}),
            ("ask_closed", {"reason": "over"}),
        ]
        for kind, data in cases:
            assert Journal().tell(kind, "a", **data).fold().firings["a"].ask is None, kind


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

    def test_what_follows_from_the_others_is_passed_over(self) -> None:
        for kind in ["branch_evaluated", "timer_set"]:
            assert Journal().tell(kind, "a", matched=None).fold().firings == {}, kind

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
