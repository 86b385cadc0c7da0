"""Rows of the cases on values, secrets and big payloads, with models and tools: B32, B50, B51."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from dataflow import Flow, RunFailed, Secret, SecretFilter
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, Chat, ModelRequest, ScriptedAnswer, chat, scripted, tools
from tests.nodes.agent.agent_tools import calling, results
from tests.nodes.agent.fake_openai import FakeServer
from tests.support.known_secrets import forgetting

lead = Agent("lead", model="openai/gpt")
GIVEN: Final[list[Any]] = []
TOKEN: Final = "tok-9f$&é-of-the-test"
#: How the secret may not be found: as it is, escaped as in JSON, and in percent-encoding.
CLEAR: Final = {TOKEN.encode(), json.dumps(TOKEN)[1:-1].encode(), quote(TOKEN, safe="").encode()}
LONG: Final = 156_000
ODD: Final = "a\ud800b é🙂"


async def give() -> Any:
    """Give what the test wants."""
    return GIVEN[0]


async def reveal(how: str) -> Any:
    """Use a secret as a tool may, and give it away."""
    token = Secret("TOKEN").reveal()
    logging.getLogger("tests").warning("sending %s", token)
    match how:
        case "text":
            return f"the token is {token}"
        case "key":
            return {token: 1, "url": f"https://host/?q={quote(token, safe='')}"}
        case _:
            raise ValueError(f"no entry for {token}")


async def echo(text: str) -> str:
    return text


def room(prompt: str = "hi", **settings: Any) -> Flow:
    with Flow("room") as flow:
        asked = flow.add(
            lead,
            prompt=flow.input("prompt", str, prompt),
            context=flow.context("main"),
            tools=tools(give, reveal),
        )
        sure = flow.ask(bool, "Go on?", show=asked.out.text, name="sure")
        again = flow.add(chat, prompt="again", context=asked.out.context, config=Chat(model="openai/gpt"))
        flow.output("text", asked.out.text)
        flow.output("context", again.out.context)
        flow.output("sure", sure.out)
    return flow.using(**settings)


async def test_what_is_false_in_python_is_a_value_like_any_other() -> None:
    """B32: an empty text reaches the model as an empty message, and is an output."""
    cases: list[Any] = [
        (0, "0"), (0.0, "0.0"), (False, "false"), ("", ""), ([], "[]"), ({}, "{}"), (None, "null"),
    ]  # fmt: skip
    for value, told in cases:
        GIVEN[:] = [value]
        with scripted(calling(("give", {})), told):
            reply = await lead("hi", tools=tools(give))
        [result] = results(reply.context)
        assert (result, type(result), reply.text) == (told, str, told)
        reply.context.check()
        with scripted(told):
            assert (await chat({"prompt": ""}, None, Chat(model="openai/gpt"))).outputs == {"text": told}


def in_clear(data: bytes) -> list[bytes]:
    return [part for part in CLEAR if part in data]


def clear_files(folder: Path) -> list[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    return [file.name for file in files if in_clear(file.read_bytes())]


async def test_a_secret_that_models_and_tools_say_is_in_no_file_and_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """B50: in a prompt, a text, a key, an URL, an error and an answer; the run is resumed with it."""
    monkeypatch.setenv("TOKEN", TOKEN)
    monkeypatch.setattr(caplog.handler, "filters", [SecretFilter()])
    with forgetting(), caplog.at_level(logging.DEBUG):
        Secret("TOKEN").reveal()
        flow = room(store=SqliteStore(tmp_path / "runs.db"))
        used = calling(*[("reveal", {"how": how}) for how in ("text", "key", "error")])
        with scripted(used, f"It is {TOKEN}.", "again") as script:
            paused = await flow.run(prompt=f"Use {TOKEN}.")
        result = await flow.resume(paused.run_id, {"sure": True})
        assert not clear_files(tmp_path)
        assert not in_clear(caplog.text.encode())
        assert "sending [secret:TOKEN]" in caplog.text
    sent = [str(message.content) for message in script.requests[1].messages]
    assert sent[0] == f"Use {TOKEN}."  # inside the run it is what it is
    assert sent[2] == f"the token is {TOKEN}"
    assert f"no entry for {TOKEN}" in sent[4]
    assert result["text"] == f"It is {TOKEN}."  # also after it was read again


def test_a_key_that_a_provider_refuses_is_in_no_file(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B50: the provider quotes the key in its error."""
    key = "sk-wrong-key-that-is-quoted"
    monkeypatch.setenv("WRONG_KEY", key)
    with Flow("refused") as flow:
        config = Chat(model="openai/plain", base_url=server.url, key=Secret("WRONG_KEY"))
        flow.output("text", flow.add(chat, prompt="hi", config=config).out.text)
    with forgetting(), pytest.raises(RunFailed) as caught:
        flow.using(store=SqliteStore(tmp_path / "runs.db")).run_sync()
    assert key not in f"{caught.value} {caught.value.result}"
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"KeyRefused" in written
    assert key.encode() not in written


async def test_long_and_odd_texts_go_through_tools_and_conversations_and_come_back(tmp_path: Path) -> None:
    """B51: a lone surrogate and an emoji, then 156,000 characters; stored and resumed."""

    def answer(request: ModelRequest) -> str | ScriptedAnswer:
        is_prompt = request.messages[-1].role == "user" and request.messages[-1].content != "again"
        return calling(("give", {})) if is_prompt else ODD

    store = SqliteStore(tmp_path / "runs.db")
    flow = room(store=store)
    for result, prompt in ((ODD, ODD), ("x" * LONG, "long")):
        GIVEN[:] = [result]
        with scripted(answer):
            paused = await flow.run(prompt=prompt)
        assert paused.asks[0].show == ODD
        ended = await flow.resume(paused.run_id, {"sure": True})
        said = [message.content for message in ended["context"].message_history]
        assert said == [prompt, "", result, ODD, "again", ODD]
        records = [record.data.encode() for record in store.records(paused.run_id)]
        assert max(map(len, records)) <= 65_536


async def test_a_lone_surrogate_in_arguments_is_told_to_the_model_and_nothing_is_called() -> None:
    """B51: arguments are JSON, which has no such text; whoever wrote them is told."""
    with scripted(calling(("echo", {"text": ODD})), "done"):
        reply = await lead("hi", tools=tools(echo))
    [result] = results(reply.context)
    assert ("the arguments do not fit" in result, reply.text) == (True, "done")
