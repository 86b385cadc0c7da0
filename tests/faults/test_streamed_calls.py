"""F-A02: each call of tools of an answer is made, however its stream is cut into pieces."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dataflow import RunFailed
from dataflow_agent import Agent, tools
from tests.support.model_wires import Asked, Said, model_keys, openai_chunk, openai_end, wire_server

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

ROME: Final = '{"city": "Rome"}'
OSLO: Final = '{"city": "Oslo"}'
CALLED: Final[list[str]] = []


async def weather(city: str) -> str:
    """Tell the weather of a city."""
    CALLED.append(city)
    return "sunny"


async def clock() -> str:
    """Tell the time."""
    CALLED.append("clock")
    return "noon"


def piece(index: int | None, id_: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    given: dict[str, Any] = {"index": index, "type": "function", "function": function}
    return given if id_ is None else given | {"id": id_}


def calls(*pieces: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [*pieces]}


first, second = piece(0, "k1", "weather", ROME), piece(0, "k2", "weather", OSLO)
#: The pieces that are streamed, and the calls that are made.
FORMS: Final[dict[str, tuple[list[dict[str, Any]], list[str]]]] = {
    "two calls with one index": ([calls(first), calls(second)], ["Rome", "Oslo"]),
    "two calls in one chunk with one index": ([calls(first, second)], ["Rome", "Oslo"]),
    "two calls without arguments with one index": (
        [calls(piece(0, "k1", "clock", "{}")), calls(piece(0, "k2", "clock", "{}"))], ["clock", "clock"],
    ),
    "empty arguments first": ([calls(piece(0, "k1", "clock", "")), calls(second)], ["clock", "Oslo"]),
    "no id": ([calls(piece(0, None, "weather", ROME))], ["Rome"]),
    "an empty id": ([calls(piece(0, "", "weather", ROME))], ["Rome"]),
    "the second has no id": ([calls(first), calls(piece(1, None, "weather", OSLO))], ["Rome", "Oslo"]),
    "no ids, one index": (
        [calls(piece(0, None, "weather", ROME)), calls(piece(0, None, "weather", OSLO))], ["Rome", "Oslo"],
    ),
    "one id at two indexes": (
        [calls(first), calls(piece(1, "k1", "weather", OSLO))], ["Rome", "Oslo"],
    ),
    "the id and the name in each piece": (
        [calls(piece(0, "k1", "weather", ROME[:5])), calls(piece(0, "k1", "weather", ROME[5:]))], ["Rome"],
    ),
    "interleaved": (
        [calls(piece(0, "k1", "weather", "")), calls(piece(1, "k2", "weather", "")),
         calls(piece(1, None, None, OSLO[:4])), calls(piece(0, None, None, ROME[:4])),
         calls(piece(0, None, None, ROME[4:]), piece(1, None, None, OSLO[4:]))], ["Rome", "Oslo"],
    ),
    "with text between": (
        [{"content": "I"}, calls(first), {"content": " ask"}, calls(second)], ["Rome", "Oslo"],
    ),
    "the older form": ([{"function_call": {"name": "weather", "arguments": ROME}}], ["Rome"]),
    "the older form in pieces": (
        [{"function_call": {"name": "weather", "arguments": ROME[:5]}},
         {"function_call": {"arguments": ROME[5:]}}], ["Rome"],
    ),
    "announced and missing": ([{"content": ""}], []),
    "announced and missing after a text": ([{"content": "I ask."}], []),
}  # fmt: skip


def whole(*names: str) -> dict[str, Any]:
    made = [
        {"id": None, "type": "function", "function": {"name": "weather", "arguments": one}} for one in names
    ]
    choice = {"index": 0, "finish_reason": "tool_calls"}
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice | {"message": message}]}


async def run(pieces: list[dict[str, Any]] | None, finish: str) -> tuple[str, int]:
    """Let an agent answer, and return its text, or the code of its failure, and the number of requests."""

    def answer(asked: Asked) -> Any:
        if any(message["role"] == "tool" for message in asked.body["messages"]):
            return Said(text=("done",))
        if pieces is None:
            return whole(ROME, OSLO)
        return [*map(openai_chunk, pieces), *openai_end(finish)]

    CALLED.clear()
    with wire_server(answer) as server:
        lead = Agent("lead", model="openai/m", base_url=server.base_url, stream=pieces is not None, retries=1)
        try:
            return (await lead("go", tools=tools(weather, clock))).text, len(server.asked)
        except RunFailed as error:
            return error.failures[0].code, len(server.asked)


async def test_each_call_is_made_once(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    model_keys(monkeypatch)
    for form, (pieces, expected) in FORMS.items():
        with subtests.test(form):
            finish = "function_call" if "function_call" in json.dumps(pieces) else "tool_calls"
            found = await run(pieces, finish)
            assert found == (("done", 2) if expected else ("DF2134", 2))  # the failure was tried again
            assert sorted(CALLED) == sorted(expected)
    assert await run(None, "tool_calls") == ("done", 2)
    assert sorted(CALLED) == ["Oslo", "Rome"]
