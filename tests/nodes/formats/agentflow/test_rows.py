# ruff: noqa: E501 - a row is a line
"""The behaviours of workflows of AgentFlow: rows, agents, conditions, answers, loops, an example."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

import pytest

from dataflow import Flow, LoopLimit, Result, Store
from dataflow.errors import RunTaken
from dataflow_agent import ModelFailed, ModelRequest, ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.agentflow.file import Condition, text_of
from dataflow_formats.agentflow.nodes import normalised
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
from tests.nodes.formats.golden import converted
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
    found = ran(data, *answers, **options).outputs
    return {name: value for name, value in found.items() if name != "s"}


def branch(
    value: Any, conditions: list[tuple[str, str]], edges: str = "i.condition-0>a i.false>b"
) -> dict[str, Any]:
    return outputs(workflow([start(value), if_("i", *conditions), "a", "b"], f"s>i {edges}"))


async def logged(data: Any, *answers: Any) -> tuple[list[Any], dict[str, Any]]:
    flow = flow_of(data)
    with scripted(*(answers or (repeated,))):
        entries, record, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    record.pop("runId")
    return entries, record


async def sittings(data: Any, *answers: dict[str, Any]) -> list[Any]:
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


ABLE: Final[dict[str, Any]] = {"tools": {"subagents": True}}
CALLING: Final = ScriptedAnswer(tool_calls=(ScriptedCall(name="subagent_b_b", arguments={"prompt": "look"}),))
TEAM: Final = workflow(
    [start(), agent("a", **ABLE), agent("b", systemPrompt="You look.")], "s>a a.subagent>b"
)


async def test_the_note_of_an_approval_has_a_port_and_stands_in_prompts() -> None:
    nodes = [start("draft"), approval("p"), agent("z", "{{APPROVAL_NOTE}}: {{PREVIOUS_OUTPUT}}")]
    flow = flow_of(workflow(nodes, "s>p p.approve>z")).using(store=Store.memory())
    with scripted(repeated):
        paused = await flow.run()
        result = await flow.resume(paused.run_id, {"p/ask": {"decision": "approve", "note": "nice"}})
    assert result["z"] == "R[nice: draft]"
    assert result.get("p.note") == "nice"


async def test_a_failing_model_is_told_once() -> None:
    flow = flow_of(workflow([start(), "a", "b"], "s>a a>b"))
    with scripted(ModelFailed("openai/gpt-5", "boom")):
        entries, record, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    (failed,) = [entry for entry in entries if "error" in entry[1]]
    assert failed[:2] == ("a", "llm_error")
    assert failed[2].startswith("DF2117 model 'openai/gpt-5': ")
    assert (record["status"], record["currentNodeId"]) == ("failed", None)


async def test_an_answer_is_told_in_the_sitting_that_it_is_given_to() -> None:
    flow = flow_of(workflow([start("draft"), approval("p"), "a"], "s>p p.approve>a"))
    with scripted(repeated):
        first, paused_record, paused = await told(flow.start(), AgentFlowWords(flow.to_dict()))
        answer = {"p/ask": {"decision": "approve", "note": " ok "}}
        second, record, _ = await told(flow.resuming(paused, answer), AgentFlowWords(flow.to_dict()))
    assert first[-2:] == [("p", "step_start", "approval"), ("p", "wait_input", "p?")]
    assert paused_record["waitingForInput"] is True
    assert second[0] == ("p", "input_received", "Approved: ok")
    assert record["state"]["p_approval"] == {"decision": "approve", "note": " ok "}
    assert (record["status"], record["waitingForInput"]) == ("completed", False)


CONDITIONS: Final[list[tuple[Literal["equal", "contains"], str, str, bool]]] = [
    ("equal", "yes", "yes", True), ("equal", "YES", "yes", True), ("equal", " yes ", "yes", True),
    ("equal", "yes", "yes ", False), ("equal", "", "", False), ("contains", "yes", "abc yes", True),
    ("contains", " WORLD ", "Hello World", True),
    ("contains", "", "no", False),
]  # fmt: skip


ANSWERS: Final[list[tuple[Any, tuple[str, str]]]] = [
    ("reject", ("reject", "")), ("I REJECT this", ("reject", "")), ("", ("approve", "")),
    (7, ("approve", "")), (False, ("approve", "")), (["reject"], ("approve", "")),
    ({"decision": "Reject", "note": "no"}, ("reject", "no")),
    ({"decision": "maybe", "note": "ok "}, ("approve", "ok ")),
    ({"decision": ["reject"], "note": 1}, ("approve", "")),
    ({"note": "reject"}, ("approve", "reject")),
]  # fmt: skip


def test_conditions_answers_and_values_come_to_what_the_tables_say() -> None:
    found = [Condition(operator=operator, value=value).holds(text) for operator, value, text, _ in CONDITIONS]
    assert found == [holds for *_, holds in CONDITIONS]
    values: list[Any] = ["Yes", None, True, 1.5, [1, "ä"], {"a": None}]
    texts = ["Yes", "", "true", "1.5", '[1,"ä"]', '{"a":null}']
    assert [text_of(value) for value in values] == texts
    assert [normalised(answer) for answer, _ in ANSWERS] == [found for _, found in ANSWERS]


DONE: Final = ("contains", "done")
#: Two agents that hand on to each other until one says that it is done; one `if` behind each of them.
BODY: Final = ["a", if_("e", DONE), "b", if_("f", DONE)]
ROUND: Final = "a>e e.false>b b>f f.false>a"
EITHER: Final = workflow(
    [start("right"), if_("i", ("equal", "left")), *BODY, "z"],
    f"s>i i.condition-0>a i.false>b {ROUND} e.condition-0>z f.condition-0>z",
)


def three_times(request: ModelRequest) -> str:
    told = str(request.messages[-1].content)
    return f"[{told}]" if told.count("[") < len("abc") else "done"


#: Loops without an end, the gate that each begins at, and its limit: 100 rounds for each node behind it.
ENDLESS: Final = [
    (workflow([start(), if_("i", ("equal", "y"))], "s>i i.false>i"), "i", 100),
    (workflow([start(), *"ab"], "s>a s>b a>b b>a"), "a_or_b", 200),
    (workflow([start(), *"abcde"], "s>a s>b s>c s>d s>e a>b b>c c>d d>e e>a"), "a_or_b_or_c_or_2_more", 500),
]


def test_a_loop_begins_where_it_is_come_to_runs_what_is_behind_and_fails_at_a_limit() -> None:
    found = ran(EITHER, three_times)
    assert found.prompts == ["B right", "A [B right]", "B [A [B right]]", "A [B [A [B right]]]", "Z done"]
    nodes = [start(), agent("w", "w"), if_("i", ("equal", "done")), "z"]
    answers = iter(["more", "more", "done"])
    found = ran(
        workflow(nodes, "s>w w>i i.false>w w>z"),
        lambda request: next(answers) if request.messages[-1].content == "w" else repeated(request),
    )
    assert sorted(prompt for prompt in found.prompts if prompt != "w") == ["Z done", "Z more", "Z more"]
    errors = [ran(data).error for data, _, _ in ENDLESS]
    limits = [error.__cause__ for error in errors if error is not None]
    assert [(one.loop, one.limit) for one in limits if isinstance(one, LoopLimit)] == [
        (loop, limit) for _, loop, limit in ENDLESS
    ]


def test_a_model_is_asked_with_the_settings_of_its_agent_and_the_rest_is_in_the_meta() -> None:
    data = {"systemPrompt": "Be brief.", "model": "gpt-5-mini", "reasoningEffort": "high"}
    (request,) = ran(
        workflow([start(), agent("a", "hi", tools={"web_search": True}, **data)], "s>a")
    ).requests
    assert (request.model, request.options.reasoning_effort) == ("openai/gpt-5-mini", "high")
    assert (request.options.web_search, request.messages[-1].content) == (True, "hi")
    assert "Be brief." in str(request)
    nodes = [start(), {**agent("a"), "x": 7, "y": None}]
    flow = flow_of(workflow(nodes, "s>a", name="small", version=2))
    assert flow.wiring.meta["agentflow"] == {"version": 2}
    assert flow.to_dict()["nodes"]["a"]["meta"] == {"x": 7}


async def test_the_example_goes_round_until_it_is_approved() -> None:
    flow = Flow.load(converted("agentflow/publish")).using(store=Store.memory())
    with scripted(repeated):
        result = await flow.run()
        for answer in ("reject", "approve"):
            (ask,) = result.asks
            result = await flow.resume(result.run_id, {ask.id: answer})
    improved = "R[Improve: R[Improve: draft]]"
    assert result.status == "completed"
    assert result.outputs == {"s": "draft", "w": improved, "z": f"R[Publish {improved}]"}


async def test_an_agent_below_is_called_as_a_tool_and_told_of_also_when_it_fails() -> None:
    flow = flow_of(TEAM)
    with scripted(CALLING, "seen", "done") as script:
        entries, record, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    assert record["state"]["a"] == "done"
    assert "b" not in record["state"]
    assert [str(request.messages[-1].content) for request in script.requests][1] == "look"
    calls: list[Any] = [
        (node, kind, json.loads(content)) for node, kind, content in entries if kind.startswith("subagent")
    ]
    assert [(node, kind) for node, kind, _ in calls] == [
        ("a", "subagent_call_start"),
        ("a", "subagent_call_end"),
    ]
    known = {"parentNodeId": "a", "subagentNodeId": "b", "subagentName": "B", "depth": 1}
    assert all(known.items() <= content.items() for _, _, content in calls)
    assert calls[1][2]["message"] == "seen"
    flow = flow_of(TEAM)
    with scripted(CALLING, ModelFailed("openai/gpt-5", "boom"), "done"):
        entries, _, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    assert "subagent_call_error" in [kind for _, kind, _ in entries]
