"""F-A11: the journal of an agent grows in proportion to what was said."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, Message, RunFailed, Store
from dataflow_agent import Agent, ModelRequest, ScriptedAnswer, ScriptedCall, scripted, tools
from dataflow_agent.turns import Turn, begun_with

SIZE: Final = 8_000


async def page(number: int) -> str:
    """Read a page."""
    words = [f"{number}.{word}" for word in range(SIZE)]
    return " ".join(words)[:SIZE]


def paging(rounds: int) -> Any:
    """Answer with a call in each round, and then with a text."""

    def answer(request: ModelRequest) -> Any:
        number = sum(message.role == "assistant" for message in request.messages)
        if number < rounds:
            return ScriptedAnswer(tool_calls=(ScriptedCall(name="page", arguments={"number": number}),))
        assert len(request.messages) == 2 * rounds + 1
        return "done"

    return answer


def stored_agent(folder: Path) -> Flow:
    with Flow("lead") as flow:
        lead = Agent("lead", model="openai/m", max_tool_calls=1_000)
        step = flow.add(lead, prompt="p", tools=tools(page))
        flow.output("text", step.out.text)
        flow.output("context", step.out.context)
    return flow.using(store=Store.sqlite(str(folder / "runs.db")))


def size_of(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(file.stat().st_size for file in folder.iterdir())


async def test_it_grows_with_the_rounds_and_not_with_their_square(tmp_path: Path) -> None:
    sizes = {}
    for rounds in (10, 40):
        folder = tmp_path / str(rounds)
        folder.mkdir()
        with scripted(paging(rounds)):
            result = await stored_agent(folder).run()
        assert len(result["context"].message_history) == 2 * rounds + 2
        sizes[rounds] = size_of(folder)
    assert sizes[40] < 1_200_000
    assert sizes[40] < 5 * sizes[10]


async def test_a_resumed_turn_goes_on_where_it_was(tmp_path: Path) -> None:
    flow = stored_agent(tmp_path)

    def breaking(request: ModelRequest) -> Any:
        is_late = len(request.messages) > 9
        return ScriptedAnswer(error="model_unavailable") if is_late else paging(8)(request)

    with scripted(breaking), pytest.raises(RunFailed) as caught:
        await flow.run()
    with scripted(paging(8)) as script:
        result = await flow.resume(caught.value.result.run_id)
    assert result["text"] == "done"
    assert len(script.requests) == 4  # of rounds five to eight, and the last
    assert len(result["context"].message_history) == 18


def test_a_turn_of_an_older_journal_goes_on_as_well() -> None:
    older = Turn((Message("user", "p"), Message("assistant", "a")))
    assert [one.content for one in older.saying(Message("user", "q"))] == ["p", "a", "q"]
    newer = Turn(begun_with("p"))
    assert (newer.said[0].content, newer.saying(Message("user", "q"))[1].content) == ("p", "q")


async def test_a_long_text_is_stored_once_for_all_its_copies(tmp_path: Path) -> None:
    with scripted(paging(1)):
        await stored_agent(tmp_path).run()
    text = json.dumps((await page(0))[:200])[1:-1].encode()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        records = [str(data).encode() for (data,) in connection.execute("SELECT data FROM records")]
        blobs = [bytes(data) for (data,) in connection.execute("SELECT data FROM blobs")]
    assert [one for one in records if text in one] == []
    assert len([one for one in blobs if text in one]) == 1
