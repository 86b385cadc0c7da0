"""Spans of agents and of calls of tools: the names of the conventions, and the right parents (S19, B52)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from dataflow import Flow, RunFailed, this_firing
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, AgentConfig, ScriptedAnswer, agent, scripted, tools
from tests.nodes.agent.agent_tools import calling, fails, meet
from tests.support.spans import Spans

lead = Agent("lead", model="mistral/large", system="Be kind.")


async def look(at: str) -> str:
    """Look at something."""
    with this_firing().span(f"look {at}"):
        await anyio.lowlevel.checkpoint()
    return f"seen {at}"


def stare(at: str) -> str:
    with this_firing().span(f"stare {at}"):
        return f"stared at {at}"


BOX = tools(look, stare, fails, meet)


def room(**settings: Any) -> Flow:
    with Flow("room") as flow:
        asked = flow.add(
            lead, prompt=flow.input("prompt", str, "a question"), context=flow.context("main"), tools=BOX
        )
        flow.output("text", asked.out.text)
    return flow.using(**settings)


def named(spans: Spans, name: str) -> list[ReadableSpan]:
    return [span for span in spans.all if span.name == name]


def around(spans: Spans) -> list[tuple[str, str | None]]:
    """Pair the label of each span with that of the one that it is inside of."""
    labels = {span.context.span_id: spans.label(span) for span in spans.all if span.context is not None}
    return sorted(
        (spans.label(span), None if span.parent is None else labels.get(span.parent.span_id))
        for span in spans.all
    )


async def test_the_turn_of_an_agent_is_the_span_of_its_node_and_each_call_of_a_tool_has_one() -> None:
    spans = Spans()
    with scripted(calling(("look", {"at": "it"})), "an answer"):
        result = await room(**spans.settings).run()
    assert around(spans) == [
        ("chat large", "lead/turn[0]/ask"),
        ("chat large", "lead/turn[1]/ask"),
        ("execute_tool look", "lead/turn[0]/call[0]/make"),
        ("lead", "run room"),
        ("lead/begin", "lead"),
        ("lead/finish", "lead"),
        ("lead/turn", "lead"),
        ("lead/turn[0]/ask", "lead/turn"),
        ("lead/turn[0]/call", "lead/turn"),
        ("lead/turn[0]/call[0]", "lead/turn[0]/call"),
        ("lead/turn[0]/call[0]/approve", "lead/turn[0]/call[0]"),
        ("lead/turn[0]/call[0]/make", "lead/turn[0]/call[0]"),
        ("lead/turn[0]/go_on", "lead/turn"),
        ("lead/turn[1]/ask", "lead/turn"),
        ("look it", "execute_tool look"),
        ("main", "run room"),
        ("run room", None),
    ]
    turn, call = spans.one("lead"), spans.one("execute_tool look")
    assert (turn.name, turn.kind, call.kind) == ("invoke_agent lead", SpanKind.INTERNAL, SpanKind.INTERNAL)
    assert dict(turn.attributes or {}) == {
        "dataflow.run.id": result.run_id,
        "dataflow.path": "lead",
        "dataflow.node.type": "flow",
        "dataflow.attempt": 1,
        "dataflow.state": "done",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "lead",
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "large",
        "gen_ai.conversation.id": f"{result.run_id}/main",
    }
    assert dict(call.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.description": "Look at something.",
        "gen_ai.tool.type": "function",
    }
    for content in ("a question", "an answer", "Be kind", "seen"):
        assert content not in spans.text()


async def test_the_turn_of_an_agent_below_is_a_span_inside_the_call_of_the_one_above() -> None:
    scout = Agent("scout", model="mistral/small", tools=tools(look))
    with Flow("scouting") as flow:
        asked = flow.add(lead, prompt="where?", tools=tools(scout.as_tool("Looks around.")))
        flow.output("text", asked.out.text)
    spans = Spans(content=True)
    script = calling(("scout", {"prompt": "look"})), calling(("look", {"at": "it"})), "it is there", "there"
    with scripted(*script):
        await flow.using(**spans.settings).run()
    below = spans.one("lead/turn[0]/call[0]/scout")
    assert (below.name, spans.one("lead").name) == ("invoke_agent scout", "invoke_agent lead")
    inside = dict(around(spans))
    place, places = "execute_tool look", []
    while (outer := inside[place]) is not None:
        place = outer
        places.append(place)
    assert {"lead/turn[0]/call[0]/scout", "lead/turn[0]/call[0]", "lead"} < {*places}
    assert (below.attributes or {})["gen_ai.agent.name"] == "scout"
    assert "it is there" in str(spans.told("lead/turn[0]/call[0]/scout", "gen_ai.output.messages"))


async def test_an_agent_is_called_by_its_name_wherever_it_is_placed() -> None:
    spans = Spans()
    with Flow("desk") as flow:
        config = AgentConfig(name="librarian", model="mistral/large")
        flow.output("text", flow.add(agent, prompt="hi", config=config).out.text)
    with scripted("an answer"):
        await flow.using(**spans.settings).run()
    assert spans.one("agent").name == "invoke_agent librarian"
    assert spans.told("agent", "gen_ai.agent.name") == "librarian"


async def test_of_a_turn_that_a_limit_has_ended_the_limit_is_told() -> None:
    spans = Spans(content=True)
    scout = Agent("scout", model="mistral/small", tools=tools(look), max_turns=1)
    with Flow("scouting") as flow:
        asked = flow.add(lead, prompt="where?", tools=tools(scout.as_tool("Looks around.")))
        flow.output("text", asked.out.text)
    looks = calling(("look", {"at": "it"}))
    with scripted(calling(("scout", {"prompt": "look"})), looks, "there"):
        await flow.using(**spans.settings).run()
    ends = [
        json.loads(str(spans.told(name, "gen_ai.output.messages")))[0]["finish_reason"]
        for name in ("lead/turn[0]/call[0]/scout", "lead")
    ]
    assert ends == ["max_turns", "stop"]
    assert [span.name for span in spans.all if span.name.startswith("execute_tool")] == []


async def test_with_content_prompt_answer_arguments_and_results_are_told() -> None:
    spans = Spans(content=True)
    with scripted(calling(("look", {"at": "it"})), "an answer"):
        await room(**spans.settings).run()
    told = {
        name: json.loads(str(spans.told("lead", f"gen_ai.{name}.messages"))) for name in ("input", "output")
    }
    assert told == {
        "input": [{"role": "user", "parts": [{"type": "text", "content": "a question"}]}],
        "output": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "an answer"}],
                "finish_reason": "stop",
            }
        ],
    }
    assert spans.told("execute_tool look", "gen_ai.tool.call.arguments") == '{"at": "it"}'
    assert spans.told("execute_tool look", "gen_ai.tool.call.result") == "seen it"


async def test_calls_that_are_made_at_once_are_each_inside_their_own_node_also_in_threads() -> None:
    """B52: two calls wait for each other, two are in threads, two agents run at once."""
    with Flow("rooms") as flow:
        for name in ("left", "right"):
            asked = flow.add(Agent(name, model="openai/gpt"), prompt=name, tools=BOX)
            flow.output(name, asked.out.text)

    def answer(request: Any) -> ScriptedAnswer:
        who = str(request.messages[0].content)
        if len(request.messages) > 1:
            return ScriptedAnswer(text=who)
        meeting = [("meet", {"waits": True}), ("meet", {"waits": False})] if who == "left" else []
        staring = [("stare", {"at": f"{who} {number}"}) for number in range(2)]
        return calling(*meeting, *staring)

    spans = Spans()
    with scripted(answer):
        await flow.using(**spans.settings).run()
    found = around(spans)
    for who, first in (("left", 2), ("right", 0)):
        for number in range(2):
            node = f"{who}/turn[0]/call[{first + number}]/make"
            [staring] = [span for span in spans.all if span.name == f"stare {who} {number}"]
            [call] = [
                span for span in spans.all if span.context is not None and staring.parent is not None
                and span.context.span_id == staring.parent.span_id
            ]  # fmt: skip
            assert call.name == "execute_tool stare"
            assert call.parent is not None
            assert call.parent.span_id == spans.one(node).context.span_id
        assert spans.told(who, "gen_ai.agent.name") == who
    assert [pair for pair in found if pair[0] == "execute_tool meet"] == [
        ("execute_tool meet", "left/turn[0]/call[0]/make"),
        ("execute_tool meet", "left/turn[0]/call[1]/make"),
    ]
    assert len({span.context.trace_id for span in spans.all if span.context is not None}) == 1


async def test_two_runs_at_once_have_a_trace_each() -> None:
    """B52: nothing of one run is in the trace of the other."""
    spans = Spans()
    flow = room(**spans.settings)
    with scripted(lambda request: calling(("look", {"at": "it"})) if len(request.messages) == 2 else "done"):
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(flow.run)
    traces: dict[int, list[str]] = {}
    for span in spans.all:
        if span.context is not None:
            traces.setdefault(span.context.trace_id, []).append(spans.label(span))
    first, second = (sorted(labels) for labels in traces.values())
    assert first == second
    assert first.count("execute_tool look") == 1


async def test_a_tool_that_fails_has_a_span_that_says_so_and_what_is_not_called_has_none() -> None:
    asked = calling(("fails", {"why": "secretly"}), ("look", {"wrong": 1}), ("nowhere", {}))
    quiet, telling = Spans(), Spans(content=True)
    for spans in (quiet, telling):
        with scripted(asked, "an answer"):
            await room(**spans.settings).run()
    [call] = [span for span in quiet.all if span.name.startswith("execute_tool")]
    assert (call.name, call.status.status_code, call.status.description) == (
        "execute_tool fails", StatusCode.ERROR, "OSError",
    )  # fmt: skip
    assert (call.attributes or {})["error.type"] == "OSError"
    assert quiet.one("lead").status.status_code is StatusCode.UNSET  # the model was told, and went on
    assert "secretly" not in quiet.text()
    assert telling.one("execute_tool fails").status.description == "OSError: secretly"


async def test_a_run_that_goes_on_tells_of_its_agent_again_whatever_it_begins_with(tmp_path: Path) -> None:
    spans = Spans()
    flow = room(**spans.settings, store=SqliteStore(tmp_path / "runs.db"))
    broken = ScriptedAnswer(error="stream_interrupted")
    with scripted(calling(("look", {"at": "it"})), broken), pytest.raises(RunFailed) as caught:
        await flow.run()
    assert spans.one("lead").status.description == "StreamInterrupted"
    spans.clear()
    with scripted("an answer"):
        await flow.resume(caught.value.result.run_id)
    assert around(spans) == [
        ("chat large", "lead/turn[1]/ask#2"),
        ("lead", "run room"),
        ("lead/finish", "lead"),
        ("lead/turn", "lead"),
        ("lead/turn[1]/ask#2", "lead/turn"),
        ("run room", None),
    ]
    assert spans.one("lead").name == "invoke_agent lead"
    assert spans.told("lead", "gen_ai.request.model") == "large"
    assert spans.told("run room", "dataflow.run.id") == caught.value.result.run_id


async def test_an_agent_that_is_called_is_the_span_of_its_run() -> None:
    spans = Spans()
    with scripted("an answer"):
        await lead.using(**spans.settings).run(prompt="a question")
    [root] = [span for span in spans.all if span.name.startswith("invoke_agent")]
    assert root.parent is None
    assert (root.attributes or {})["gen_ai.operation.name"] == "invoke_agent"
    assert (root.attributes or {})["gen_ai.request.model"] == "large"
    assert ("turn", root.name) in around(spans)


async def test_a_retried_turn_has_a_span_for_each_attempt() -> None:
    spans = Spans()
    with Flow("room") as flow:
        flow.output("text", flow.add(lead.with_(retries=1), prompt="hi").out.text)
    with scripted(ScriptedAnswer(error="rate_limited"), "an answer"):
        await flow.using(**spans.settings).run()
    attempts = named(spans, "invoke_agent lead")
    assert [spans.label(span) for span in attempts] == ["lead", "lead#2"]
    assert [span.status.status_code for span in attempts] == [StatusCode.ERROR, StatusCode.UNSET]


async def test_without_telemetry_an_agent_tells_nothing() -> None:
    spans = Spans()
    around = spans.provider.get_tracer("t").start_as_current_span("x")
    with around, scripted(calling(("look", {"at": "it"})), "an answer"):
        result = await room().run()
    assert (result["text"], spans.names()) == ("an answer", ["x"])
