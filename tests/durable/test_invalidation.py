"""Flows that were edited while their run was paused (S11.4)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import AnswerRefused, Flow, FlowEdited, node
from dataflow.stores import Store
from tests.support.stored_runs import add, one_ask


@pytest.fixture
def called() -> list[str]:
    """Return the names of the nodes that were called."""
    return []


def flow(
    store: Store,
    called: list[str],
    *,
    first: int = 20,
    version: str = "1",
    code: int = 0,
    name: str = "begin",
    after: str = "end",
    without: bool = False,
) -> Flow:
    """Wire `begin` and an ask to their sum, which goes on to `end`."""

    async def begin(x: int) -> int:
        called.append("begin")
        return x

    async def begin_otherwise(x: int) -> int:
        called.append("begin otherwise")
        return 1 * x

    begin_otherwise.__name__, begin_otherwise.__qualname__ = begin.__name__, begin.__qualname__

    async def end(x: int) -> int:
        called.append("end")
        return x

    with Flow("edited") as f:
        begun: Any = first
        if not without:
            begun = f.add(
                node(version=version)(begin_otherwise if code else begin).with_(name=name), x=first
            ).out
        summed = f.add(add, a=begun, b=f.add(one_ask).out)
        f.output("o", f.add(node(end).with_(name=after), x=summed.out).out)
    return f.using(store=store)


async def paused(store: Store, called: list[str]) -> str:
    result = await flow(store, called).run()
    called.clear()
    return result.run_id


#: What may not be edited, and what is told of it.
EDITS: dict[str, tuple[dict[str, Any], str]] = {
    "another constant": ({"first": 30}, "begin"),
    "another version": ({"version": "2"}, r"begin \(version\)"),
    "renamed": ({"name": "start"}, "begin -> start"),
    "removed": ({"without": True}, "begin"),
}


@pytest.mark.parametrize("name", EDITS)
class TestSettledNodes:
    async def test_an_edited_one_is_refused(self, name: str, called: list[str]) -> None:
        store, (edits, told) = Store.memory(), EDITS[name]
        run = await paused(store, called)
        with pytest.raises(FlowEdited, match=told):
            await flow(store, called, **edits).resume(run, {"ask": 22})

    async def test_the_run_then_stays_as_it_was(self, name: str, called: list[str]) -> None:
        store, (edits, _) = Store.memory(), EDITS[name]
        run = await paused(store, called)
        before = len(list(store.records(run)))
        with pytest.raises(FlowEdited):
            await flow(store, called, **edits).resume(run, {"ask": 22})
        assert (store.find(run).status, len(list(store.records(run)))) == ("paused", before)
        assert (await flow(store, called).resume(run, {"ask": 22}))["o"] == 42


class TestKeep:
    async def test_the_stored_value_stands(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, version="2").resume(run, {"ask": 22}, edited="keep")
        assert (result["o"], called) == (42, ["end"])

    async def test_what_was_renamed_runs_under_its_new_name(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, name="start").resume(run, {"ask": 22}, edited="keep")
        assert (result["o"], called) == (42, ["begin", "end"])

    async def test_records_of_what_is_gone_are_ignored(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, without=True).resume(run, {"ask": 22}, edited="keep")
        assert (result["o"], "begin" in result.states) == (42, False)


class TestRecompute:
    async def test_what_was_edited_runs_again(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, first=30).resume(run, {"ask": 22}, edited="recompute")
        assert (result["o"], called) == (52, ["begin", "end"])

    async def test_it_does_not_run_once_more_later(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        edited = flow(store, called, first=30)
        await edited.resume(run, edited="recompute")
        assert called == ["begin"]


class TestFree:
    async def test_a_node_that_has_not_started_may_change(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, after="finish").resume(run, {"ask": 22})
        assert (result["o"], result.states["finish"]) == (42, "done")

    async def test_changed_code_is_a_warning(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, code=1).resume(run, {"ask": 22})
        assert result["o"] == 42
        assert result.warnings == ("code of node 'begin' has changed; its stored value stands",)
        assert called == ["end"]

    async def test_the_warning_is_told_once(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        edited = flow(store, called, code=1)
        await edited.resume(run)
        result = await edited.resume(run, {"ask": 22})
        assert result.warnings == ("code of node 'begin' has changed; its stored value stands",)


class TestOpenAsks:
    """Asks that waited when the flow was edited."""

    @staticmethod
    def asking(store: Store, *prompts: str) -> Flow:
        with Flow("asks") as f:
            for number, prompt in enumerate(prompts):
                f.output(f"o{number}", f.ask(int, prompt, name=f"q{number}").out)
        return f.using(store=store)

    async def test_one_that_is_gone_is_closed(self) -> None:
        store = Store.memory()
        run = (await self.asking(store, "a?", "b?").run()).run_id
        await self.asking(store, "a?").resume(run)
        assert [ask.id for ask in store.asks()] == ["q0"]

    async def test_one_that_is_gone_takes_no_answer(self) -> None:
        store = Store.memory()
        run = (await self.asking(store, "a?", "b?").run()).run_id
        with pytest.raises(AnswerRefused, match="there is no such ask; choices: q0"):
            await self.asking(store, "a?").resume(run, {"q1": 1})

    async def test_one_whose_prompt_was_edited_is_asked_anew(self) -> None:
        store = Store.memory()
        run = (await self.asking(store, "a?").run()).run_id
        again = await self.asking(store, "what?").resume(run)
        assert [(ask.id, ask.prompt) for ask in again.asks] == [("q0", "what?")]
        result = await self.asking(store, "what?").resume(run, {"q0": 1})
        assert result.outputs == {"o0": 1}
