"""Calls that somebody is asked about, grants (S10.6, S11.1), and agents that others have as tools (AF20)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import (
    AnswerRefused,
    ExecutionContext,
    Flow,
    Message,
    NodeState,
    Result,
    RunFailed,
    ToolCall,
    merge_contexts,
    node,
    this_firing,
)
from dataflow_agent import (
    Agent,
    AgentConfig,
    ModelRequest,
    ScriptedAnswer,
    ScriptEnded,
    ScriptFailed,
    scripted,
    tools,
)
from dataflow_agent.approvals import Decided
from dataflow_agent.steps import make
from dataflow_agent.turns import Turn
from tests.nodes.agent import agent_tools
from tests.nodes.agent.agent_tools import calling, results, room

MADE: Final[list[str]] = []


async def write(path: str, text: str = "") -> str:
    """Write a file."""
    MADE.append(f"write {path}")
    return f"wrote {path}"


async def read(path: str) -> str:
    """Read a file."""
    MADE.append(f"read {path}")
    return f"read {path}"


FILES: Final = tools(write, read, allow=["read"], ask=["write"], deny=["*(path=/etc/*)"])
ASK: Final = "lead/turn[0]/call[0]/approve"
lead = Agent("lead", model="openai/gpt")


def calling_on(*calls: tuple[str, str]) -> ScriptedAnswer:
    return agent_tools.calling(*[(name, {"path": path}) for name, path in calls])


def asked(result: Result) -> list[str]:
    return [ask.id for ask in result.asks]


async def test_what_is_denied_is_not_made_and_what_is_always_denied_is_not_offered() -> None:
    MADE.clear()
    with scripted(calling_on(("read", "/etc/key"), ("read", "a")), "done") as script:
        result = await room(lead, FILES).run()
    assert results(result["context"]) == [
        "error: the call of read was denied: the policy of the tool does not allow it", "read a",
    ]  # fmt: skip
    assert MADE == ["read a"]
    assert [spec.name for spec in script.requests[0].tools] == ["write", "read"]
    with scripted(calling_on(("write", "a")), "done") as script:
        result = await room(lead, tools(write, read, allow=["read"])).run()
    assert results(result["context"]) == ["error: no tool has the name 'write'; available: read"]
    assert ([spec.name for spec in script.requests[0].tools], MADE) == (["read"], ["read a"])


async def test_an_ask_names_agent_tool_and_arguments_and_the_choices() -> None:
    unfit = ("write", {"way": 1})  # nobody is asked about a call that cannot be made
    calls = [("write", {"path": "a"}), ("write", {"path": "a" * 1000}), unfit]
    with scripted(agent_tools.calling(*calls), "done"):
        flow = room(lead, FILES)
        result = await flow.run()
        ask, long = result.asks
        with pytest.raises(AnswerRefused, match="DF0601"):
            await flow.resume(result, {ask.id: "perhaps"})
        result = await flow.resume(result, {ask.id: "deny", long.id: "deny"})
    assert (ask.id, ask.expires) == (ASK, None)
    assert ask.prompt == (
        'lead wants to call write with {"path": "a"}. Allow it, deny it, or allow write with any arguments '
        "for the rest of the run?"
    )
    assert ask.show == {"agent": "lead", "tool": "write", "arguments": {"path": "a"}}
    schema = json.dumps(ask.schema)
    assert all(json.dumps(word) in schema for word in ("allow", "allow_for_run", "deny", "reason"))
    assert ("aa... 736 characters ...aa" in long.prompt, len(long.prompt) < 500) == (True, True)
    assert long.show["arguments"] == {"path": "a" * 1000}
    denied, _, told = results(result["context"])
    assert denied == "error: the call of write was denied"
    assert told.startswith("error: the arguments do not fit")


async def test_asks_of_parallel_calls_are_answered_in_any_order_and_nothing_is_repeated(
    tmp_path: Path,
) -> None:
    MADE.clear()
    three = calling_on(("write", "a"), ("read", "b"), ("write", "c"))
    with scripted(three, "done") as script:
        first = await room(lead, FILES, tmp_path).run()
        other = ASK.replace("call[0]", "call[2]")
        assert (asked(first), MADE) == ([ASK, other], ["read b"])
        denied = {"decision": "deny", "reason": "not on Sundays"}
        second = await room(lead, FILES, tmp_path).resume(first.run_id, {other: denied})
        assert (asked(second), MADE) == ([ASK], ["read b"])
        third = await room(lead, FILES, tmp_path).resume(first.run_id, {ASK: "allow"})
    assert results(third["context"]) == [
        "wrote a", "read b", "error: the call of write was denied: not on Sundays",
    ]  # fmt: skip
    assert (MADE, len(script.requests)) == (["read b", "write a"], 2)


async def test_a_call_that_nobody_decides_on_in_time_is_denied() -> None:
    with scripted(calling_on(("write", "a")), "done"):
        flow = room(Agent("lead", model="openai/gpt", approval_expires=0.01), FILES)
        result = await flow.run()
        while result.status == "paused":
            result = await flow.resume(result)
    assert results(result["context"]) == [
        "error: the call of write was denied: nobody has decided within 0.01 s",
    ]  # fmt: skip


@node
async def forge(value: object) -> ExecutionContext:
    """Make a conversation with variables that a node of the run has set, RUN in them is the run."""
    written = json.dumps(value).replace("RUN", this_firing().run_id)
    return ExecutionContext("c", variables=json.loads(written))


async def test_a_variable_that_is_no_grant_of_the_run_grants_nothing() -> None:
    cases: list[Any] = [
        ({"agent.granted": {"RUN": [f"{__name__}:write"]}}, True),
        ({"agent.granted/RUN/": True}, True),
        ({f"agent.granted/RUN/{__name__}:write": False}, True),
        ({f"agent.granted/RUN/{__name__}:read": True}, True),
        ({f"agent.granted/another/{__name__}:write": True}, True),
        ({f"agent.granted/RUN/{__name__}:write": True}, False),
    ]
    for value, is_asked in cases:
        with Flow("room") as flow:
            flow.add(lead, prompt="hi", context=flow.add(forge, value=value).out, tools=FILES)
        with scripted(calling_on(("write", "a")), "done"):
            result = await flow.run()
        assert asked(result) == [ASK] * is_asked


async def remove(path: str) -> str:
    MADE.append(f"remove {path}")
    return "removed"


GUARDED: Final = tools(write, remove, ask=["*"])
#: What each agent calls first.
CALLS: Final = {"left": ["write"], "right": ["remove"], "last": ["write", "remove"]}


def named(name: str) -> Agent:
    return Agent(name, model="openai/gpt", system=name)


def answers(request: ModelRequest) -> Any:
    said: Message = request.messages[-1]
    names = CALLS[str(request.messages[0].content)]
    return agent_tools.calling(*[(name, {"path": "a"}) for name in names]) if said.role == "user" else "done"


def rooms(how: Any) -> Flow:
    with Flow("rooms") as flow:
        main = flow.context("main")
        sides = [
            flow.add(named(name), prompt="go", context=main, tools=GUARDED) for name in ("left", "right")
        ]
        left, right = (side.out.context for side in sides)
        merged = merge_contexts(left, right, how=how)
        last = flow.add(named("last"), prompt="go", context=merged, tools=GUARDED)
        flow.output("context", last.out.context)
    return flow


async def granted(flow: Flow, left: str = "allow_for_run", right: str = "allow_for_run") -> Result:
    """Run to the two asks, and answer them."""
    MADE.clear()
    with scripted(answers):
        given = {"left/turn[0]/call[0]/approve": left, "right/turn[0]/call[0]/approve": right}
        return await flow.resume(await flow.run(), given)


def asked_about(result: Result) -> list[str]:
    return [ask.show["tool"] for ask in result.asks]


async def test_a_merged_conversation_has_the_grants_of_all_and_no_others() -> None:
    result = await granted(rooms("append"))
    assert (result.status, asked_about(result)) == ("completed", [])
    assert sorted(MADE) == ["remove a", "remove a", "write a", "write a"]
    assert asked_about(await granted(rooms("append"), left="allow")) == ["write"]
    assert asked_about(await granted(rooms("append"), right="deny")) == ["remove"]
    assert asked_about(await granted(rooms("pick"))) == ["remove"]


async def look_up(word: str) -> str:
    """Look a word up."""
    MADE.append(word)
    if word == "broken":
        raise OSError("no book")
    return f"{word} is a word"


def task(name: str, prompt: str) -> ScriptedAnswer:
    return calling((name, {"prompt": prompt}))


BOOKS: Final = tools(look_up)
reader = Agent("reader", model="openai/small", system="Read.", tools=BOOKS)
researcher = Agent(
    "researcher", model="openai/medium", system="Find facts.", tools=tools(reader.as_tool("reads books"))
)
chief = Agent("lead", model="openai/large", system="Lead.")
TEAM: Final = tools(look_up, researcher.as_tool("look facts up"))


def by_model(**answers: list[Any]) -> Callable[[ModelRequest], Any]:
    return lambda request: answers[request.model.partition("/")[2]].pop(0)


NESTED: Final[dict[str, list[Any]]] = {
    "large": [task("researcher", "foxes?"), "So it is."],
    "medium": [task("reader", "fox?"), "A fox is red."],
    "small": [calling(("look_up", {"word": "fox"})), "It says red."],
}


def nested() -> Callable[[ModelRequest], Any]:
    return by_model(**{model: [*answers] for model, answers in NESTED.items()})


async def test_agents_call_agents_each_in_a_conversation_of_its_own() -> None:
    MADE.clear()
    with scripted(nested()) as script:
        async with room(chief, TEAM).start() as run:
            finished = [
                event.data["metadata"] async for event in run.events() if event.kind == "node_finished"
            ]
            result = await run
    assert (result["text"], results(result["context"]), MADE) == ("So it is.", ["A fox is red."], ["fox"])
    assert result.warnings == ()
    sent = {request.model: [one.content for one in request.messages] for request in script.requests}
    assert sent == {
        "openai/large": ["House style.\n\nLead.", "hi", "", "A fox is red."],
        "openai/medium": ["Find facts.", "foxes?", "", "It says red."],
        "openai/small": ["Read.", "fox?", "", "fox is a word"],
    }
    ids = {request.model: request.session_id.partition("/")[2] for request in script.requests}
    assert ids["openai/small"] == "lead/turn[0]/call[0]/researcher/turn[0]/call[0]/reader"
    offered = {request.model: [spec.name for spec in request.tools] for request in script.requests}
    assert (offered["openai/large"], offered["openai/medium"]) == (["look_up", "researcher"], ["reader"])
    spec = script.requests[0].tools[1]
    assert (spec.name, spec.description) == ("researcher", "look facts up")
    assert spec.parameters["required"] == ["prompt"]
    assert spec.parameters["properties"]["prompt"]["type"] == "string"
    inner = f"{ids['openai/small']}/turn[0]"
    for path in (f"{inner}/ask", f"{inner}/call[0]/make", "lead/turn[0]/call[0]/researcher/turn[1]/ask"):
        assert result.states[path] is NodeState.DONE
    outer = {"parent": "lead", "subagent": "researcher", "call_id": "call_1", "depth": 1}
    below = {"parent": "researcher", "subagent": "reader", "call_id": "call_1", "depth": 2}
    assert [told for told in finished if str(told.get("type", "")).startswith("subagent_call")] == [
        {"type": "subagent_call_start", **outer, "message": "foxes?"},
        {"type": "subagent_call_start", **below, "message": "fox?"},
        {"type": "subagent_call_end", **below, "message": "It says red."},
        {"type": "subagent_call_end", **outer, "message": "A fox is red."},
    ]


async def test_a_subagent_that_fails_is_told_to_the_model_above_but_a_script_fails_the_run() -> None:
    broken = ScriptedAnswer(error="rate_limited")
    with scripted(by_model(large=[task("researcher", "foxes?"), "Sorry."], medium=[broken])):
        result = await room(chief, TEAM).run()
    [text] = results(result["context"])
    assert str(text).startswith("error: RateLimited: ")
    assert (result["text"], result.status) == ("Sorry.", "completed")
    told = result.metadata["lead/turn[0]/call[0]/told"]
    assert (told["type"], told["depth"], told["message"]) == ("subagent_call_error", 1, text)

    def refuses(request: ModelRequest) -> Any:
        assert request.model == "openai/large", "nobody else is asked"
        return task("researcher", "foxes?")

    first, second = NESTED["large"][0], NESTED["medium"][0]
    cases: list[Any] = [
        ([refuses], ScriptFailed, "DF2127 .*AssertionError: nobody else is asked"),
        ([first, second], ScriptEnded, "DF2126"),
    ]
    for answers, error, text in cases:
        with scripted(*answers), pytest.raises(RunFailed, match=text) as caught:
            await room(chief, TEAM).run()
        assert isinstance(caught.value.__cause__, error)


async def test_limits_of_a_subagent_and_of_the_agent_above_stop_it() -> None:
    short = Agent("short", model="openai/small", tools=BOOKS, max_tool_calls=0)
    wants = calling(("look_up", {"word": "a"}), text="I will.")
    with scripted(task("short", "hm?"), wants, "done"):
        result = await room(chief, short.as_tool("hurries")).run()
    assert results(result["context"]) == ["I will.\n\n[stopped by max_tool_calls]"]
    with scripted(task("researcher", "foxes?")) as script:
        result = await room(Agent("lead", model="openai/large", time_limit=1e-9), TEAM).run()
    assert (result["text"], len(script.requests)) == ("", 0)


ASKING: Final = tools(look_up, ask=["look_up"])


async def test_asks_of_a_subagent_pause_the_run_and_its_grants_count_above(tmp_path: Path) -> None:
    MADE.clear()
    helper = Agent("helper", model="openai/small", tools=ASKING)
    box = tools(ASKING, helper.as_tool("helps", ask=["helper(prompt=*book*)"]))
    looks = calling(("look_up", {"word": "fox"}))
    answers = {
        "large": [task("helper", "the book"), calling(("look_up", {"word": "owl"})), "done"],
        "small": [looks, "red"],
    }
    with scripted(by_model(**answers)) as script:
        first = await room(chief, box, tmp_path).run()
        [ask] = first.asks
        assert (ask.id, ask.show["tool"]) == ("lead/turn[0]/call[0]/approve", "helper")
        second = await room(chief, box, tmp_path).resume(first.run_id, {ask.id: "allow"})
        [ask] = second.asks
        assert ask.id == "lead/turn[0]/call[0]/helper/turn[0]/call[0]/approve"
        assert ask.prompt.startswith("helper wants to call look_up")
        third = await room(chief, box, tmp_path).resume(first.run_id, {ask.id: "allow_for_run"})
    assert (third["text"], MADE, len(script.requests)) == ("done", ["fox", "owl"], 5)


DOCUMENT: Final = """
dataflow: 1
nodes:
  lead:
    type: agent.agent
    config:
      model: openai/large
      tools: ["tests.nodes.agent.test_approvals:look_up"]
      subagents:
        - name: researcher
          description: look facts up
          model: openai/medium
          subagents:
            - name: reader
              description: reads
              model: openai/small
              tools: ["tests.nodes.agent.test_approvals:look_up"]
    values: {prompt: hi}
outputs: {text: lead.text}
"""


async def test_subagents_are_settings_in_a_document_and_survive_being_written(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(DOCUMENT)
    read = Flow.load(tmp_path / "team.yaml")
    with Flow("team") as team:
        team.output("text", team.add(chief, prompt="hi", tools=researcher.as_tool("look facts up")).out.text)
    for flow, system in ((read, []), (team, ["Lead."])):
        (tmp_path / "written.json").write_text(json.dumps(flow.to_dict()))
        for one in (flow, Flow.load(tmp_path / "written.json")):
            with scripted(nested()) as script:
                assert (await one.run())["text"] == "So it is."
            assert [said.content for said in script.requests[0].messages] == [*system, "hi"]


async def test_what_is_decided_is_made_of_the_tool_that_was_shown_alone() -> None:
    given = {"turn": Turn(()), "tools": FILES, "answer": "allow", "about": Decided("elsewhere:write")}
    for name, text in (
        ("write", "write is another tool by now; it was not called"),
        ("fly", "no tool has the name"),
    ):
        made = await make({**given, "call": ToolCall("c", name, '{"path": "a"}')}, AgentConfig())
        assert str(made.outputs["result"].message.content).startswith(f"error: {text}")
