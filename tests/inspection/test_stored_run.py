"""A stored run as data: its record, its nodes as a list and a tree, one firing, and its open asks (S12.1)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from dataflow import Flow, NameUnknown, Store, register_codec
from dataflow.durable.storable import storable_of
from dataflow.inspection.json_values import StoredValues, json_value
from dataflow.inspection.open_asks import OpenAsk, asks_of
from dataflow.inspection.stored_run import (
    NodeBranch,
    PastRun,
    firing_object,
    node_tree,
    read_run,
    run_object,
    stored_node,
    stored_nodes,
)
from dataflow.stores import Batch, Record, StoredRun
from dataflow.stores.memory import MemoryStore

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
RUN = StoredRun("r", "f", "f.py:f", "interrupted", BEGUN, BEGUN + timedelta(seconds=9))
OPENED: dict[str, object] = {"prompt": "?", "schema": {"type": "integer"}, "show": [1], "expires": 60}
ERROR = {"$": "dataflow:Failure", "v": {"path": "a", "type": "ValueError", "message": "no"}}


async def same(x: int) -> int:
    return x


class Journal:
    def __init__(self, **told: Any) -> None:
        self.store = MemoryStore()
        self.store.begin(RUN).release()
        self._count = 0
        self.tell("run_started", flow="f", **{"inputs": {"x": 1}, "shape": "", **told})

    def tell(self, kind: str, path: str = "", **data: Any) -> Journal:
        time = (BEGUN + timedelta(seconds=self._count)).isoformat()
        self._count += 1
        record = Record(self._count, kind, path, json.dumps({**data, "time": time}))
        hold = self.store.hold("r")
        self.store.commit("r", Batch([record]))
        hold.release()
        return self

    def begin(self, path: str, attempt: int = 1, type: str = "m:a", **data: Any) -> Journal:
        return self.tell("node_started", path, type=type, attempt=attempt, **data)

    def end(self, path: str, state: str = "done", **data: Any) -> Journal:
        return self.tell("node_finished", path, state=state, **{"ports": {}, "metadata": {}, **data})

    def read(self) -> PastRun:
        return read_run(self.store, RUN)


def states(journal: Journal, status: str) -> dict[str, str]:
    past = journal.read().past
    return {node.path: node.state for node in stored_nodes(past, status)}


def names(branches: list[NodeBranch]) -> list[Any]:
    return [(branch.name, names(branch.branches)) if branch.branches else branch.name for branch in branches]


class TestRun:
    def test_it_is_its_record_and_what_its_journal_has(self, snapshot: SnapshotAssertion) -> None:
        journal = Journal().begin("a").end("a").tell("warning", "a", code="c", text="slow")
        assert run_object(journal.read(), ()) == snapshot

    def test_a_fork_has_the_run_that_it_comes_from_and_the_changes(self) -> None:
        found = Journal(forked={"run": "q", "changes": {"$in.x": 2}}).read()
        assert found.forked == {"run": "q", "changes": {"in.x": 2}}


class TestNodes:
    def test_one_that_has_not_ended_has_its_state_from_the_status_of_the_run(self) -> None:
        cases: list[tuple[str, str]] = [
            ("running", "running"),
            ("interrupted", "interrupted"),
            ("paused", "paused"),
            ("failed", "not_run"),
        ]
        for status, state in cases:
            assert states(Journal().begin("a"), status) == {"a": state}, status

        journal = Journal().begin("a").tell("attempt_failed", "a", attempt=1, error=ERROR, delay=60)
        assert states(journal, "interrupted") == {"a": "waiting"}
        assert states(Journal().begin("a").tell("ask_opened", "a", **OPENED), "interrupted") == {
            "a": "paused"
        }

    def test_one_that_has_ended_has_its_time_and_reason_until_it_begins_again(self) -> None:
        journal = Journal().begin("a").end("a", "skipped", reason="no x")
        node = stored_node(journal.read().past, "interrupted", "a")
        assert (node.state, node.seconds, node.reason) == ("skipped", 1.0, "no x")
        node = stored_node(journal.begin("a", 2).read().past, "running", "a")
        assert (node.state, node.attempt, node.seconds, node.reason) == ("running", 2, None, "")

    def test_loops_have_rounds_and_maps_items(self) -> None:
        journal = Journal().begin("l", type="loop").tell("loop_round", "l", round=1)
        past = journal.begin("m", type="map").tell("map_opened", "m", items=3).read().past
        assert [(node.rounds, node.items) for node in stored_nodes(past, "running")] == [
            (2, None), (None, 3)
        ]  # fmt: skip


class TestTree:
    def test_rounds_items_and_attempts_are_branches_of_what_they_are_in(self) -> None:
        journal = Journal()
        for path in ("a", "l", "l[1]/b", "l[1]/c", "l[2]/b", "f", "f~2/d"):
            journal.begin(path)
        found = node_tree(journal.read().past, "running")
        assert names(found) == [
            "a", ("l", [("[1]", ["b", "c"]), ("[2]", ["b"])]), ("f", [("~2", ["d"])])
        ]  # fmt: skip


class TestFiring:
    def test_it_has_all_that_is_stored_of_it(self, snapshot: SnapshotAssertion) -> None:
        journal = Journal().begin("a").tell("attempt_failed", "a", attempt=1, error=ERROR, delay=0)
        journal.begin("a", 2, inputs={"x": {"$": "tuple", "v": [1, 2]}})
        journal.tell("ask_opened", "a", **OPENED).tell("ask_answered", "a", by="Ada", values={"out": 4})
        journal.end("a", ports={"out": {"value": 4}}, metadata={"cost": 2})
        assert firing_object(journal.read(), journal.store, "a") == snapshot

    def test_a_node_that_has_not_begun_is_refused_as_that(self) -> None:
        with Flow("f") as flow:
            flow.output("out", flow.add(same, x=flow.input("x", int)).out)
        journal = Journal(shape=storable_of(flow.compile()).shape)
        assert journal.read().not_begun == ["same"]
        with pytest.raises(NameUnknown, match="DF1122 run r:"):
            firing_object(journal.read(), journal.store, "same")


class TestAsks:
    def test_those_of_a_store_are_data(self) -> None:
        store = Journal().begin("a").tell("ask_opened", "a", **OPENED).store
        until = BEGUN + timedelta(seconds=62)
        (ask,) = asks_of(store, "r")
        assert ask == OpenAsk("r", "a", "?", {"type": "integer"}, [1], until)
        assert ask.has_expired
        assert ask.as_json()["expires"] == "2026-01-01T00:01:02+00:00"
        assert asks_of(store, "q") == []


class Colour(Enum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


async def typed(colour: Colour = Colour.RED, number: Number = Number.ONE) -> None: ...


def giving(value: object) -> Any:
    async def give() -> Any:
        return value

    return give


class TestStoredValues:
    def test_a_class_becomes_an_object_without_being_imported(self) -> None:
        data = {"$": "nowhere:Point", "v": {"x": {"$": "set", "v": [1]}}}
        assert StoredValues(MemoryStore()).readable(data) == {"x": [1]}

    @pytest.mark.parametrize("value", [Number.ONE, {1: [Colour.RED]}, {1: 2, "1": 3}, {Colour.RED: None}])
    def test_a_stored_value_is_shown_as_the_value_itself(self, value: object) -> None:
        journal, store = Store.memory(), MemoryStore()
        with Flow("f") as flow:
            flow.output("a", flow.add(giving(value)).out)
            flow.add(typed)
        run = flow.using(store=journal).run_sync()
        data = next(
            json.loads(one.data) for one in journal.records(run.run_id) if one.kind == "node_finished"
        )
        assert StoredValues(store).readable(data["ports"]["out"]["value"]) == json_value(value)

    @pytest.mark.parametrize("name", ["text", "odd:Odd"])
    def test_a_value_that_is_missing_or_malformed_is_named_in_its_place(self, name: str) -> None:
        register_codec(Odd, repr, read_nothing, name="odd:Odd")
        found = StoredValues(MemoryStore()).readable({"$": name, "v": "0" * 64})
        assert found.startswith("(cannot be read: ")


class Odd(BaseException):
    """A value whose codec raises what is not even an Exception, as libraries in Rust do."""


def read_nothing(_: str) -> Odd:
    raise Odd("old format")
