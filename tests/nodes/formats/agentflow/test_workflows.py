"""What workflows of AgentFlow do besides the rows: agents, conditions, answers, loops, an example."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from dataflow import Flow, LoopLimit, Store
from dataflow_agent import ModelFailed, ModelRequest, ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.agentflow.file import Condition, text_of
from dataflow_formats.agentflow.nodes import normalised
from dataflow_formats.agentflow.words import AgentFlowWords
from tests.nodes.formats.agentflow.flowing import (
    agent,
    approval,
    flow_of,
    if_,
    ran,
    repeated,
    start,
    told,
    workflow,
)
from tests.nodes.formats.golden import converted

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
    ("equal", "yes", "yes", True),
    ("equal", "YES", "yes", True),
    ("equal", " yes ", "yes", True),
    ("equal", "yes", "yes ", False),
    ("equal", "", "", False),
    ("contains", "yes", "abc yes", True),
    ("contains", " WORLD ", "Hello World", True),
    ("contains", "", "no", False),
]


ANSWERS: Final[list[tuple[Any, tuple[str, str]]]] = [
    ("reject", ("reject", "")),
    ("I REJECT this", ("reject", "")),
    ("", ("approve", "")),
    (7, ("approve", "")),
    (False, ("approve", "")),
    (["reject"], ("approve", "")),
    ({"decision": "Reject", "note": "no"}, ("reject", "no")),
    ({"decision": "maybe", "note": "ok "}, ("approve", "ok ")),
    ({"decision": ["reject"], "note": 1}, ("approve", "")),
    ({"note": "reject"}, ("approve", "reject")),
]


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
    """Repeat what was told until it has been repeated three times."""
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
