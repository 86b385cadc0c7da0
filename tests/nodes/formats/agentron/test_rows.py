# ruff: noqa: E501 - a row is a line
"""The behaviours of workflows of Agentron Studio: each is a row with its number and its outcome."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import Store
from dataflow.durable.ownership import cancel_stored
from dataflow.errors import RunTaken
from dataflow_agent import ModelFailed, ModelRequest, ScriptedAnswer, ScriptedCall, scripted
from tests.nodes.formats.agentron.walking import agent, edge, flow_of, ran, steps, workflow
from tests.nodes.formats.rows import Row, check_rows

#: What is no part of running a workflow that was asked for, with the reason.
LATER: Final = {
    "AG12": "schedules: nothing starts by itself yet",
    "AG13": "schedules",
    "AG14": "schedules",
    "AG15": "schedules",
    "AG16": "schedules",
    "AG17": "schedules",
    "AG22": "server: workflows are kept in files, which have no versions",
}
NIGHTLY: Final = {"id": "nightly", "nodes": [agent("w")], "edges": []}
ASKING: Final = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="request_user_help", arguments={"question": "ok?", "reason": "unsure"}),)
)
HELPED: Final = [
    {"id": "1", "name": "A", "model": "openai/gpt-5"},
    {"id": "2", "name": "B", "model": "openai/gpt-5", "tools": ["request_user_help"]},
    {"id": "3", "name": "C", "model": "openai/gpt-5"},
]
ABC: Final = workflow("abc", "ab", "bc", agents=HELPED)
FORK: Final = workflow("abc", edge("a", "b", "yes"), edge("a", "c"))


def path_of(data: dict[str, Any], *answers: str, **options: Any) -> tuple[str, str]:
    """Return the nodes that ran, and how the run ended."""
    found = ran(data, *answers, **options)
    return found.nodes, found.result.status


def speaks_in_turn(request: ModelRequest) -> str:
    """Count the turns: the next number after that of the last output."""
    told = str(request.messages[-1].content)
    return str(int(told.rpartition("\n")[2]) + 1) if "Output from" in told else "1"


def fifteen_turns() -> tuple[int, str, str]:
    """Look at what the 16th turn is told: how many lines of turns, the first and the last of them."""
    flow = flow_of(workflow("ab", "ab", "ba", maxRounds=8))
    with scripted(speaks_in_turn) as script:
        flow.run_sync()
    told = str(script.requests[-1].messages[-1].content)
    lines = told.partition("Recent turns:\n")[2].partition("\n\n")[0].splitlines()
    return len(lines), lines[0], lines[-1]


async def paused_and_resumed() -> dict[str, Any]:
    """Pause at `b`, and go on from the store alone, as another process would."""
    store = Store.memory()
    with scripted("roses", ASKING, "asked"):
        paused = await flow_of(ABC).using(store=store).run()
    with scripted("so be it") as script:
        resumed = await flow_of(ABC).using(store=store).resume(paused.run_id, {"b/wait": "go"})
    return {
        "paused": [(ask.id, ask.prompt, ask.show) for ask in paused.asks],
        "told": [str(request.messages[-1].content).rpartition("\n\n")[2] for request in script.requests],
        "nodes": [(step["node"], step["output"]) for step in steps(resumed)],
        "status": (paused.status, resumed.status),
    }


async def cancelled_while_it_waits() -> list[str]:
    store = Store.memory()
    with scripted("roses", ASKING, "asked"):
        paused = await flow_of(ABC).using(store=store).run()
    cancel_stored(store, paused.run_id)
    with pytest.raises(RunTaken) as refused:
        cancel_stored(store, paused.run_id)
    return [paused.status, refused.value.code]


def failing() -> tuple[str, str, str]:
    found = ran(workflow("ab", "ab"), "roses", ModelFailed("openai/gpt-5", "boom"))
    path, kind, code = str(found.error).partition(" failed: ")[2].split(": ", 2)
    return found.nodes, found.result.status, f"{path}: {kind}: {code.split()[0]}"


def trail() -> list[tuple[Any, ...]]:
    found = steps(ran(workflow("ab", "ab"), "roses", "red").result)
    return [(step["order"], step["node"], step["output"], step["to"], step["to_agent"]) for step in found]


def branch() -> tuple[str, Any, str]:
    data = workflow("a", branches=[NIGHTLY])
    found = ran(data, branch="nightly")
    return found.nodes, flow_of(data, branch="nightly").wiring.meta["agentron"]["branch"], ran(data).nodes


ROWS: Final = [
    Row("AG01", "rounds count arrivals at the first node", lambda: path_of(workflow("ab", "ab", "ba", maxRounds=3)), ("a b a b a b", "completed")),
    Row("AG02", "a chain is gone through once", lambda: path_of(workflow("abc", "ab", "bc", maxRounds=5)), ("a b c", "completed")),
    Row("AG03", "without edges the nodes run as they are listed", lambda: path_of(workflow("ca")), ("c a", "completed")),
    Row("AG04", "without a limit it is 100", lambda: len(path_of(workflow("ab", "ab", "ba"))[0].split()), 200),
    Row("AG05", "a loop without the first node is limited too", lambda: path_of(workflow("abc", "ab", "bc", "cb", maxRounds=2)), ("a b c b c", "completed")),
    Row("AG06", "the first edge whose condition holds is followed", lambda: (path_of(FORK, "Yes!", "x")[0], path_of(FORK, "no", "x")[0]), ("a b", "a c")),
    Row("AG07", "where none holds, the first edge is", lambda: path_of(workflow("abc", edge("a", "b", "yes"), edge("a", "c", "perhaps")), "no", "x")[0], "a b"),
    Row("AG08", "an agent is told what the one before it gave", lambda: ran(workflow([agent("a", "Poet"), "b"], "ab"), "roses", "x").prompts[1].rpartition("\n\n")[2], "Output from Poet:\nroses"),
    Row("AG09", "and the last 12 turns", fifteen_turns, (12, "B: 4", "A: 15")),
    Row("AG10", "inputs of the run count before parameters", lambda: ran(workflow([agent("a", url="x")]), inputs={"url": "y"}).prompts, ["This is the first turn.\nurl: y"]),
    Row("AG11", "a branch runs alone", branch, ("w", "nightly", "a")),
    Row("AG18", "each call of an agent is a step", trail, [(0, "a", "roses", "b", "B"), (1, "b", "red", None, None)]),
    Row("AG19", "a failure leaves the steps before it", failing, ("a", "failed", "b/agent/turn[0]/ask: ModelFailed: DF2117")),
    Row("AG20", "a reply goes to the next agent", paused_and_resumed, {
        "paused": [("b/wait", "ok?", {"reason": "unsure"})],
        "told": ["Reply of the user:\ngo"],
        "nodes": [("b", "go"), ("c", "so be it")],
        "status": ("paused", "completed"),
    }),
    Row("AG21", "a run that waits is cancelled once", cancelled_while_it_waits, ["paused", "DF1114"]),
]  # fmt: skip


async def test_a_behaviour_is_as_its_row_says(subtests: pytest.Subtests) -> None:
    await check_rows(ROWS, subtests)


def test_each_behaviour_has_a_row_or_a_reason() -> None:
    assert sorted([*(row.id for row in ROWS), *LATER]) == [f"AG{number:02}" for number in range(1, 23)]
