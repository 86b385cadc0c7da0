# ruff: noqa: ASYNC240 - files of a test
"""Tool servers that are not there when a call is to be made, which a run that goes on makes again (S11.3)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from dataflow import Flow, Result, RunFailed, Secret, SecretMissing, Store
from dataflow_agent import Agent, ScriptedAnswer, ScriptedCall, ServerFailed, Toolbox, mcp, scripted
from tests.nodes.agent.serving import ON_ASYNCIO, call

SERVER = Path(__file__).with_name("odd_server.py")
ASKS = ScriptedAnswer(tool_calls=(ScriptedCall(name="pid", arguments={}),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a server, which may go away."""
    return Path(shutil.copy(SERVER, tmp_path / "server.py"))


def served(file: Path) -> Toolbox:
    return mcp(sys.executable, str(file), name="odd", ask=["pid"])


def told_in(result: Result) -> list[object]:
    return [one.content for one in result["context"].message_history if one.role == "tool"]


@ON_ASYNCIO
async def test_a_call_that_was_allowed_is_made_once_the_server_is_there_again(file: Path) -> None:
    with Flow("desk") as desk:
        lead = Agent("lead", model="openai/gpt")
        desk.output("context", desk.add(lead, prompt="hi", tools=served(file)).out.context)
    stored = desk.using(store=Store.memory())
    with scripted(ASKS, "done"):
        paused = await stored.run()
        [ask] = paused.asks
        away = file.rename(file.with_suffix(".away"))
        with pytest.raises(RunFailed) as caught:
            await stored.resume(paused.run_id, {ask.id: "allow"})
        [failure] = caught.value.failures
        assert (failure.path, failure.type) == ("lead/turn[0]/call[0]/make", "ServerFailed")
        assert "tool server 'odd': could not be started: exit code 2" in failure.message
        away.rename(file)
        result = await stored.resume(paused.run_id)
    assert result.status == "completed"
    [told] = told_in(result)
    assert str(told).isdigit()


async def test_a_call_that_nobody_is_asked_about_fails_like_one_that_was_allowed(file: Path) -> None:
    box = served(file)
    file.unlink()
    with pytest.raises(ServerFailed, match="DF2231 tool server 'odd':"):
        await call(box, "pid")


async def test_a_call_of_a_server_that_lacks_a_variable_fails_as_well(file: Path) -> None:
    box = mcp(sys.executable, str(file), env={"TOKEN": Secret("NOT_THERE_AT_ALL")}, name="odd")
    with pytest.raises(SecretMissing, match="DF2230 secret 'TOKEN':"):
        await call(box, "pid")
