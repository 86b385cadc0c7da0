"""Runs go on in other processes, and two processes at once do not have them both (S11.2, S11.3)."""

from __future__ import annotations

import json
import os
import random
import select
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow.stores import Answer, Record, Store
from tests.durable.forking import Forks, forks, order_in
from tests.durable.serving import Order
from tests.durable.small_flows import program_of
from tests.properties.diary import Diary
from tests.properties.playing import expect
from tests.properties.reference_tokens import Dead

ROUNDS: Final = 20
#: So long somebody waits at most who never waits for somebody busy, on a machine as slow as can be.
PATIENCE: Final = 60


class Place:
    """Where the runs of a flow live, and what is known of them."""

    def __init__(self, folder: Path, flow: str) -> None:
        folder.mkdir(exist_ok=True)
        self.order = order_in(folder, f"tests.durable.small_flows:{flow}", pauses=True, answers={})
        self.store = Store.sqlite(self.order.store)
        self.gate = Path(f"{self.order.calls}-gate")
        os.mkfifo(self.gate)

    def calls(self) -> list[str]:
        return Path(self.order.calls).read_text().splitlines()

    def journal(self, run: str) -> list[Record]:
        return list(self.store.records(run))

    def again(self, reply: dict[str, Any], **answers: object) -> Order:
        return replace(self.order, run=reply["run"], answers=answers)


def open_and_close(gate: Path) -> None:
    """Let somebody go on who waits at a pipe, or will."""
    with gate.open("wb"):
        pass


@pytest.fixture
def forked() -> Iterator[Forks]:
    with forks() as one:
        yield one


def test_a_new_process_repeats_nothing_that_is_done(tmp_path: Path, forked: Forks) -> None:
    place = Place(tmp_path, "lines")
    paused = forked.obey(place.order)
    assert paused is not None
    assert paused["status"] == place.store.find(paused["run"]).status == "paused"
    ended = forked.obey(place.again(paused, ask="go"))
    assert ended == {"run": paused["run"], "status": "completed", "outputs": {"out": "'abc go'"}}
    assert place.calls() == ["a 1", "b 1", "c 1"]
    assert Diary.of(place.journal(ended["run"])).sittings == 2
    assert place.store.find(ended["run"]).status == "completed"


def test_only_what_was_interrupted_runs_again(tmp_path: Path, forked: Forks) -> None:
    place = Place(tmp_path, "dying")
    assert forked.obey(place.order) is None
    (run,) = place.store.runs()
    assert run.status == "interrupted"
    paused = forked.obey(place.again({"run": run.id}))
    assert paused is not None
    ended = forked.obey(place.again(paused, ask="go"))
    assert ended is not None
    assert ended["outputs"] == {"out": "'abc go'"}
    assert place.calls() == ["a 1", "b 1", "b 2", "c 1"]
    of_b = [(one.kind, json.loads(one.data)) for one in place.journal(run.id) if one.path == "b"]
    assert [kind for kind, _ in of_b] == ["node_started", "attempt_failed", "node_started", "node_finished"]
    assert [data.get("attempt") for _, data in of_b] == [1, 1, 2, None]
    assert of_b[1][1]["error"]["v"]["type"] == "Interrupted"


def test_an_ask_in_one_branch_leaves_the_other_alone(tmp_path: Path, forked: Forks) -> None:
    place = Place(tmp_path, "two_branches")
    forked.begin(place.order)
    open_and_close(place.gate)
    paused = forked.end(place.order)
    assert paused is not None
    assert paused["status"] == "paused"
    diary = Diary.of(place.journal(paused["run"]))
    assert diary.open == ["x"]
    assert diary.done == {"source", "y", "y1", "z"}
    ended = forked.obey(place.again(paused, x="ok"))
    assert ended is not None
    assert ended["outputs"] == {"out": "['ok', 4]"}
    _each_once(place, ended["run"])


def test_an_answer_is_taken_while_the_other_branch_works(tmp_path: Path, forked: Forks) -> None:
    place = Place(tmp_path, "two_branches")
    forked.begin(place.order)
    with place.gate.open("wb"):  # y is at work as soon as this is open
        (run,) = place.store.runs()
        place.store.answer(run.id, Answer("x", '"ok"', "somebody"))
    ended = forked.end(place.order)
    assert ended is not None
    assert (ended["status"], ended["outputs"]) == ("completed", {"out": "['ok', 4]"})
    assert not place.store.inbox(run.id)
    _each_once(place, run.id)


def _each_once(place: Place, run: str) -> None:
    assert Counter(place.calls()) == Counter(f"{path} 1" for path in ("source", "x1", "y", "y1", "z", "join"))
    starts = Counter(record.path for record in place.journal(run) if record.kind == "node_started")
    assert set(starts.values()) == {1}


def test_of_two_processes_that_resume_a_run_at_once_one_has_it(tmp_path: Path) -> None:
    """The one that has it is busy until the other is told so: that does not wait for it."""
    with forks() as one, forks() as other:
        for number in range(ROUNDS):
            place = Place(tmp_path / str(number), "sending")
            paused = one.obey(place.order)
            assert paused is not None
            with _held_back([one, other], place.again(paused, ask="yes")) as orders:
                pass
            first, *_ = select.select([one.replies, other.replies], [], [], PATIENCE)[0]
            refused, winner = (one, other) if first is one.replies else (other, one)
            told = refused.end(orders[refused])
            assert told is not None
            assert "taken" in told
            open_and_close(place.gate)
            ended = winner.end(orders[winner])
            assert ended == {"run": paused["run"], "status": "completed", "outputs": {"out": "'yes'"}}
            assert place.calls() == ["a 1", "send 1"]
            kinds = Counter(record.kind for record in place.journal(paused["run"]))
            assert kinds["run_resumed"] == 1
            assert not list(Path(f"{place.order.store}-locks").glob("2*"))


@contextmanager
def _held_back(processes: Sequence[Forks], order: Order) -> Iterator[dict[Forks, Order]]:
    """Have processes carry out an order at once, when the block is left: then both are there."""
    orders = {}
    for number, process in enumerate(processes):
        gate = f"{order.reply}-gate{number}"
        os.mkfifo(gate)
        orders[process] = replace(order, gate=gate, reply=f"{order.reply}{number}")
        process.begin(orders[process])
    with ExitStack() as opened:
        for one in orders.values():
            opened.enter_context(Path(one.gate).open("wb"))
        yield orders


@pytest.mark.timeout(900)  # many processes, one after the other
def test_random_flows_that_are_killed_come_to_what_the_reference_says(tmp_path: Path, forked: Forks) -> None:
    choose = random.Random(3)
    deaths = 0
    for seed in range(30):
        program = program_of(seed)
        outcome = expect(program).outcome
        if outcome.root.failures():  # as where lists differ in length
            continue
        place = Place(tmp_path / str(seed), "random_flow")
        order = replace(place.order, answers=None, pauses=False, seed=seed, inputs=program.inputs)
        reply, journal = None, list[Record]()
        while reply is None and Diary.of(journal).status != "completed":
            reply = forked.obey(replace(order, at=len(journal) + choose.randrange(2, 30)))
            (run,) = place.store.runs()
            order, journal, deaths = replace(order, run=run.id), place.journal(run.id), deaths + 1
        if reply is not None:
            tokens = outcome.outputs.items()
            wanted = {name: repr(value) for name, value in tokens if not isinstance(value, Dead)}
            assert (reply["status"], reply["outputs"]) == ("completed", wanted)
    assert deaths >= 60
