"""Calls of a provider through litellm, which runs on asyncio only, against a server on the loopback."""

# ruff: noqa: B023 - each function is called in the round that defines it

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from dataflow import Flow, Limit, Message, Result, Retry, RunFailed, Secret, ToolCall, collect, each, node
from dataflow.secrets.known import redacted
from dataflow_agent import (
    Agent,
    AnswerCut,
    Chat,
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelFailed,
    ModelRequest,
    ModelUnavailable,
    Options,
    OptionUnsupported,
    RateLimited,
    Reply,
    RequestRefused,
    StreamInterrupted,
    ToolSpec,
    Usage,
    chat,
    tools,
)
from dataflow_agent.models.providers.litellm import LITELLM, LOGGERS, key_variables
from tests.nodes.agent.agent_tools import add
from tests.nodes.agent.fake_openai import KEY, FakeServer
from tests.support.known_secrets import forgetting


class Verdict(BaseModel):
    is_good: bool
    reason: str


def talk(server: FakeServer, model: str, *, policy: dict[str, Any] | None = None, **config: Any) -> Flow:
    settings = Chat(model=f"openai/{model}", base_url=server.url, **config)
    with Flow("talk") as flow:
        step = flow.add(
            node(chat).with_(**policy or {}), prompt="hi", context=flow.context("c"), config=settings
        )
        flow.output("text", step.out.text)
        flow.output("context", step.out.context)
    return flow


def failure_of(flow: Flow) -> Exception:
    with pytest.raises(RunFailed) as caught:
        flow.run_sync()
    assert isinstance(caught.value.__cause__, Exception)
    return caught.value.__cause__


def test_an_answer_comes_with_its_pieces_and_its_usage(server: FakeServer) -> None:
    for streams in (True, False):

        async def main() -> tuple[list[str], Result]:
            async with talk(server, "plain", stream=streams).start() as run:
                return [piece async for piece in run.stream("text")], await run

        pieces, result = anyio.run(main)
        assert pieces == (["Hell", "o, t", "here"] if streams else ["Hello, there"])
        assert result["text"] == "Hello, there"
        assert [message.content for message in result["context"].message_history] == ["hi", "Hello, there"]
        usage = {"input_tokens": 11, "output_tokens": 7, "cost": None}
        assert result.metadata["chat"] == {"model": "plain", "finish_reason": "stop", "usage": usage}


def test_the_cost_is_told_for_a_model_that_has_a_price_and_the_other_to_who_debugs(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", logger="dataflow.agent.litellm"):
        costs = [
            talk(server, model).run_sync().metadata["chat"]["usage"]["cost"] for model in ("gpt-4o", "plain")
        ]
    assert 0 < costs[0] < 0.01
    assert costs[1] is None
    (record,) = [one for one in caplog.records if one.name == "dataflow.agent.litellm"]
    assert (record.levelname, record.getMessage()[:29]) == ("DEBUG", "openai/plain has no price: Th")


def test_a_session_is_told_to_the_provider_itself_and_to_no_other_server(
    litellm: Any, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(server, "plain").run_sync()
    assert "prompt_cache_key" not in server.asked[0]
    seen: list[dict[str, Any]] = []

    async def answer(**arguments: Any) -> Any:
        seen.append(arguments)
        raise ValueError("seen")

    monkeypatch.setattr(litellm, "acompletion", answer)
    request = ModelRequest("openai/gpt-4o", (Message("user", "hi"),), session_id="run/main")
    with pytest.raises(ValueError, match="seen"):
        anyio.run(LITELLM.answer, request, print)
    assert seen[0]["prompt_cache_key"] == "run/main"


def test_options_and_messages_are_told_as_openai_names_them(server: FakeServer) -> None:
    options: dict[str, Any] = {"temperature": 0.5, "max_tokens": 9, "reasoning_effort": "low"}
    talk(server, "plain", system="Be brief.", **options).run_sync()
    (asked,) = server.asked
    assert asked["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
    ]
    assert {**options, "stream": True}.items() <= asked.items()


def test_an_answer_of_a_type_is_asked_for_by_its_schema(server: FakeServer) -> None:
    with Flow("f") as flow:
        config = Chat(model="openai/plain", base_url=server.url, answer=Verdict)
        flow.output("verdict", flow.add(chat, prompt="Good?", config=config).out.answer)
    assert flow.run_sync()["verdict"] == Verdict(is_good=True, reason="it rhymes")
    told = server.asked[0]["response_format"]["json_schema"]
    assert told["name"] == "answer"
    assert told["schema"]["properties"]["is_good"]["type"] == "boolean"


def test_a_streamed_call_of_a_tool_is_put_together(server: FakeServer) -> None:
    spec = ToolSpec("add", "adds", {"type": "object", "properties": {"a": {"type": "integer"}}})
    options = Options(base_url=server.url)
    request = ModelRequest("openai/tools", (Message("user", "add"),), (spec,), options=options)
    pieces: list[str] = []
    answer = anyio.run(LITELLM.answer, request, pieces.append)
    assert pieces == []
    assert answer.tool_calls == (ToolCall("call_1", "add", '{"a": 1}'),)
    assert (answer.text, answer.finish_reason, answer.usage) == ("", "tool_calls", Usage(11, 7))
    assert server.asked[0]["tools"][0]["function"]["parameters"] == spec.parameters


def test_what_goes_wrong_is_told_as_what_it_is(server: FakeServer) -> None:
    cases: list[Any] = [
        ("limited", RateLimited, "slow down", 60.0),
        ("busy", ModelUnavailable, "overloaded", 4.0),
        ("broken", ModelUnavailable, "it is our fault", None),
        ("long", ContextWindowExceeded, "maximum context length is 8 tokens", None),
        ("odd", RequestRefused, "no such thing", None),
        ("filtered", RequestRefused, "content management policy", None),
        ("cut", StreamInterrupted, "the answer broke off: ", None),
        ("unfinished", StreamInterrupted, "the answer broke off: ", None),
        ("lengthy", AnswerCut, "its finish reason is 'length'", None),
    ]
    for model, kind, told, retry_after in cases:
        server.asked.clear()
        error = failure_of(talk(server, model))
        assert isinstance(error, ModelFailed)
        assert (type(error), error.retry_after) == (kind, retry_after)
        assert told in str(error)
        assert len(server.asked) == 1  # nobody but the engine tries again
    server.url = "http://127.0.0.1:9/v1"
    assert type(failure_of(talk(server, "plain"))) is ModelUnavailable


def test_a_rate_limit_is_tried_again_when_the_provider_says_so(server: FakeServer) -> None:
    flow = talk(server, "limited", policy={"retries": 1, "deadline": 30})
    assert type(failure_of(flow)) is RateLimited  # 60 seconds are beyond the deadline
    server.asked.clear()

    async def main() -> list[float]:
        async with talk(server, "limited", policy={"retries": Retry(1, on=("rate_limit",))}).start() as run:
            async for event in run.events():
                if event.kind == "attempt_failed":
                    run.cancel("that is enough")
                    return [event.data["delay"]]
        return []

    assert anyio.run(main) == [60.0]


def test_cancelling_and_a_timeout_close_the_connection(server: FakeServer) -> None:
    async def main() -> Result:
        async with talk(server, "slow").start() as run:
            await anyio.to_thread.run_sync(server.began.wait)
            run.cancel("enough")
            return await run

    assert anyio.run(main).status == "cancelled"
    assert server.closed.wait(60)
    server.closed.clear()
    assert isinstance(failure_of(talk(server, "slow", policy={"timeout": 3})), TimeoutError)
    assert server.closed.wait(60)


def test_a_key_that_is_missing_is_told_before_any_request_and_one_that_is_refused_is_not_shown(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-key-of-the-test")
    error = failure_of(talk(server, "plain", policy={"retries": 3}))
    assert type(error) is KeyRefused
    assert "[secret:OPENAI_API_KEY]" in str(error)
    assert "sk-wrong-key" not in str(error)
    assert len(server.asked) == 1
    monkeypatch.delenv("OPENAI_API_KEY")
    error = failure_of(talk(server, "plain", policy={"retries": 3}))
    assert type(error) is MissingKey
    assert "set OPENAI_API_KEY in the environment" in str(error)
    assert len(server.asked) == 1
    monkeypatch.setenv("MY_KEY", KEY)
    assert talk(server, "plain", key=Secret("MY_KEY")).run_sync()["text"] == "Hello, there"


def test_the_keys_that_litellm_looks_for_are_known(litellm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("openai", "together_ai", "gemini", "fireworks_ai", "datarobot", "xai"):
        for name in key_variables(os.environ):
            monkeypatch.delenv(name)
        missing = litellm.validate_environment(model=f"{provider}/x")["missing_keys"]
        assert missing
        assert key_variables(missing) == missing


def test_another_key_of_the_environment_is_not_shown_either(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-key-of-two")
    monkeypatch.setenv("TOGETHERAI_API_KEY", "plain")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-of-the-test")
    with forgetting():
        failure_of(talk(server, "plain"))
        assert redacted("AIza-of-the-test, plain") == "[secret:GOOGLE_API_KEY], plain"


def test_an_option_that_the_model_does_not_know_is_told_before_any_request(server: FakeServer) -> None:
    cases: list[Any] = [
        ("gpt-4o", {"reasoning_effort": "low"}, "reasoning_effort"),
        ("gpt-4o", {"web_search": True}, "web_search"),
        ("gpt-5", {"temperature": 0.5}, "temperature"),
    ]
    for model, config, option in cases:
        error = failure_of(talk(server, model, policy={"retries": 3}, **config))
        assert type(error) is OptionUnsupported
        assert option in str(error)
        assert server.asked == []


async def test_on_trio_there_is_an_error_before_the_call(anyio_backend_name: str, server: FakeServer) -> None:
    flow = talk(server, "plain")
    if anyio_backend_name == "asyncio":
        assert (await flow.run())["text"] == "Hello, there"
        return
    with pytest.raises(RunFailed, match="DF2105"):
        await flow.run()
    assert server.asked == []


def test_many_chats_are_in_flight_at_once_and_no_more_than_their_limit(server: FakeServer) -> None:
    server.gate = 50
    config = Chat(model="openai/gated", base_url=server.url)
    with Flow("many") as flow:
        prompt = each([f"number {number}" for number in range(200)])
        step = flow.add(node(chat).with_(limit="models"), prompt=prompt, config=config)
        flow.output("texts", collect(step.out.text))
    result = flow.using(limits={"models": Limit(50)}).run_sync()
    assert result["texts"] == [f"number {number}" for number in range(200)]
    assert (server.peak, len(server.asked)) == (50, 200)


def test_nothing_of_litellm_is_printed_or_logged_by_itself(
    server: FakeServer, capfd: pytest.CaptureFixture[str]
) -> None:
    failure_of(talk(server, "broken"))
    talk(server, "plain").run_sync()
    assert capfd.readouterr() == ("", "")
    handlers = [[type(one) for one in logging.getLogger(name).handlers] for name in LOGGERS]
    assert handlers == [[logging.NullHandler]] * 3


def test_no_task_but_the_one_of_litellm_outlives_a_run(server: FakeServer) -> None:
    def name_of(task: asyncio.Task[Any]) -> str:
        return getattr(task.get_coro(), "__qualname__", "")

    async def main() -> list[str]:
        await talk(server, "plain").run()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        left = {task for task in others if name_of(task) != "LoggingWorker._worker_loop"}
        # The generators of its stream are closed by tasks of a turn or two when the collector finds them.
        _, lasting = await asyncio.wait(left, timeout=60) if left else ((), ())
        return [*map(name_of, lasting)]

    assert anyio.run(main) == []


def test_what_a_tool_gave_is_sent_to_the_provider(server: FakeServer) -> None:
    lead = Agent("lead", model="openai/tools", base_url=server.url, max_tool_calls=1)

    async def ask() -> Reply:
        return await lead("Add.", tools=tools(add))

    reply = asyncio.run(ask())
    assert (reply.text, reply.stopped_by) == ("", "max_tool_calls")
    first, second = server.asked
    assert first["tools"][0]["function"]["name"] == "add"
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool"]
    assert second["messages"][1]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert second["messages"][2]["tool_call_id"] == "call_1"
    told = second["messages"][2]["content"]
    assert told.startswith("error: the arguments do not fit: .b: expected a value")
