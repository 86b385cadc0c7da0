"""Forks: what is used again of a run, and what runs with other answers, configs and models (S13.5)."""

from __future__ import annotations

from typing import Final

import pytest

from dataflow import (
    AnswerRefused,
    Config,
    ExecutionContext,
    Flow,
    FlowInvalid,
    Message,
    collect,
    each,
    fallback,
    node,
    race,
    this_firing,
)
from dataflow.stores import Store
from tests.behaviour import forked_flows as ff

pytestmark = pytest.mark.usefixtures("called")


BIG: Final = "a text that is stored beside the journal, " * 1_000


async def long(n: int) -> str:
    ff.note()
    return BIG * n


async def size(text: str, more: int) -> int:
    ff.note()
    return len(text) + more


class TestInputs:
    async def test_what_reads_it_runs_again_and_the_run_stays_as_it_was(self, called: list[str]) -> None:
        store = Store.memory()
        flow = ff.two_inputs(store)
        run = await ff.run_of(flow, a=1)
        before = list(store.records(run))
        fork = await flow.fork(run, changes={"$in.b": 10})
        assert (dict(fork.outputs), called) == ({"sum": 13}, ["up_2", "add"])
        assert fork.run_id != run
        assert (list(store.records(run)), store.find(run).status) == (before, "completed")
        called.clear()
        both = await flow.fork(fork.run_id, changes={"$in.a": 10})  # a fork of a fork has both changes
        assert (both["sum"], called) == (22, ["up", "add"])

    async def test_the_same_value_changes_nothing_and_types_count(self, called: list[str]) -> None:
        with Flow("any") as f:
            x = f.input("x", object)
            f.output("o", f.add(shown, x=x).out)
            f.output("x", x)  # an output that no node reads
        flow = f.using(store=Store.memory())
        run = await ff.run_of(flow, x=1)
        for value, outputs, calls in (
            (1, {"o": "1", "x": 1}, []),
            (True, {"o": "True", "x": True}, ["shown"]),
        ):
            assert (dict((await flow.fork(run, changes={"$in.x": value})).outputs), called) == (
                outputs,
                calls,
            )

    async def test_a_fork_needs_its_run_no_more(self, called: list[str]) -> None:
        store = Store.memory()
        with Flow("long") as f:
            kept = f.add(long, n=f.input("n", int))
            asked = f.ask(int, "?", name="asked", show=kept.out)
            f.output("size", f.add(size, text=kept.out, more=asked.out).out)
        flow = f.using(store=store)
        run = await ff.run_of(flow, n=1)
        fork = await flow.fork(run, changes={})
        store.delete(run)
        result = await flow.resume(fork.run_id, {"asked": 2})
        assert (result["size"], called) == (len(BIG) + 2, ["size"])


async def shown(x: object) -> str:
    ff.note()
    return repr(x)


class TestBlocks:
    async def test_the_items_of_a_list_that_stays_are_used_again(self, called: list[str]) -> None:
        with Flow("map") as f:
            items = each(f.add(ff.listed, x=f.input("n", int)).out)
            first = f.add(ff.up, x=items)
            second = f.add(ff.add, x=first.out, y=f.input("y", int))
            f.output("o", collect(second.out))
        flow = f.using(store=Store.memory())
        run = await ff.run_of(flow, n=2, y=1)
        result = await flow.fork(run, changes={"$in.y": 10})
        assert (result["o"], sorted(called)) == ([11, 12], ["up[0]/add", "up[1]/add"])
        called.clear()
        result = await flow.fork(run, changes={"$in.n": 1})
        assert (result["o"], sorted(called)) == ([2], ["listed", "up[0]", "up[0]/add"])

    async def test_rounds_are_tested_anew_from_where_the_change_is(self, called: list[str]) -> None:
        with Flow("loop") as f:
            with f.loop(name="grow", limit=9) as loop:
                carried = loop.carry(f.input("x", int))
                grown = f.add(ff.add, x=carried.out, y=f.input("by", int))
                carried.next(grown.out)
                loop.until(grown.out, ff.is_big)
                f.output("o", loop.result(grown.out))
                noted = loop.all(f.add(ff.up, x=f.input("z", int)).out)
            f.output("noted", noted)
        flow = f.using(store=Store.memory())
        run = await ff.run_of(flow, x=1, by=5, z=0)
        result = await flow.fork(run, changes={"$in.z": 1})
        assert (result["noted"], sorted(called)) == ([2, 2], ["grow[0]/up", "grow[1]/up"])
        called.clear()
        result = await flow.fork(run, changes={"$in.by": 3})
        assert result["o"] == 13
        assert {path for path in called if path.endswith("add")} == {f"grow[{n}]/add" for n in range(4)}
        assert "grow[0]/up" not in called

    async def test_a_race_is_decided_anew_if_a_source_is_another(self, called: list[str]) -> None:
        with Flow("race") as f:
            x = f.input("x", int)
            ways = f.when(x, ff.is_big)
            left = f.add(node(ff.up).with_(name="left"), x=ways.yes)
            right = f.add(node(ff.up).with_(name="right"), x=ways.no)
            f.output("first", race(left.out, right.out))
        flow = f.using(store=Store.memory())
        assert (await flow.fork(await ff.run_of(flow, x=1), changes={"$in.x": 20}))["first"] == 21

    async def test_a_failure_that_was_routed_stands(self, called: list[str]) -> None:
        with Flow("routed") as f:
            bad = f.add(node(ff.fails).with_(on_error="skip"), x=1)
            f.output("o", f.add(ff.add, x=fallback(bad.out, 0), y=f.input("y", int)).out)
        flow = f.using(store=Store.memory())
        result = await flow.fork(await ff.run_of(flow, y=1), changes={"$in.y": 2})
        assert (result["o"], called, result.states["fails"].value) == (2, ["add"], "failed")

    async def test_what_failed_runs_again_as_a_first_attempt(self, called: list[str]) -> None:
        attempts: list[int] = []

        async def second(x: int) -> int:
            attempts.append(this_firing().attempt)
            if len(attempts) == 1:
                raise ValueError("not yet")
            return x

        with Flow("failed") as f:
            f.output("o", f.add(second, x=f.add(ff.up, x=1).out).out)
        flow = f.using(store=Store.memory())
        result = await flow.fork(await ff.run_of(flow), changes={})
        assert (result["o"], called, attempts) == (2, [], [1, 1])

    async def test_a_flow_node_stands_but_for_what_the_change_reaches(self, called: list[str]) -> None:
        with Flow("inner") as inner:
            inner.output("a", inner.add(node(ff.up).with_(name="a"), x=inner.input("x", int)).out)
            inner.output("b", inner.add(node(ff.up).with_(name="b"), x=inner.input("y", int)).out)
        with Flow("outer") as f:
            done = f.add(inner, x=f.input("x", int), y=f.input("y", int))
            f.output("sum", f.add(ff.add, x=done.out.a, y=done.out.b).out)
        flow = f.using(store=Store.memory())
        result = await flow.fork(await ff.run_of(flow, x=1, y=2), changes={"$in.y": 5})
        assert (result["sum"], called) == (8, ["inner/b", "add"])


async def key_of(x: int) -> str:
    return this_firing().key


class TestRuns:
    async def test_a_run_that_is_being_executed_is_forked_as_far_as_it_is_written(
        self, called: list[str]
    ) -> None:
        flow = ff.asking(Store.memory())
        async with flow.start() as run:
            async for event in run.events():
                if event.kind == "ask_opened":
                    break
            result = await flow.fork(run.id, changes={"first": 4})
            assert (result.asks[0].show, called) == (5, ["up"])
            run.cancel()

    async def test_an_effect_that_is_reached_has_the_key_of_the_fork(self) -> None:
        with Flow("effects") as f:
            f.output("a", f.add(node(key_of).with_(effect=True, name="a"), x=f.input("x", int)).out)
            f.output("b", f.add(node(key_of).with_(effect=True, name="b"), x=f.input("y", int)).out)
        flow = f.using(store=Store.memory())
        run = await ff.run_of(flow, x=1, y=1)
        result = await flow.fork(run, changes={"$in.y": 2})
        assert dict(result.outputs) == {"a": f"{run}/a", "b": f"{result.run_id}/b"}

    async def test_what_cannot_be_changed_is_told_with_what_can(self) -> None:
        flow = ff.asking(Store.memory())
        run = await ff.run_of(flow)
        with pytest.raises(FlowInvalid) as told:
            await flow.fork(run, changes={"frist": 1, "$in.x": 2})
        first, second = told.value.diagnostics
        assert (first.code, second.code) == ("DF1202", "DF1202")
        assert first.available is not None
        assert first.available[0] == "first"


async def test_a_fork_without_changes_calls_nothing_that_was_done(called: list[str]) -> None:
    for flow_of in (ff.two_inputs, ff.asking, ff.in_blocks):
        flow = flow_of(Store.memory())
        run = await ff.run_of(flow, **dict.fromkeys(flow.inputs, 2))
        await flow.fork(run, changes={})
        assert called == []


class TestAnswers:
    async def test_open_asks_are_answered_and_answers_replaced(self, called: list[str]) -> None:
        flow = ff.asking(Store.memory())
        run = await ff.run_of(flow)
        result = await flow.fork(run, changes={"first": 1})
        assert (result.status, [ask.id for ask in result.asks], called) == ("paused", ["second"], ["up"])
        assert result.asks[0].show == 2
        assert (await flow.resume(run, {"first": 1})).status == "paused"
        assert (await flow.resume(run, {"second": 1}))["sum"] == 3
        called.clear()
        assert ((await flow.fork(run, changes={"second": 10}))["sum"], called) == (12, ["add"])
        result = await flow.fork(run, changes={"first": 5})  # what is asked otherwise is asked again
        assert [(ask.id, ask.show) for ask in result.asks] == [("second", 6)]
        with pytest.raises(FlowInvalid, match="second"):
            await flow.fork(run, changes={"first": 5, "second": 1})

    async def test_a_round_keeps_the_answers_before_it(self, called: list[str]) -> None:
        flow = ff.talking(Store.memory())
        run = await ff.run_of(flow)
        for number in range(3):
            result = await flow.resume(run, {f"talk[{number}]/said": 1})
        assert result["sum"] == 3
        called.clear()
        result = await flow.fork(run, changes={"talk[1]/said": 10})
        assert (result["sum"], called) == (12, ["talk[1]/add", "talk[2]/add"])

    async def test_a_refused_answer_leaves_no_fork(self) -> None:
        store = Store.memory()
        flow = ff.asking(store)
        run = await ff.run_of(flow)
        with pytest.raises(AnswerRefused, match="DF0601 answer to 'first':"):
            await flow.fork(run, changes={"first": "x"})
        assert [one.id for one in store.runs()] == [run]


class TestConfigs:
    async def test_only_the_node_and_what_depends_on_it_runs(self, called: list[str]) -> None:
        changes: dict[str, tuple[str, object, list[str]]] = {
            "scaled.config.by": ("top", 9, ["scaled"]),
            "rounds/grow.config.by": ("looped", 27, ["rounds[0]/grow", "rounds[1]/grow"]),
            "inner/scaled.config.by": ("nested", 9, ["inner/scaled"]),
            "item.config.by": ("mapped", [0, 3, 6], ["item[0]", "item[1]", "item[2]"]),
        }
        flow = ff.in_blocks(Store.memory())
        run = await ff.run_of(flow, x=3)
        before = {"top": 3, "looped": 12, "nested": 3, "mapped": [0, 1, 2]}
        for key, (output, value, again) in changes.items():
            called.clear()
            result = await flow.fork(run, changes={key: 3})
            assert (dict(result.outputs), sorted(called)) == ({**before, output: value}, again)

    async def test_a_fork_is_resumed_and_forked_with_what_was_changed(self, called: list[str]) -> None:
        with Flow("later") as f:
            asked = f.ask(int, "?", name="asked")
            f.output("o", f.add(ff.scaled, x=asked.out).out)
            f.output("unit", f.add(unit, x=1).out)
        flow = f.using(store=Store.memory())
        run = await ff.run_of(flow)
        fork = await flow.fork(run, changes={"scaled.config.by": 4})
        other = await flow.fork(fork.run_id, changes={"unit.config.unit": "km"})
        assert (other["unit"], called) == ("km", ["unit"])
        assert (await flow.resume(other.run_id, {"asked": 2}))["o"] == 8
        assert (await flow.resume(run, {"asked": 2}))["o"] == 2

    async def test_ports_of_the_flow_name_what_the_fork_has(self) -> None:
        with Flow("ports") as f:
            step = f.add(ff.scaled, x=f.input("x", int))
        flow = f.using(store=Store.memory())
        result = await flow.fork(await ff.run_of(flow, x=2), changes={"scaled.config.by": 5})
        assert result.get(step.out) == 10

    async def test_what_a_config_refuses_is_told(self) -> None:
        flow = ff.in_blocks(Store.memory())
        run = await ff.run_of(flow, x=1)
        with pytest.raises(FlowInvalid, match=r"scaled\.config\.by.*expected int"):
            await flow.fork(run, changes={"scaled.config.by": "3"})


async def unit(x: int, config: ff.Scale = ff.Scale()) -> str:  # noqa: B008 - frozen
    ff.note()
    return config.unit


class TestModels:
    async def test_each_model_that_is_named_is_another(self, called: list[str]) -> None:
        async def ask(context: ExecutionContext, config: Agent = Agent()) -> str:  # noqa: B008 - frozen
            ff.note()
            return f"{context.model} {config.model}"

        async def say(context: ExecutionContext) -> ExecutionContext:
            ff.note()
            return context.append(Message("user", "hi"))

        with Flow("agents") as f:
            main, plain = f.context("main", model="small"), f.context("plain")
            f.output("asked", f.add(ask, context=f.add(say, context=main).out).out)
            f.output("plain", f.add(say, context=plain).out)
        flow = f.using(store=Store.memory())
        run = await ff.run_of(flow)
        result = await flow.fork(run, changes={"model": "large"})
        assert (result["asked"], called) == ("large large", ["say", "ask"])
        assert result["plain"].context_id == f"{run}/plain"
        assert (await flow.fork(run, changes={"ask.config.model": "mid"}))["asked"] == "small mid"

    async def test_a_flow_without_one_says_so(self) -> None:
        flow = ff.two_inputs(Store.memory())
        with pytest.raises(FlowInvalid, match="DF1203 model:"):
            await flow.fork(await ff.run_of(flow, a=1), changes={"model": "large"})


class Agent(Config):
    model: str = "tiny"
