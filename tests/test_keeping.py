"""Runs that live in a store: the answers in the inbox, their pauses, and how they are given up (S11.2)."""

from __future__ import annotations

import anyio
import pytest

from dataflow import EventKind, Flow, Result
from dataflow.stores import Answer, Store
from tests.durable import add, one_ask


class TestInbox:
    """Answers that come in the store while the run is executed."""

    async def run(self, store: Store, *values: str, ask: str = "ask") -> tuple[Result, list[str]]:
        """Run a flow that asks, with an answer when the ask opens and another at each warning.

        Returns who has given the answers that were taken, too.
        """
        gates = [anyio.Event() for _ in values]
        left = [*zip(gates, values, strict=True)]

        def give() -> None:
            if left:
                gate, value = left.pop(0)
                store.answer(run.id, Answer(ask, value, "Ada"))
                gate.set()  # what ends then has a record, and the inbox is read

        async def busy(gate: int) -> int:
            await gates[gate].wait()
            return 1

        with Flow("asking") as f:
            for number in range(1, len(gates)):
                f.add(busy, gate=number)
            f.output("o", f.add(add, a=f.add(busy, gate=0).out, b=f.add(one_ask).out).out)
        by: list[str] = []
        async with f.using(store=store).start() as run:
            async for event in run.events():
                if event.kind in (EventKind.ASK_OPENED, EventKind.WARNING):
                    give()
                if event.kind is EventKind.ASK_ANSWERED:
                    by.append(event.data["by"])
            return await run, by

    async def test_an_answer_is_taken_while_the_run_goes_on(self) -> None:
        result, _ = await self.run(Store.memory(), "22")
        assert result.outputs == {"o": 23}

    async def test_what_was_taken_has_left_it(self) -> None:
        store = Store.memory()
        result, _ = await self.run(store, "22")
        assert store.inbox(result.run_id) == ()

    async def test_it_is_told_who_has_answered(self) -> None:
        _, by = await self.run(Store.memory(), "22")
        assert by == ["Ada"]

    async def test_a_wrong_answer_is_dropped_with_a_warning(self) -> None:
        store = Store.memory()
        result, _ = await self.run(store, '"many"')
        assert result.warnings == ("answer to 'ask' refused: expected int, found str 'many'",)
        assert (result.status, store.inbox(result.run_id)) == ("paused", ())

    @pytest.mark.parametrize("text", ["{", "", "22 22", "[" * 200_000], ids=["cut", "empty", "two", "deep"])
    async def test_what_is_no_json_is_a_wrong_answer(self, text: str) -> None:
        store = Store.memory()
        result, _ = await self.run(store, text)
        [warning] = result.warnings
        assert warning.startswith("answer to 'ask' refused: it is no JSON")
        assert (result.status, store.inbox(result.run_id)) == ("paused", ())

    async def test_an_answer_to_nothing_is_dropped_with_a_warning(self) -> None:
        store = Store.memory()
        result, _ = await self.run(store, "22", ask="nobody")
        [warning] = result.warnings
        assert warning.startswith("answer to 'nobody' refused: there is no such ask")
        assert (result.status, store.inbox(result.run_id)) == ("paused", ())

    async def test_the_right_answer_after_wrong_ones_is_taken(self) -> None:
        result, _ = await self.run(Store.memory(), '"many"', "2.5", "22")
        assert result.outputs == {"o": 23}
