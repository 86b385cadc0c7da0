"""Living through a run in a store: it pauses, is answered, dies, is resumed, until it has ended (S11)."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from dataflow import AnswerRefused, Event, Failure, Flow, RunFailed
from dataflow.diagnostics.runs import ASK_CLOSED
from dataflow.errors import StoreError
from dataflow.runtime.result import Result
from dataflow.runtime.run import Run
from dataflow.stores import Answer
from tests.properties.effort import Below, pace
from tests.properties.ledger import Diary, Ledger
from tests.properties.node_functions import answer_to, recording
from tests.properties.playing import Fired, Played, expect, flow_of, hold, hold_part, plain
from tests.properties.random_flows import Program

#: More sittings than a random flow has asks, one after the other; more would be a run that does not get on.
MOST: Final = 100
#: How often what has failed is mended.
MENDED: Final = 3


@dataclass(frozen=True)
class Sitting:
    """One sitting of a run, and what becomes of it.

    Of the open asks so many are answered, by `resume` or, those that follow, through the inbox. Those that
    open meanwhile are answered as `live` says. It is cancelled after so many events. In the end what follows
    a record that `kept` chooses is lost, as if the process had died then; or the store `breaks` there.
    """

    resumed: int = 0
    posted: int = 0
    live: str = ""
    cancelled: int | None = None
    kept: int | None = None
    breaks: bool = False


def script_of(below: Below, fewer: int) -> list[Sitting]:
    """Draw what befalls a run in fewer sittings than so many."""
    return [
        Sitting(
            below(3),
            below(3),
            ("", "run", "inbox")[below(3)],
            1 + below(40) if below(4) == 3 else None,
            below(60) if below(3) else None,
            below(4) == 3,
        )
        for _ in range(below(fewer))
    ]


@dataclass
class Life:
    """All sittings of one run."""

    program: Program
    choose: random.Random
    store: Ledger = field(default_factory=Ledger)
    healed: set[str] = field(default_factory=set)
    fired: Fired = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)  # after which kinds of records the process has died
    mended: int = 0
    taken: Collection[str] = ()  # by a fork, from the run that it comes from
    played: Played | None = None  # the newest sitting

    def __post_init__(self) -> None:
        self._flow = flow_of(self.program.document)
        self.expected = expect(self.program)

    @property
    def flow(self) -> Flow:
        return self._flow.using(**self.program.document["using"], store=self.store)

    async def through(self, script: Iterable[Sitting]) -> None:
        """Live through the sittings of a script, and then to the end."""
        for sitting in script:
            if not self.has_ended:
                await self.sit(sitting)
        await self.end()

    async def end(self) -> None:
        for _ in range(MOST):
            if self.has_ended:
                return
            await self.sit(Sitting(resumed=1_000, live="run"))
        raise AssertionError("the run does not come to its end")

    @property
    def has_ended(self) -> bool:
        status = Diary.of(self.store.journal()).status
        return status == "completed" or (status == "failed" and self.mended >= MENDED)

    async def sit(self, sitting: Sitting) -> None:
        before = Diary.of(self.store.journal())
        if sitting.breaks and sitting.kept is not None:
            self.store.full = max(1, before.seq) + sitting.kept
        asks = [id for id in before.open if self._is_for_us(id)]
        self.choose.shuffle(asks)
        given = asks[: sitting.resumed]
        posted = [id for id in asks[sitting.resumed :][: sitting.posted] if _is_json(answer_to(id))]
        posted = [id for id in posted if id not in {one.ask for one in self.store.inbox(self.store.run)}]
        for id in posted:
            self.store.answer(self.store.run, Answer(id, json.dumps(answer_to(id))))
        waiting = {one.ask for one in self.store.inbox(self.store.run)} if self.store.run else set()
        given = [id for id in given if id not in waiting]
        with recording(pace(self.choose), before.counted(), self.healed) as record:
            try:
                result = await self._execute(sitting, {id: answer_to(id) for id in given})
            except AnswerRefused:  # what has failed meanwhile has closed the ask, or is done again before it
                assert before.failures or before.status == "running"
                assert not record.calls
                assert self.store.find(self.store.run).status != "running"
                assert len(self.store.journal()) == before.seq
                result = await self._execute(sitting, {})
        after = Diary.of(self.store.journal())
        seqs = [event.seq for event in self.heard]
        assert seqs == [*range(before.seq + 1, before.seq + 1 + len(seqs))], [*map(str, self.heard)]
        assert sitting.breaks or len(seqs) == after.seq - before.seq
        if after.sittings > before.sittings:  # else not even what is to run again was committed (S12.2)
            again = {path for path, _ in record.calls} & before.done - after.forgotten
            assert not again, f"called again: {again}"
        self._forget(after.forgotten)
        self.fired = self.fired | Counter(dict.fromkeys(record.fired, 1))
        if result is not None:
            self._hold(
                result,
                after,
                {path for path in before.openers if before.states.get(path) in ("done", "failed")},
                sitting.cancelled is not None,
            )
        self.store.full = None
        if sitting.kept is not None and not sitting.breaks and after.seq > max(1, before.seq):
            self._die(max(1, before.seq), sitting.kept)
        elif result is not None and result.status == "failed" and self.mended < MENDED:
            self._mend()

    def _is_for_us(self, ask: str) -> bool:
        """Tell whether an ask is one that is answered: others take their default, or fail."""
        node = _node_of(self.program.document, ask)
        return "expires" not in node["config"]

    async def _execute(self, sitting: Sitting, answers: Mapping[str, Any]) -> Result | None:
        if not self.store.run:
            executing = self.flow.start(**self.program.inputs)
        else:
            executing = self.flow.resuming(self.store.run, answers)
        self.failures: tuple[Failure, ...] = ()
        self.heard: list[Event] = []
        try:
            async with executing as run:
                await self._attend(run, sitting)
                return await run
        except RunFailed as failed:
            self.failures = tuple(failed.failures)
            return failed.result
        except StoreError:
            assert self.store.full is not None
            return None

    async def _attend(self, run: Run, sitting: Sitting) -> None:
        count, together = 0, dict[str, Any]()
        async for event in run.events():
            self.heard.append(event)
            count += 1
            if count == sitting.cancelled:
                run.cancel()
            if event.kind != "ask_opened" or not self._is_for_us(event.path):
                continue
            answer = answer_to(event.path)
            if sitting.live == "inbox" and _is_json(answer):
                with suppress(AnswerRefused):  # it was closed meanwhile
                    self.store.answer(run.id, Answer(event.path, json.dumps(answer)))
            elif sitting.live == "run":
                together[event.path] = answer
                if self.choose.random() < 0.5:
                    await self._answer(run, together)
                    together = {}

    async def _answer(self, run: Run, answers: Mapping[str, Any]) -> None:
        """Answer several asks at once; if one was closed meanwhile none of them counts."""
        code = ASK_CLOSED.code
        try:
            await run.answer(answers)
        except AnswerRefused as refused:
            code = refused.problem.code
        assert code == ASK_CLOSED.code

    def _hold(self, result: Result, diary: Diary, wholes: Collection[str], is_cancelled: bool) -> None:
        assert result.status == diary.status
        assert {ask.id for ask in result.asks} == set(diary.open)
        told = {path: state.value for path, state in result.states.items()}
        differ = {
            path: (told[path], state)
            for path, state in diary.states.items()
            if told.get(path, state) != state
        }
        if result.status == "paused":
            differ = {path: both for path, both in differ.items() if both[1] == "done"}
        assert not differ
        missing = {path: state for path, state in diary.states.items() if path not in told}
        played = Played(result, self.fired, self.failures, missing, bool(self.mended), wholes, self.taken)
        if result.status == "failed" and is_cancelled:
            hold_part(self.expected, played)
        elif result.status in ("completed", "failed"):
            hold(self.expected, played, is_as_declared=False)
        else:
            tell = partial(plain, failure=("failure",))
            wanted = self.expected.outcome.outputs
            for name, value in result.outputs.items():
                assert tell(value) == tell(wanted[name])
        self.played = played

    def _die(self, least: int, choice: int) -> None:
        """Lose all behind some record, as if the process had died then; of any kind alike."""
        written = self.store.journal()[least - 1 : -1]
        kinds = sorted({record.kind for record in written})
        kind = kinds[choice % len(kinds)]
        places = [record.seq for record in written if record.kind == kind]
        self.cuts[kind] += 1
        self.store = self.store.kept(places[choice // len(kinds) % len(places)])

    def _mend(self) -> None:
        """Let what has failed fail no more.

        Where a flow node was attempted again there is nothing to compare with: it goes on counting.
        """
        self.mended += 1
        states = Diary.of(self.store.journal()).states
        if any("~" in path for path in states):
            self.mended = MENDED
            return
        paths = {failure.path for failure in self.failures}
        self._forget(paths)
        self.healed |= paths
        try:
            self.expected = expect(self.program, self.healed)
        except NotImplementedError:  # a race that time decides
            self.mended = MENDED
        if not self.expected.is_decided:
            self.mended = MENDED
        self.fired = self.fired & self.expected.fired  # what ran since others failed is no part of it

    def _forget(self, paths: Collection[str]) -> None:
        self.fired = Counter({place: 1 for place in self.fired if place[0] not in paths})


def _is_json(value: Any) -> bool:
    try:
        return bool(plain(json.loads(json.dumps(value))) == plain(value))
    except TypeError:
        return False


def _node_of(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Find a node by its path in a document, where every id is used once."""
    id = re.split(r"[\[~]", path.rsplit("/", 1)[-1])[0]
    todo: list[Mapping[str, Any]] = [document]
    while todo:
        block = todo.pop()
        if id in block["nodes"]:
            found: Mapping[str, Any] = block["nodes"][id]
            return found
        for node in block["nodes"].values():
            todo += [node[kind] for kind in ("loop", "map", "flow") if kind in node]
    raise AssertionError(path)
