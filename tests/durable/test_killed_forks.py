"""A fork whose process is killed is not there, or goes on to what it would have come to (S12.2, S13.5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow.stores import Store
from tests.durable.forking import Forks, forks, order_in
from tests.durable.killed_flow import ANSWERS
from tests.durable.serving import Order
from tests.durable.test_kill import OUTPUTS, STEP
from tests.properties.diary import Diary

CHANGES: Final = {"ask": 20}
FORKED: Final = {**OUTPUTS, "thanks": "'paid 21, thanks'"}
#: What depends on the answer that is changed, and may run more than once.
REACHED: Final = {"sub/plus", "pay", "thank"}


def calls(order: Order) -> Counter[str]:
    return Counter(line.split()[0] for line in Path(order.calls).read_text().splitlines())


class Forking:
    """A run that is forked again and again, by processes of which each is killed at another record."""

    def __init__(self, folder: Path, forked: Forks) -> None:
        self._forked = forked
        self._first = order_in(folder, "tests.durable.killed_flow:made", answers=ANSWERS)
        self.store = Store.sqlite(self._first.store)
        reply = forked.obey(self._first)
        assert reply is not None
        assert reply["outputs"] == OUTPUTS
        self.source: str = reply["run"]
        self.deaths = 0

    def fork(self, **death: Any) -> str:
        """Fork the run, and go on with what a killed process has left; return the fork."""
        known, before = {run.id for run in self.store.runs()}, calls(self._first)
        order = replace(self._first, run=self.source, changes=CHANGES, **death)
        reply = self._forked.obey(order)
        if reply is None:
            self.deaths += 1
            left = [run.id for run in self.store.runs() if run.id not in known]
            written = [run for run in left if list(self.store.records(run))]
            if written and self.store.find(written[0]).status == "completed":
                return written[0]
            again = replace(self._first, run=written[0]) if written else replace(order, at=0)
            reply = self._forked.obey(again)
        assert reply is not None
        assert reply["outputs"] == FORKED
        assert set(calls(self._first) - before) == REACHED
        assert Diary.of(self.store.records(reply["run"])).status == "completed"
        return str(reply["run"])


@pytest.mark.timeout(900)  # many processes, one after the other
def test_a_fork_that_is_killed_at_any_record_comes_to_the_same(tmp_path: Path) -> None:
    with forks() as forked:
        forking = Forking(tmp_path, forked)
        journal = list(forking.store.records(forking.source))
        kinds = [record.kind for record in forking.store.records(forking.fork())]
        taken = kinds.index("run_resumed")  # so many records are written at once
        moments = range(taken, len(kinds) + 1, STEP)
        for at in moments:
            for before in (False, True):
                forking.fork(at=at, before=before)
        assert forking.deaths >= 2 * (len(moments) - 1)
        assert list(forking.store.records(forking.source)) == journal
