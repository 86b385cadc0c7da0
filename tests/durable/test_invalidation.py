"""Flows that were edited while their run was paused (S11.4)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import AnswerRefused, Flow, FlowEdited, node
from dataflow.diagnostics.changes import CODE_CHANGED
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


#: What may not be edited, and what is said of it.
EDITS: dict[str, tuple[dict[str, Any], str]] = {
    "another constant": ({"first": 30}, "begin"),
    "another version": ({"version": "2"}, r"begin \(version\)"),
    "renamed": ({"name": "start"}, "begin -> start"),
    "removed": ({"without": True}, "begin"),
}


async def test_an_edit_of_a_settled_node_is_refused(subtests: pytest.Subtests, called: list[str]) -> None:
    for name, (edits, told) in EDITS.items():
        with subtests.test(name):
            store = Store.memory()
            run = await paused(store, called)
            before = len(list(store.records(run)))
            with pytest.raises(FlowEdited, match=told):
                await flow(store, called, **edits).resume(run, {"ask": 22})
            assert (store.find(run).status, len(list(store.records(run)))) == ("paused", before)
            assert (await flow(store, called).resume(run, {"ask": 22}))["o"] == 42


#: What is made of an edit of a settled node: its output, and the nodes that are called.
KEPT: list[tuple[str, dict[str, Any], int, list[str]]] = [
    ("keep", {"version": "2"}, 42, ["end"]),
    ("keep", {"name": "start"}, 42, ["begin", "end"]),
    ("keep", {"without": True}, 42, ["end"]),
    ("recompute", {"first": 30}, 52, ["begin", "end"]),
]


async def test_an_edit_of_a_settled_node_is_kept_or_recomputed(called: list[str]) -> None:
    for how, edits, output, calls in KEPT:
        store = Store.memory()
        run = await paused(store, called)
        edited: Any = how
        result = await flow(store, called, **edits).resume(run, {"ask": 22}, edited=edited)
        assert (result["o"], called) == (output, calls), edits
        assert ("begin" in result.states) == (edits.keys() <= {"version", "first"}), edits


async def test_an_edited_node_runs_again_once(called: list[str]) -> None:
    store = Store.memory()
    run = await paused(store, called)
    edited = flow(store, called, first=30)
    await edited.resume(run, edited="recompute")
    await edited.resume(run)
    assert called == ["begin"]


class TestFree:
    async def test_a_node_that_has_not_started_may_change(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        result = await flow(store, called, after="finish").resume(run, {"ask": 22})
        assert (result["o"], result.states["finish"]) == (42, "done")

    async def test_changed_code_is_a_warning_that_is_given_once(self, called: list[str]) -> None:
        store = Store.memory()
        run = await paused(store, called)
        edited = flow(store, called, code=1)
        await edited.resume(run)
        result = await edited.resume(run, {"ask": 22})
        assert (result["o"], called) == (42, ["end"])
        assert result.warnings == (str(CODE_CHANGED("begin")),)


class TestOpenAsks:
    """Asks that waited when the flow was edited."""

    @staticmethod
    def asking(store: Store, *prompts: str) -> Flow:
        with Flow("asks") as f:
            for number, prompt in enumerate(prompts):
                f.output(f"o{number}", f.ask(int, prompt, name=f"q{number}").out)
        return f.using(store=store)

    async def test_one_that_was_removed_is_closed_and_takes_no_answer(self) -> None:
        store = Store.memory()
        run = (await self.asking(store, "a?", "b?").run()).run_id
        with pytest.raises(AnswerRefused, match="'q1'"):
            await self.asking(store, "a?").resume(run, {"q1": 1})
        await self.asking(store, "a?").resume(run)
        assert [ask.id for ask in store.asks()] == ["q0"]

    async def test_one_whose_prompt_was_edited_is_asked_anew(self) -> None:
        store = Store.memory()
        run = (await self.asking(store, "a?").run()).run_id
        again = await self.asking(store, "what?").resume(run)
        assert [(ask.id, ask.prompt) for ask in again.asks] == [("q0", "what?")]
        result = await self.asking(store, "what?").resume(run, {"q0": 1})
        assert result.outputs == {"o0": 1}
