"""Calls of tools that somebody is asked about, those that a policy denies, and grants (S10.6, S11.1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import AnswerRefused, ExecutionContext, Flow, Message, Result, merge_contexts, node, this_firing
from dataflow_agent import Agent, ModelRequest, ScriptedAnswer, scripted, tools
from tests.nodes.agent import agent_tools
from tests.nodes.agent.agent_tools import results, room

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


def calling(*calls: tuple[str, str]) -> ScriptedAnswer:
    return agent_tools.calling(*[(name, {"path": path}) for name, path in calls])


def asked(result: Result) -> list[str]:
    return [ask.id for ask in result.asks]


async def test_what_is_denied_is_not_made_and_what_is_always_denied_is_not_offered() -> None:
    MADE.clear()
    with scripted(calling(("read", "/etc/key"), ("read", "a")), "done") as script:
        result = await room(lead, FILES).run()
    assert results(result["context"]) == [
        "error: the call of read was denied: the policy of the tool does not allow it", "read a",
    ]  # fmt: skip
    assert MADE == ["read a"]
    assert [spec.name for spec in script.requests[0].tools] == ["write", "read"]
    with scripted(calling(("write", "a")), "done") as script:
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
    three = calling(("write", "a"), ("read", "b"), ("write", "c"))
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


async def test_an_answer_for_the_run_counts_in_later_rounds_and_later_agents_of_the_run() -> None:
    MADE.clear()
    with Flow("rooms") as flow:
        first = flow.add(lead, prompt="hi", context=flow.context("main"), tools=FILES)
        second = flow.add(lead, prompt="again", context=first.out.context, tools=FILES)
        flow.output("second", second.out.text)
    answers = (calling(("write", "a")), calling(("write", "b")), "first", calling(("write", "c")), "second")
    with scripted(*answers, *answers):
        result = await flow.resume(await flow.run(), {ASK: "allow_for_run"})
        assert (result["second"], MADE) == ("second", ["write a", "write b", "write c"])
        assert asked(await flow.run()) == [ASK]


async def test_a_call_that_nobody_decides_on_in_time_is_denied() -> None:
    with scripted(calling(("write", "a")), "done"):
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
        with scripted(calling(("write", "a")), "done"):
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
