"""Calls of tools that somebody is asked about, and those that a policy denies (S10.6, S11.1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import AnswerRefused, ExecutionContext, Flow, Result, ToolCall, node, this_firing
from dataflow.cli import main as command
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, AgentConfig, ScriptedAnswer, ScriptedCall, Toolbox, scripted, tools
from dataflow_agent.approvals import Decided, Unfit
from dataflow_agent.steps import make
from dataflow_agent.turns import Turn
from tests.nodes.agent.agent_tools import results

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
lead = Agent("lead", model="openai/gpt")


def calling(*calls: tuple[str, str]) -> ScriptedAnswer:
    return ScriptedAnswer(
        tool_calls=tuple(ScriptedCall(name=name, arguments={"path": path}) for name, path in calls)
    )


def room(placed: Agent = lead, box: Toolbox = FILES, path: Path | None = None, twice: bool = False) -> Flow:
    with Flow("room") as flow:
        step = flow.add(placed, prompt="hi", context=flow.context("main"), tools=box)
        flow.output("context", step.out.context)
        if twice:
            flow.output(
                "second", flow.add(placed, prompt="again", context=step.out.context, tools=box).out.text
            )
    return flow if path is None else flow.using(store=SqliteStore(path / "runs.db"))


def asked(result: Result) -> list[str]:
    return [ask.id for ask in result.asks]


async def test_what_is_denied_is_told_to_the_model_and_not_made() -> None:
    MADE.clear()
    with scripted(calling(("read", "/etc/key"), ("read", "a")), "done") as script:
        result = await room().run()
    assert results(result["context"]) == [
        "error: the call of read was denied: the policy of the tool does not allow it", "read a",
    ]  # fmt: skip
    assert MADE == ["read a"]
    assert [spec.name for spec in script.requests[0].tools] == ["write", "read"]


async def test_a_tool_of_which_each_call_is_denied_is_not_offered_and_not_called() -> None:
    MADE.clear()
    box = tools(write, read, allow=["read"])
    with scripted(calling(("write", "a")), "done") as script:
        result = await room(box=box).run()
    assert results(result["context"]) == ["error: no tool has the name 'write'; available: read"]
    assert ([spec.name for spec in script.requests[0].tools], MADE) == (["read"], [])


async def test_an_ask_names_agent_tool_and_arguments_and_the_choices() -> None:
    with scripted(calling(("write", "a")), "done"):
        flow = room()
        result = await flow.run()
        [ask] = result.asks
        with pytest.raises(AnswerRefused, match="DF0601"):
            await flow.resume(result, {ask.id: "perhaps"})
    assert ask.id == "lead/turn[0]/call[0]/approve"
    assert ask.prompt == (
        'lead wants to call write with {"path": "a"}. Allow it, deny it, or allow write with any arguments '
        "for the rest of the run?"
    )
    assert ask.show == {"agent": "lead", "tool": "write", "arguments": {"path": "a"}}
    schema = json.dumps(ask.schema)
    assert all(json.dumps(word) in schema for word in ("allow", "allow_for_run", "deny", "reason"))
    assert ask.expires is None


async def test_long_arguments_are_cut_in_the_prompt_and_shown_whole() -> None:
    with scripted(calling(("write", "a" * 1000)), "done"):
        [ask] = (await room().run()).asks
    assert ("aa... 736 characters ...aa" in ask.prompt, len(ask.prompt) < 500) == (True, True)
    assert ask.show["arguments"] == {"path": "a" * 1000}


async def test_asks_of_parallel_calls_are_answered_in_any_order_and_nothing_is_repeated(
    tmp_path: Path,
) -> None:
    MADE.clear()
    three = calling(("write", "a"), ("read", "b"), ("write", "c"))
    with scripted(three, "done") as script:
        flow = room(path=tmp_path)
        first = await flow.run()
        assert asked(first) == ["lead/turn[0]/call[0]/approve", "lead/turn[0]/call[2]/approve"]
        assert MADE == ["read b"]
        denied = {"decision": "deny", "reason": "not on Sundays"}
        second = await room(path=tmp_path).resume(first.run_id, {"lead/turn[0]/call[2]/approve": denied})
        assert (asked(second), MADE) == (["lead/turn[0]/call[0]/approve"], ["read b"])
        third = await room(path=tmp_path).resume(first.run_id, {"lead/turn[0]/call[0]/approve": "allow"})
    assert results(third["context"]) == [
        "wrote a", "read b", "error: the call of write was denied: not on Sundays",
    ]  # fmt: skip
    assert (MADE, len(script.requests)) == (["read b", "write a"], 2)


async def test_a_bare_no_is_told_without_a_reason() -> None:
    with scripted(calling(("write", "a")), "done"):
        flow = room()
        paused = await flow.run()
        result = await flow.resume(paused, {paused.asks[0].id: "deny"})
    assert results(result["context"]) == ["error: the call of write was denied"]


async def test_an_answer_for_the_run_counts_in_later_rounds_and_later_agents_of_the_run(
    tmp_path: Path,
) -> None:
    MADE.clear()
    answers = (calling(("write", "a")), calling(("write", "b")), "first", calling(("write", "c")), "second")
    with scripted(*answers, *answers):
        flow = room(path=tmp_path, twice=True)
        paused = await flow.run()
        result = await room(path=tmp_path, twice=True).resume(
            paused.run_id, {paused.asks[0].id: "allow_for_run"}
        )
        assert (result["second"], MADE) == ("second", ["write a", "write b", "write c"])
        again = await flow.run()
    assert asked(again) == ["lead/turn[0]/call[0]/approve"]


async def test_a_grant_does_not_count_in_another_run_that_has_the_conversation() -> None:
    with scripted(calling(("write", "a")), "done", calling(("write", "b")), "done"):
        flow = room()
        paused = await flow.run()
        result = await flow.resume(paused, {paused.asks[0].id: {"decision": "allow_for_run"}})
        with Flow("other") as other:
            other.add(lead, prompt="hi", context=other.input("context", ExecutionContext), tools=FILES)
        assert asked(await other.run(context=result["context"])) == ["lead/turn[0]/call[0]/approve"]


async def test_a_grant_is_of_one_tool_and_does_not_undo_a_deny() -> None:
    MADE.clear()
    box = tools(write, read, ask=["*"], deny=["*(path=/etc/*)"])
    later = calling(("write", "/etc/a"), ("read", "b"))
    with scripted(calling(("write", "a")), later, "done"):
        flow = room(box=box)
        paused = await flow.run()
        result = await flow.resume(paused, {paused.asks[0].id: "allow_for_run"})
    assert (asked(result), MADE) == (["lead/turn[1]/call[1]/approve"], ["write a"])


async def test_nobody_is_asked_about_a_call_that_cannot_be_made() -> None:
    wrong = ScriptedAnswer(tool_calls=(ScriptedCall(name="write", arguments={"way": 1}),))
    with scripted(wrong, "done"):
        result = await room().run()
    [text] = results(result["context"])
    assert str(text).startswith("error: the arguments do not fit")


async def test_what_was_allowed_is_not_made_of_another_tool_that_has_the_name_by_now() -> None:
    MADE.clear()
    call = ToolCall("c", "write", '{"path": "a"}')
    given = {"call": call, "answer": "allow", "turn": Turn(()), "tools": FILES}
    for tool, text in (
        ("elsewhere:write", "error: write is another tool by now; it was not called"),
        (f"{__name__}:write", "wrote a"),
    ):
        made = await make({**given, "about": Decided(tool)}, AgentConfig())
        assert made.outputs["result"].message.content == text
    assert MADE == ["write a"]


async def test_what_is_told_of_a_call_that_is_not_made_says_whether_it_was_denied() -> None:
    call = ToolCall("c", "write", '{"path": "a"}')
    given = {"call": call, "answer": "deny", "turn": Turn(()), "tools": FILES}
    for about, text in (
        (Decided(f"{__name__}:write"), "error: the call of write was denied"),
        (Unfit("error: it cannot be"), "error: it cannot be"),
    ):
        made = await make({**given, "about": about}, AgentConfig())
        assert made.outputs["result"].message.content == text


async def test_a_call_that_nobody_decides_on_in_time_is_denied() -> None:
    hasty = Agent("lead", model="openai/gpt", approval_expires=0.01)
    with scripted(calling(("write", "a")), "done"):
        flow = room(hasty)
        result = await flow.run()
        while result.status == "paused":
            result = await flow.resume(result)
    assert results(result["context"]) == [
        "error: the call of write was denied: nobody has decided within 0.01 s",
    ]  # fmt: skip


async def test_time_to_answer_is_not_time_of_the_turn() -> None:
    bounded = Agent("lead", model="openai/gpt", time_limit=1000)
    with scripted(calling(("write", "a")), "done"):
        flow = room(bounded)
        paused = await flow.run()
        result = await flow.resume(paused, {paused.asks[0].id: "allow"})
    assert results(result["context"]) == ["wrote a"]


PROGRAM: Final = """
dataflow: 1
nodes:
  files: {type: agent.tools, config: {functions: ["desk_files:write"], ask: [write]}}
  lead:
    type: agent.agent
    config: {model: openai/gpt}
    values: {prompt: hi}
    inputs: {tools: files.tools}
outputs: {text: lead.text}
"""


def test_a_call_is_asked_about_and_answered_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "desk.yaml").write_text(PROGRAM)
    (tmp_path / "desk_files.py").write_text(
        "async def write(path: str) -> str:\n    return f'wrote {path}'\n"
    )
    with scripted(calling(("write", "a"))):
        assert command(["run", "desk.yaml"]) == 3
    assert command(["asks"]) == 0
    told = capsys.readouterr().out.splitlines()
    run, id = told[0].split()[:2]
    assert id == "lead/turn[0]/call[0]/approve"
    assert "allow | allow_for_run | deny" in told[0]
    assert 'lead wants to call write with {"path": "a"}' in told[0]
    assert command(["answer", run, f"{id}=allow"]) == 0
    with scripted("done"):
        assert command(["resume", run]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "text: done"


def nested(levels: int) -> ScriptedAnswer:
    arguments = '{"value": ' + "[" * levels + "]" * levels + "}"
    return ScriptedAnswer(tool_calls=(ScriptedCall(name="keep", arguments=arguments),))


async def keep(value: object) -> str:
    """Keep a value."""
    return "kept"


async def test_arguments_as_deep_as_are_taken_can_be_asked_about_and_deeper_ones_are_told(
    tmp_path: Path,
) -> None:
    with scripted(nested(99), nested(250), "done"):
        flow = room(box=tools(keep, ask=["keep"]), path=tmp_path)
        paused = await flow.run()
        result = await flow.resume(paused, {paused.asks[0].id: "allow"})
    [kept, deep] = results(result["context"])
    assert (kept, str(deep).startswith("error: the arguments are nested too deep")) == ("kept", True)


@node
async def forge(value: object) -> ExecutionContext:
    """Make a conversation with variables that a node of the run has set, RUN in them is the run."""
    written = json.dumps(value).replace("RUN", this_firing().run_id)
    return ExecutionContext("c", variables=json.loads(written))


async def test_a_variable_that_is_no_grant_of_the_run_grants_nothing() -> None:
    cases: list[Any] = [
        ({"agent.granted": {"RUN": [f"{__name__}:write"]}}, True),
        ({"agent.granted/": True}, True),
        ({"agent.granted/RUN": True}, True),
        ({"agent.granted/RUN/": True}, True),
        ({f"agent.granted/RUN/{__name__}:write": False}, True),
        ({f"agent.granted/RUN/{__name__}:write": 1}, True),
        ({f"agent.granted/RUN/{__name__}:read": True}, True),
        ({f"agent.granted/another/{__name__}:write": True}, True),
        ({f"agent.granted/RUN/{__name__}:write": True}, False),
    ]
    for value, is_asked in cases:
        with Flow("room") as flow:
            flow.add(lead, prompt="hi", context=flow.add(forge, value=value).out, tools=FILES)
        with scripted(calling(("write", "a")), "done"):
            result = await flow.run()
        assert asked(result) == ["lead/turn[0]/call[0]/approve"] * is_asked
