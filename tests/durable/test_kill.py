"""A run whose process is killed, again and again, comes to the same as one left alone (S11.3, S12.2)."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow.core.events import EventKind
from dataflow.stores import Record, Store
from tests.durable.forking import Forks, forks, order_in
from tests.durable.killed_flow import ANSWERS, EFFECTS
from tests.properties.diary import Diary
from tests.properties.effort import EFFORT, in_part

#: A process dies at a record, and the next that goes on with the run so many records later.
APART: Final = 7
#: How many runs are killed at random, at most how often each, and after how many seconds at most.
RANDOM: Final = 12
OFTEN: Final = 4
LONGEST: Final = 0.12
#: Of the moments at which a process dies every second, third and so on is tried, unless all are.
STEP: Final = max(1, round(1 / EFFORT))
OUTPUTS: Final = {
    "thanks": "'paid 8, thanks'",
    "half": "1177",
    "steady": "2",
    "told": "'broken: 1'",
    "first": "'quick 1'",
    "same": "2355",
    "length": "2",
}
#: The kinds of records that the flow writes.
KINDS: Final = {kind.value for kind in EventKind} - {"piece", "pieces_void", "timer_set"}


@dataclass
class Life:
    """A run that is killed and resumed, and what is known of it at each death."""

    folder: Path
    forks: Forks
    deaths: list[str] = field(default_factory=list)  # the kind of the last record at each
    done: dict[str, int] = field(default_factory=dict)  # how often what is done was called
    interrupted: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.order = order_in(self.folder, "tests.durable.killed_flow:made", answers=ANSWERS)
        self.store = Store.sqlite(self.order.store)

    @property
    def run(self) -> str:
        """The run, as soon as anything of it is recorded."""
        begun = [run.id for run in self.store.runs() if list(self.store.records(run.id))]
        return begun[0] if begun else ""

    def journal(self) -> list[Record]:
        return list(self.store.records(self.run)) if self.run else []

    def calls(self) -> list[tuple[str, int]]:
        path = Path(self.order.calls)
        lines = path.read_text().splitlines() if path.exists() else []
        return [(line.split()[0], int(line.split()[1])) for line in lines]

    def live(self, **death: Any) -> bool:
        """Go on with the run; tells whether it was killed before it has ended."""
        reply = self.forks.obey(replace(self.order, run=self.run, **death))
        if reply is None:
            self._look()
            return Diary.of(self.journal()).status != "completed"
        assert (reply["status"], reply["outputs"]) == ("completed", OUTPUTS)
        return False

    def _look(self) -> None:
        """Look at what a process has left behind."""
        journal, calls = self.journal(), Counter(path for path, _ in self.calls())
        diary = Diary.of(journal)
        self.deaths.append(journal[-1].kind if journal else "")
        self._effects_are_known(journal)
        for path in diary.done:
            assert self.done.setdefault(path, calls[path]) == calls[path]
        self.interrupted |= {(path, diary.attempts[path]) for path in diary.running}

    def _effects_are_known(self, journal: list[Record]) -> None:
        """Hold that no node with an effect is called before the journal has that it starts, nor twice."""
        started = {
            (record.path, json.loads(record.data)["attempt"])
            for record in journal
            if record.kind == EventKind.NODE_STARTED
        }
        effects = [call for call in self.calls() if call[0] in EFFECTS]
        assert len(set(effects)) == len(effects)
        assert set(effects) <= started

    def ended(self) -> list[str]:
        """Hold what is known when the run has ended; returns after which kinds of records it was killed."""
        journal, calls = self.journal(), self.calls()
        diary = Diary.of(journal)
        assert diary.status == "completed"
        self._effects_are_known(journal)
        counts = Counter(path for path, _ in calls)
        assert {path: counts[path] for path in self.done} == self.done
        assert {(record.path, attempt) for record, attempt in _interrupted(journal)} == self.interrupted
        known = {record.path for record in journal if record.kind == EventKind.MEMO_HIT}
        interrupted = [(path, attempt) for path, attempt in self.interrupted if path not in known]
        again = {(path, attempt + 1) for path, attempt in interrupted if counts[path]}
        assert again <= {*calls, *_withdrawn(journal)}
        return self.deaths


def _interrupted(journal: list[Record]) -> Iterator[tuple[Record, int]]:
    for record in journal:
        data = json.loads(record.data)
        if record.kind == EventKind.ATTEMPT_FAILED and data["error"]["v"]["type"] == "Interrupted":
            yield record, data["attempt"]


def _withdrawn(journal: list[Record]) -> Iterator[tuple[str, int]]:
    """Tell of the attempts that were not made since their race was lost meanwhile."""
    for record in journal:
        if record.kind == EventKind.NODE_FINISHED and json.loads(record.data)["state"] == "cancelled":
            yield from ((record.path, attempt) for attempt in range(1, 100))


@pytest.mark.timeout(900)  # many processes, one after the other
def test_a_run_that_is_killed_again_and_again_comes_to_the_same(tmp_path: Path) -> None:
    """The process dies right before and right after every record of a run, and at any moment."""
    choose = random.Random(7)
    deaths: list[str] = []
    with forks() as forked:
        for kind in sorted(KINDS):
            for before in (False, True):
                life = Life(tmp_path / f"{kind}-{before}", forked)
                if life.live(kind=kind, before=before):
                    life.live()
                deaths += life.ended()
        assert {*deaths} >= KINDS
        for number in range(0, 2 * APART, STEP):
            life = Life(tmp_path / f"{number}", forked)
            at = 1 + number // 2
            while life.live(at=at, before=bool(number % 2)):
                at = max(at, len(life.journal())) + APART
            deaths += life.ended()
        for number in range(in_part(RANDOM)):
            life = Life(tmp_path / f"random-{number}", forked)
            if all(life.live(seconds=choose.uniform(0, LONGEST)) for _ in range(OFTEN)):
                life.live()
            deaths += life.ended()
    assert len(deaths) >= in_part(200, min(1, EFFORT))
