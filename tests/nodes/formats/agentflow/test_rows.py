# ruff: noqa: E501 - a row is a line
"""The behaviours of workflows of AgentFlow: each is a row with its number and its outcome."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import Result, Store
from dataflow.errors import RunTaken
from dataflow_agent import ModelFailed, ModelRequest, scripted
from dataflow_formats.agentflow.words import AgentFlowWords
from tests.nodes.formats.agentflow.flowing import (
    PREVIOUS,
    agent,
    approval,
    flow_of,
    if_,
    problems,
    ran,
    repeated,
    start,
    told,
    workflow,
)
from tests.nodes.formats.rows import Row, check_rows

FORK: Final = workflow(
    [start("Hello World"), if_("i", ("equal", "hello"), ("contains", " WORLD ")), "a", "b", "c"],
    "s>i i.condition-0>a i.condition-1>b i.false>c",
)
DECIDED: Final = workflow([start("draft"), approval("p"), "a", "b"], "s>p p.approve>a p.reject>b")
SIBLING: Final = [start(), approval("p"), "a", "b", "c"]
TWO: Final = workflow(
    [start(), approval("p1"), approval("p2"), "a", "b"], "s>p1 s>p2 p1.approve>a p2.reject>b"
)


def outputs(data: Any, *answers: Any, **options: str) -> dict[str, Any]:
    """Return what each node gave, but the start."""
    found = ran(data, *answers, **options).outputs
    return {name: value for name, value in found.items() if name != "s"}


def branch(
    value: Any, conditions: list[tuple[str, str]], edges: str = "i.condition-0>a i.false>b"
) -> dict[str, Any]:
    return outputs(workflow([start(value), if_("i", *conditions), "a", "b"], f"s>i {edges}"))


async def logged(data: Any, *answers: Any) -> tuple[list[Any], dict[str, Any]]:
    """Run a workflow, and return its log entries and its record without its id."""
    flow = flow_of(data)
    with scripted(*(answers or (repeated,))):
        entries, record, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    record.pop("runId")
    return entries, record


async def sittings(data: Any, *answers: dict[str, Any]) -> list[Any]:
    """Run a workflow, and go on with each answer from the store alone; tell the asks, and what was given."""
    store = Store.memory()
    with scripted(repeated):
        results: list[Result] = [await flow_of(data).using(store=store).run()]
        for answer in answers:
            results.append(await flow_of(data).using(store=store).resume(results[0].run_id, answer))
    return [
        ([ask.id for ask in result.asks], {**result.outputs, "s": None} | {"status": result.status})
        for result in results
    ]


async def decided(answer: Any) -> tuple[dict[str, Any], Any]:
    """Answer the approval `p`, and return its decision and what it led to."""
    store = Store.memory()
    with scripted(repeated):
        paused = await flow_of(DECIDED).using(store=store).run()
        result = await flow_of(DECIDED).using(store=store).resume(paused.run_id, {"p/ask": answer})
    found = next(told["decision"] for told in result.metadata.values() if "decision" in told)
    return found, {name: value for name, value in result.outputs.items() if name != "s"}


async def paused_words() -> dict[str, Any]:
    _, record = await logged(DECIDED)
    return record


async def two_words() -> tuple[Any, ...]:
    _, record = await logged(TWO)
    return record["currentNodeId"], record["state"]["__pending_approval_queue__"]


async def previous_outputs() -> tuple[str, str]:
    """Look at the previous output after ways that parted and met, and after those of alternatives."""
    _, parted = await logged(workflow([start(), "a", "b", "j"], "s>a s>b a>j b>j"))
    either = workflow(
        [start(), "a", if_("i", ("equal", "x")), "b", "c"], "s>a a>i i.condition-0>c i.false>b b>c"
    )
    _, alternative = await logged(either)
    return parted["state"]["previous_output"], alternative["state"]["previous_output"]


async def resumed_twice_at_once() -> tuple[str, str]:
    store = Store.memory()
    with scripted(repeated):
        paused = await flow_of(DECIDED).using(store=store).run()
        async with flow_of(DECIDED).using(store=store).resuming(paused.run_id, {"p/ask": "approve"}) as run:
            with pytest.raises(RunTaken) as refused:
                await flow_of(DECIDED).using(store=store).resume(paused.run_id, {"p/ask": "reject"})
            result = await run
    return result.status, refused.value.code


async def ended_twice() -> tuple[str, bool]:
    store = Store.memory()
    result = await flow_of(workflow([start()], "")).using(store=store).run()
    with pytest.raises(RunTaken) as refused:
        await flow_of(workflow([start()], "")).using(store=store).resume(result.run_id, {})
    return refused.value.code, store.find(result.run_id).status == "completed"


def looped() -> tuple[int, dict[str, Any]]:
    found = ran(
        workflow([start(), "w", if_("i", ("equal", "done")), "z"], "s>w w>i i.false>w i.condition-0>z"),
        "more",
        "more",
        "DONE",
        "end",
    )
    return len(found.prompts), found.outputs


def failing() -> tuple[str, dict[str, Any], str]:
    def answer(request: ModelRequest) -> str:
        raise ModelFailed(request.model, "boom")

    found = ran(workflow([start(), "a", "c"], "s>a a>c"), answer)
    path, kind, code = str(found.error).partition(" failed: ")[2].split(": ", 2)
    return found.result.status, found.outputs, f"{path}: {kind}: {code.split()[0]}"


AF01: Final = workflow([start("hi"), agent("a", f"Say: {PREVIOUS}/{PREVIOUS}")], "s>a")


async def first() -> tuple[Any, ...]:
    entries, record = await logged(AF01)
    return [entry[1] for entry in entries], record["state"]


async def checked() -> list[Any]:
    entries, _ = await logged(FORK)
    return [content for _, kind, content in entries if kind == "logic_check"]


def nested() -> list[str]:
    nodes = [start(), *(agent(id, tools={"subagents": True}) for id in "ab"), agent("c")]
    flow = flow_of(workflow(nodes, "s>a a.subagent>b b.subagent>c"))
    (inner,) = flow.to_dict()["nodes"]["a"]["flow"]["nodes"]["agent"]["config"]["subagents"]
    return [inner["name"], *(one["name"] for one in inner["subagents"])]


ROWS: Final = [
    Row("AF01", "all occurrences are replaced, and the log tells it", first, (["step_start", "step_start", "start_prompt", "llm_response"], {"s": "hi", "a": "R[Say: hi/hi]", "previous_output": "R[Say: hi/hi]"})),
    Row("AF02", "a blank prompt is the previous text", lambda: ran(workflow([start("abc"), agent("a", " ")], "s>a")).prompts, ["abc"]),
    Row("AF03", "the first match wins, in any case", lambda: outputs(FORK), {"b": "R[B Hello World]"}),
    Row("AF03", "each condition that was looked at is told", checked, ['Condition 1 (equal "hello"): false', 'Condition 2 (contains " WORLD "): true']),
    Row("AF04", "without a match the value goes to `false`", lambda: branch("x", [("equal", "y")]), {"b": "R[B x]"}),
    Row("AF05", "a match without an edge ends the path", lambda: branch("yes", [("equal", "yes")], "i.false>b"), {}),
    Row("AF06", "an empty value never matches", lambda: branch("x", [("contains", "")]), {"b": "R[B x]"}),
    Row("AF07", "an old condition, and its handle", lambda: outputs(workflow([start("abc yes"), {"id": "i", "type": "if", "data": {"condition": "YES"}}, "a"], "s>i i.true>a")), {"a": "R[A abc yes]"}),
    Row("AF08", "an old name of approvals", lambda: ran(workflow([start(), approval("p", "input")], "s>p")).result.status, "paused"),
    Row("AF09", "an approval pauses with what came", paused_words, {"status": "paused", "state": {"s": "draft", "previous_output": "draft", "__approval_contexts__": {"p": "draft"}, "__pending_approval_queue__": []}, "currentNodeId": "p", "waitingForInput": True}),
    Row("AF10", "the word reject rejects, and what came goes on", lambda: decided("I REJECT this"), ({"decision": "reject", "note": ""}, {"b": "R[B draft]"})),
    Row("AF11", "nothing approves", lambda: decided(None), ({"decision": "approve", "note": ""}, {"a": "R[A draft]"})),
    Row("AF11", "any other decision approves", lambda: decided({"decision": "maybe", "note": "ok "}), ({"decision": "approve", "note": "ok "}, {"a": "R[A draft]"})),
    Row("AF11", "a boolean approves, and so does false", lambda: decided(False), ({"decision": "approve", "note": ""}, {"a": "R[A draft]"})),
    Row("AF12", "a run that has ended stays as it is", ended_twice, ("DF1114", True)),
    Row("AF13", "what stands beside an approval runs before the answer", lambda: sittings(workflow(SIBLING, "s>a s>p a>b p.approve>c"), {"p/ask": "approve"}), [
        (["p/ask"], {"s": None, "a": "R[A x]", "b": "R[B R[A x]]", "status": "paused"}),
        ([], {"s": None, "a": "R[A x]", "b": "R[B R[A x]]", "c": "R[C x]", "status": "completed"}),
    ]),
    Row("AF14", "whatever the order of the edges", lambda: sittings(workflow(SIBLING, "s>p s>a a>b p.approve>c")), [
        (["p/ask"], {"s": None, "a": "R[A x]", "b": "R[B R[A x]]", "status": "paused"}),
    ]),
    Row("AF15", "two approvals are open at once, the first is the current node", two_words, ("p1", ["p2"])),
    Row("AF16", "a run goes on from the store alone", lambda: sittings(TWO, {"p1/ask": "approve"}, {"p2/ask": "reject"}), [
        (["p1/ask", "p2/ask"], {"s": None, "status": "paused"}),
        (["p2/ask"], {"s": None, "a": "R[A x]", "status": "paused"}),
        ([], {"s": None, "a": "R[A x]", "b": "R[B x]", "status": "completed"}),
    ]),
    Row("AF17", "a node runs once for each arrival", lambda: outputs(workflow([start(), "a", "b", "j"], "s>a s>b a>j b>j"))["j"], ["R[J R[A x]]", "R[J R[B x]]"]),
    Row("AF17", "what ran beside others is no previous output", previous_outputs, ("x", "R[C R[B R[A x]]]")),
    Row("AF17", "or once on all of them", lambda: outputs(workflow([start(), "a", "b", "j"], "s>a s>b a>j b>j"), joins="once")["j"], "R[J R[A x]\n\nR[B x]]"),
    Row("AF17", "which is not asked where only one can arrive", lambda: outputs(workflow([start(), if_("i", ("equal", "x")), "a", "b", "j"], "s>i i.condition-0>a i.false>b a>j b>j"))["j"], "R[J R[A x]]"),
    Row("AF18", "a failure ends the run", failing, ("failed", {"s": "x"}, "a/agent/turn[0]/ask: ModelFailed: DF2117")),
    Row("AF19", "a loop goes on until a condition holds", looped, (4, {"s": "x", "w": "DONE", "z": "end"})),
    Row("AF20", "the node above is an agent", lambda: problems(workflow([start(), "b"], "s.subagent>b")), ["DF4102 connections[0]: subagent 'b' of node 's'"]),
    Row("AF20", "agents below agents below agents", nested, ["subagent_b_b", "subagent_c_c"]),
    Row("AF21", "unknown types and edges that lead nowhere are errors", lambda: problems(workflow([start(), {"id": "u", "type": "mystery"}, "a"], "s>u u>a s>ghost")), ["DF4005 nodes[1].type: node 'u'", "DF4006 connections[2].target"]),
    Row("AF22", "no start is an error", lambda: problems(workflow(["a"], "")), ["DF4010 nodes"]),
    Row("AF23", "what is filled in is literal", lambda: ran(workflow([start("cost $& $1 $$"), "a"], "s>a")).prompts, ["A cost $& $1 $$"]),
    Row("AF24", "a run that is being resumed is not resumed beside it", resumed_twice_at_once, ("completed", "DF1101")),
]  # fmt: skip


async def test_a_behaviour_is_as_its_row_says(subtests: pytest.Subtests) -> None:
    await check_rows(ROWS, subtests)


def test_each_behaviour_has_a_row() -> None:
    assert sorted({row.id for row in ROWS}) == [f"AF{number:02}" for number in range(1, 25)]
