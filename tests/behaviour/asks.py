"""A row of the table of asks: a flow, what it asks and is answered, the outcome; and how a row is played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, Literal

from dataflow import Ask, Flow, Result, Store
from tests.behaviour.nodes import tallying
from tests.behaviour.table import states_of, typed

__all__ = ["PICKS", "PLACES", "AskCase", "Home", "Pick", "Place", "homes", "play"]

Place = Literal["result", "memory", "sqlite"]
PLACES: Final[tuple[Place, ...]] = ("result", "memory", "sqlite")
#: Which of the open asks are answered at once.
Pick = Callable[[Sequence[Ask]], Sequence[Ask]]
PICKS: Final[Mapping[str, Pick]] = {
    "all at once": lambda asks: asks,
    "the first": lambda asks: asks[:1],
    "the last": lambda asks: asks[-1:],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCase:
    """One behaviour.

    asked     by id, what each ask shows, and its answer; these are asked and no others
    first     the asks that are open when the run pauses first, in any order
    outputs   exactly these, by value and type
    runs      how often each body was entered, over all sittings
    states    by path, at the end
    """

    id: str
    rule: str
    flow: Callable[[], Flow]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, tuple[Any, Any]]
    first: tuple[str, ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, int] | None = None
    states: Mapping[str, str] = field(default_factory=dict)


class Home:
    """Where runs live: in their result, in a store in memory, or in one in a file."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self._file = folder / "runs.db"
        self._memory = Store.memory()

    def store(self) -> Store | None:
        """Return the store; the one in a file is opened anew, as by another process."""
        if self.place == "result":
            return None
        return self._memory if self.place == "memory" else Store.sqlite(self._file)

    def placed(self, flow: Flow) -> Flow:
        return flow.using(store=self.store())

    async def resume(self, flow: Flow, paused: Result, answers: Mapping[str, object], **given: Any) -> Result:
        run = paused if self.place == "result" else paused.run_id
        return await self.placed(flow).resume(run, answers, **given)


def homes(folder: Path, places: Sequence[Place] = PLACES) -> Iterator[Home]:
    for place in places:
        yield Home(place, Path(mkdtemp(dir=folder)))


async def play(case: AskCase, home: Home, pick: Pick, checkpoints: int) -> None:
    """Run a flow, answer what it asks until it ends, and hold it against its row.

    Runs in stores are resumed with another flow object each time.
    """
    answered: set[str] = set()
    flow = case.flow()
    assert flow.check() == []
    with tallying(checkpoints) as tally:
        result = await home.placed(flow).run(**case.inputs)
        assert sorted(ask.id for ask in result.asks) == sorted(case.first)
        while result.status == "paused":
            assert {ask.id: typed(ask.show) for ask in result.asks} == {
                ask.id: typed(case.asked[ask.id][0]) for ask in result.asks
            }
            assert not answered & {ask.id for ask in result.asks}
            assert all(states_of(result)[ask.id] == "paused" for ask in result.asks)
            answers = {ask.id: case.asked[ask.id][1] for ask in pick(result.asks)}
            answered |= answers.keys()
            result = await home.resume(flow if home.place == "result" else case.flow(), result, answers)
    assert result.status == "completed"
    assert answered == case.asked.keys()
    assert typed(dict(result.outputs)) == typed(dict(case.outputs))
    if case.runs is not None:
        assert tally.runs() == case.runs
    states = states_of(result)
    assert {path: states.get(path) for path in case.states} == case.states
