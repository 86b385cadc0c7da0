"""Runs and forks whose process is killed, again and again, come to the same as others (S11.3, S12.2)."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, Final

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import (
    ExecutionContext,
    Failure,
    Flow,
    Message,
    Node,
    collect,
    each,
    merge,
    merge_contexts,
    node,
    race,
    this_firing,
)
from dataflow.core.events import EventKind
from dataflow.stores import Record, Store
from tests.durable.forking import Forks, forks, order_in
from tests.durable.serving import Order
from tests.properties.effort import EFFORT, in_part
from tests.properties.ledger import Diary

__all__ = ["ANSWERS", "CALLS", "EFFECTS", "made"]

#: In which file it is told, by the variable of the environment that names it.
CALLS: Final = "CALLS"
ANSWERS: Final = {"ask": 7, "sub/confirm": 1}
#: The paths of nodes with an effect.
EFFECTS: Final = ("pay", "thank")


class BrokenError(Exception):
    """What the nodes raise."""


def called() -> None:
    """Write down which firing is called, in one step, so that it stands even if the process is killed."""
    firing = this_firing()
    line = f"{firing.path} {firing.attempt}\n".encode()
    descriptor = os.open(Path(os.environ[CALLS]), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


async def begin() -> int:
    called()
    return 1


async def grow(number: int) -> int:
    called()
    return number * 3


async def kept_number(number: int) -> int:
    called()
    return number


async def noted(number: int) -> ExecutionContext:
    called()
    return ExecutionContext(str(number)).append(Message("user", str(number)))


async def length(context: ExecutionContext) -> int:
    called()
    return len(context.message_history)


def joined(contexts: list[ExecutionContext]) -> ExecutionContext:
    first, second = contexts
    return first.append(*second.message_history)


def is_big(number: int) -> bool:
    return number > 1_000


def is_even(number: int) -> bool:
    return number % 2 == 0


async def listed(number: int) -> list[int]:
    called()
    return list(range(number, number + 3))


async def square(number: int) -> int:
    called()
    await checkpoint()
    return number * number


async def added(numbers: list[int]) -> int:
    called()
    return sum(numbers)


async def halved(number: int) -> int:
    called()
    return number // 2


async def plus(left: int, right: int) -> int:
    called()
    return left + right


async def one_after(number: int) -> int:
    called()
    return 1


def guarded() -> Node[..., int]:
    """Make a node that has no fingerprint, since its closure holds what has no digest."""
    lock = Lock()

    async def locked(number: int) -> int:
        called()
        with lock:
            return number

    return node(name="locked")(locked)


async def unsteady(number: int) -> int:
    called()
    if this_firing().attempt == 1:
        raise BrokenError("not yet")
    return number + 1


async def broken(number: int) -> int:
    called()
    raise BrokenError(str(number))


async def told(failure: Failure) -> str:
    called()
    return f"{failure.node}: {failure.message}"


async def quick(number: int) -> str:
    called()
    for _ in range(5):  # until the ask beside it was opened
        await checkpoint()
    return f"quick {number}"


async def endless(number: int) -> str:
    called()
    await anyio.sleep_forever()
    return str(number)


async def pay(amount: int) -> str:
    called()
    return f"paid {amount}"


async def thank(paid: str) -> str:
    called()
    await checkpoint()
    return f"{paid}, thanks"


def made() -> Flow:
    with Flow("sub") as sub:
        number = sub.input("number", int)
        confirmed = sub.ask(int, "sure?", show=number, name="confirm")
        sub.output("sum", sub.add(plus, left=number, right=confirmed.out).out)
    with Flow("killed") as flow:
        start = flow.add(begin)
        with flow.loop(name="rounds", limit=3) as rounds:
            carried = rounds.carry(start.out)
            grown = flow.add(grow, number=carried.out)
            rounds.until(grown.out, is_big)
            carried.next(flow.add(kept_number, number=grown.out).out)  # the test settles before it
            last = rounds.result(grown.out)
        items = flow.add(listed, number=last)
        squares = flow.add(node(square).with_(memo="store"), number=each(items.out))
        total = flow.add(added, numbers=collect(squares.out))
        parity = flow.when(total.out, is_even)
        half = flow.add(halved, number=parity.yes)
        asked = flow.ask(int, "how many?", show=total.out)
        paid = flow.add(node(pay).with_(effect=True), amount=flow.add(sub, number=asked.out).out.sum)
        flow.output("thanks", flow.add(node(thank).with_(effect=True), paid=paid.out).out)
        kept = node(plus).with_(memo="store")
        before = flow.add(kept.with_(name="before"), left=total.out, right=1)
        after = flow.add(
            kept.with_(name="after"), left=total.out, right=flow.add(one_after, number=before.out).out
        )
        flow.output("same", flow.add(guarded().with_(memo="store"), number=after.out).out)
        flow.output("half", merge(half.out, parity.no))
        flow.output("steady", flow.add(node(unsteady).with_(retries=1), number=start.out).out)
        failed = flow.add(node(broken).with_(on_error="route"), number=start.out)
        flow.output("told", flow.add(told, failure=failed.error).out)
        notes = [flow.add(node(noted).with_(name=name), number=start.out).out for name in ("one", "two")]
        flow.output("length", flow.add(length, context=merge_contexts(*notes, how=joined)).out)
        hurry = flow.ask(str, "now?", show=start.out, name="hurry")  # nobody is as quick as `quick`
        lasting = flow.add(endless, number=start.out)
        flow.output("first", race(hurry.out, lasting.out, flow.add(quick, number=start.out).out))
    return flow


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
        self.order = order_in(self.folder, "tests.durable.test_kill:made", answers=ANSWERS)
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
            at, apart = 1 + number // 2, APART
            while life.live(at=at, before=bool(number % 2)):
                apart += 1  # else a run could die before it has done more than begin again
                at = max(at, len(life.journal())) + apart
            deaths += life.ended()
        for number in range(in_part(RANDOM)):
            life = Life(tmp_path / f"random-{number}", forked)
            if all(life.live(seconds=choose.uniform(0, LONGEST)) for _ in range(OFTEN)):
                life.live()
            deaths += life.ended()
    assert len(deaths) >= in_part(200, min(1, EFFORT))


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
        self._first = order_in(folder, "tests.durable.test_kill:made", answers=ANSWERS)
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
