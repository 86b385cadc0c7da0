"""Runs that live in a store: the answers in the inbox, their pauses, and how they are given up (S11.2)."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from dataflow import AnswerRefused, EventKind, Flow, Result, collect, each
from dataflow.durable.journal import Journal
from dataflow.stores import Answer, Store
from tests.support.source import home_of
from tests.support.stored_runs import Gated, add, asking, asking_flow, one_ask, until


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
        store = Store.memory()
        result, by = await self.run(store, "22")
        assert (result.outputs, store.inbox(result.run_id), by) == ({"o": 23}, (), ["Ada"])

    async def test_an_answer_to_an_ask_that_did_not_open_is_dropped_with_a_warning(self) -> None:
        store = Store.memory()
        result, _ = await self.run(store, "22", ask="nobody")
        [warning] = result.warnings
        assert "answer to 'nobody'" in warning
        assert (result.status, store.inbox(result.run_id)) == ("paused", ())

    async def test_the_right_answer_after_wrong_ones_is_taken(self) -> None:
        """The schema of the ask allows a whole float, the type of its port does not."""
        result, _ = await self.run(Store.memory(), "2.0", "22")
        assert result.outputs == {"o": 23}


class TestPausing:
    """What comes while it is being found out whether a run may pause."""

    async def test_an_answer_waits_until_that_is_known_and_is_then_refused(self) -> None:
        store = Gated("commit", kind="run_paused")
        async with asking_flow(store).start() as run:
            await until(store.entered)
            async with anyio.create_task_group() as group:

                async def answer() -> None:
                    with pytest.raises(AnswerRefused, match=r"DF0829 .*has paused"):
                        await run.answer({"ask": 22})

                group.start_soon(answer)
                await anyio.wait_all_tasks_blocked()
                store.gate.set()
            assert (await run).status == "paused"


class TestAnswers:
    """Answers of who executes the run."""

    async def test_what_cannot_be_stored_is_refused(self) -> None:
        with Flow("anything") as f:
            f.output("o", f.add(asking(object)).out)
        flow = f.using(store=Store.memory())
        paused = await flow.run()
        with pytest.raises(AnswerRefused, match="object"):
            await flow.resume(paused, {"ask": object()})

    async def test_one_in_the_inbox_is_taken_when_the_run_is_resumed_and_another_refused(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()
        store.answer(paused.run_id, Answer("ask", "22", "Ada"))
        with pytest.raises(AnswerRefused, match="DF1120 answer to"):
            await asking_flow(store).resume(paused, {"ask": 23})
        assert (await asking_flow(store).resume(paused))["o"] == 42

    async def test_one_that_is_wrong_is_dropped_with_one_warning_when_the_run_is_resumed(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()
        store.answer(paused.run_id, Answer("ask", "2.0", "Ada"))
        result = await asking_flow(store).resume(paused)
        assert result.status == "paused"
        assert "answer to 'ask'" in result.warnings[0]
        assert store.inbox(paused.run_id) == ()
        assert (await asking_flow(store).resume(paused.run_id)).warnings == ()

    async def test_a_store_refuses_one_that_its_ask_cannot_take(self, tmp_path: Path) -> None:
        texts = {
            '"many"': "DF0601",
            "2.5": "DF0601",
            **dict.fromkeys(("{", "", "22 22", "[" * 200_000), "DF0831"),
        }
        for store in (Store.memory(), Store.sqlite(tmp_path / "runs.db")):
            paused = await asking_flow(store).run()
            for ask, text, code in [*(("ask", *pair) for pair in texts.items()), ("nobody", "22", "DF0828")]:
                with pytest.raises(AnswerRefused) as refused:
                    store.answer(paused.run_id, Answer(ask, text))
                assert refused.value.code == code
            store.answer(paused.run_id, Answer("ask", "22"))
            assert (await asking_flow(store).resume(paused.run_id))["o"] == 42


class TestManyAnswers:
    """Answers of many asks that waited in the store when the run was resumed."""

    @pytest.fixture(params=["memory", "sqlite"])
    def store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Store:
        return Store.memory() if request.param == "memory" else Store.sqlite(tmp_path / "runs.db")

    async def test_each_is_taken_once_and_the_run_ends(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(home_of(Journal), "MOST_AT_ONCE", 5)  # many commits find them in the inbox
        with Flow("many") as f:
            asked = f.ask(bool, "take it?", show=each(f.input("ns", list[int])), name="q")
            f.output("o", collect(asked.out))
        flow = f.using(store=store)
        run = (await flow.run(ns=[*range(60)])).run_id
        store.answer(run, *[Answer(f"q[{place}]", "true") for place in range(60)])
        with anyio.fail_after(60):
            result = await flow.resume(run)
        assert (result["o"], result.warnings) == ([True] * 60, ())
        assert store.inbox(run) in ((), [])
