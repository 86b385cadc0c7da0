"""Grants of a run in conversations that are merged (S10.4, S10.6)."""

from __future__ import annotations

from typing import Any, Final

from dataflow import ExecutionContext, Flow, Message, Result, merge_contexts
from dataflow_agent import Agent, Merge, ModelRequest, scripted, tools
from dataflow_agent import merge_contexts as merge_in_document
from tests.nodes.agent.agent_tools import calling

MADE: Final[list[str]] = []


async def write(path: str) -> str:
    MADE.append(f"write {path}")
    return "written"


async def remove(path: str) -> str:
    MADE.append(f"remove {path}")
    return "removed"


FILES: Final = tools(write, remove, ask=["*"])
#: What each agent calls first.
CALLS: Final = {"left": ["write"], "right": ["remove"], "last": ["write", "remove"]}


def agent(name: str) -> Agent:
    return Agent(name, model="openai/gpt", system=name)


def answers(request: ModelRequest) -> Any:
    said: Message = request.messages[-1]
    names = CALLS[str(request.messages[0].content)]
    return calling(*[(name, {"path": "a"}) for name in names]) if said.role == "user" else "done"


def room(how: Any, in_document: bool = False) -> Flow:
    with Flow("room") as flow:
        main = flow.context("main")
        sides = [flow.add(agent(name), prompt="go", context=main, tools=FILES) for name in ("left", "right")]
        left, right = (side.out.context for side in sides)
        if in_document:
            config = Merge(how=how, branches=["left", "right"])
            merged = flow.add(merge_in_document, left=left, right=right, config=config).out
        else:
            merged = merge_contexts(left, right, how=how)
        last = flow.add(agent("last"), prompt="go", context=merged, tools=FILES)
        flow.output("context", last.out.context)
    return flow


async def granted(flow: Flow, left: str = "allow_for_run", right: str = "allow_for_run") -> Result:
    """Run to the two asks, and answer them."""
    MADE.clear()
    with scripted(answers):
        given = {"left/turn[0]/call[0]/approve": left, "right/turn[0]/call[0]/approve": right}
        return await flow.resume(await flow.run(), given)


def asked(result: Result) -> list[str]:
    return [ask.show["tool"] for ask in result.asks]


async def test_a_merged_conversation_has_the_grants_of_all_and_no_others() -> None:
    for in_document in (False, True):
        for how in ("append", "results"):
            result = await granted(room(how, in_document))
            assert (result.status, asked(result)) == ("completed", [])
            assert sorted(MADE) == ["remove a", "remove a", "write a", "write a"]
    assert asked(await granted(room("append"), left="allow")) == ["write"]
    assert asked(await granted(room("append"), right="deny")) == ["remove"]
    assert asked(await granted(room("pick"))) == ["remove"]


async def test_grants_of_another_run_are_let_go() -> None:
    result = await granted(room("append"))
    with Flow("later") as later:
        main = later.input("context", ExecutionContext)
        again = later.add(agent("left"), prompt="go", context=main, tools=FILES)
        later.output("context", again.out.context)
    with scripted(answers):
        paused = await later.run(context=result["context"])
        assert asked(paused) == ["write"]
        ended = await later.resume(paused, {paused.asks[0].id: "allow_for_run"})
    [name] = ended["context"].variables
    assert name == f"agent.granted/{ended.run_id}/{__name__}:write"
