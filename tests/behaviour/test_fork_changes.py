"""Forks with other answers, configs and models (S13.5)."""

from __future__ import annotations

import pytest

from dataflow import AnswerRefused, Config, ExecutionContext, Flow, FlowInvalid, Message
from dataflow.stores import Store
from tests.behaviour.forked_flows import (
    Scale,
    asking,
    in_blocks,
    note,
    run_of,
    scaled,
    talking,
    two_inputs,
)

pytestmark = pytest.mark.usefixtures("called")


class TestAnswers:
    async def test_open_asks_are_answered_and_answers_replaced(self, called: list[str]) -> None:
        flow = asking(Store.memory())
        run = await run_of(flow)
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
        flow = talking(Store.memory())
        run = await run_of(flow)
        for number in range(3):
            result = await flow.resume(run, {f"talk[{number}]/said": 1})
        assert result["sum"] == 3
        called.clear()
        result = await flow.fork(run, changes={"talk[1]/said": 10})
        assert (result["sum"], called) == (12, ["talk[1]/add", "talk[2]/add"])

    async def test_a_refused_answer_leaves_no_fork(self) -> None:
        store = Store.memory()
        flow = asking(store)
        run = await run_of(flow)
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
        flow = in_blocks(Store.memory())
        run = await run_of(flow, x=3)
        before = {"top": 3, "looped": 12, "nested": 3, "mapped": [0, 1, 2]}
        for key, (output, value, again) in changes.items():
            called.clear()
            result = await flow.fork(run, changes={key: 3})
            assert (dict(result.outputs), sorted(called)) == ({**before, output: value}, again)

    async def test_a_fork_is_resumed_and_forked_with_what_was_changed(self, called: list[str]) -> None:
        with Flow("later") as f:
            asked = f.ask(int, "?", name="asked")
            f.output("o", f.add(scaled, x=asked.out).out)
            f.output("unit", f.add(unit, x=1).out)
        flow = f.using(store=Store.memory())
        run = await run_of(flow)
        fork = await flow.fork(run, changes={"scaled.config.by": 4})
        other = await flow.fork(fork.run_id, changes={"unit.config.unit": "km"})
        assert (other["unit"], called) == ("km", ["unit"])
        assert (await flow.resume(other.run_id, {"asked": 2}))["o"] == 8
        assert (await flow.resume(run, {"asked": 2}))["o"] == 2

    async def test_ports_of_the_flow_name_what_the_fork_has(self) -> None:
        with Flow("ports") as f:
            step = f.add(scaled, x=f.input("x", int))
        flow = f.using(store=Store.memory())
        result = await flow.fork(await run_of(flow, x=2), changes={"scaled.config.by": 5})
        assert result.get(step.out) == 10

    async def test_what_a_config_refuses_is_told(self) -> None:
        flow = in_blocks(Store.memory())
        run = await run_of(flow, x=1)
        with pytest.raises(FlowInvalid, match=r"scaled\.config\.by.*expected int"):
            await flow.fork(run, changes={"scaled.config.by": "3"})


async def unit(x: int, config: Scale = Scale()) -> str:  # noqa: B008 - frozen
    note()
    return config.unit


class TestModels:
    async def test_each_model_that_is_named_is_another(self, called: list[str]) -> None:
        async def ask(context: ExecutionContext, config: Agent = Agent()) -> str:  # noqa: B008 - frozen
            note()
            return f"{context.model} {config.model}"

        async def say(context: ExecutionContext) -> ExecutionContext:
            note()
            return context.append(Message("user", "hi"))

        with Flow("agents") as f:
            main, plain = f.context("main", model="small"), f.context("plain")
            f.output("asked", f.add(ask, context=f.add(say, context=main).out).out)
            f.output("plain", f.add(say, context=plain).out)
        flow = f.using(store=Store.memory())
        run = await run_of(flow)
        result = await flow.fork(run, changes={"model": "large"})
        assert (result["asked"], called) == ("large large", ["say", "ask"])
        assert result["plain"].context_id == f"{run}/plain"
        assert (await flow.fork(run, changes={"ask.config.model": "mid"}))["asked"] == "small mid"

    async def test_a_flow_without_one_says_so(self) -> None:
        flow = two_inputs(Store.memory())
        with pytest.raises(FlowInvalid, match="DF1203 model:"):
            await flow.fork(await run_of(flow, a=1), changes={"model": "large"})


class Agent(Config):
    model: str = "tiny"
