"""F-A03, F-A16: refused, empty and cut answers are failures with their text, or count where it is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from pydantic import BaseModel

from dataflow import Flow, RunFailed
from dataflow_agent import Agent, AnswerCut, Chat, ModelRefused, ScriptedAnswer, chat, scripted, tools
from tests.support.model_wires import Said, model_keys, wire_server

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

HALF: Final = "half of an answer"


class Verdict(BaseModel):
    good: bool


async def weather(city: str) -> str:
    """Tell the weather of a city."""
    return city


def flow_of(server: Any, *, stream: bool, typed: type | None, is_agent: bool, **config: Any) -> Flow:
    settings: dict[str, Any] = {"model": "openai/m", "base_url": server.base_url, "stream": stream, **config}
    with Flow("ask") as flow:
        step: Any
        if is_agent:
            step = flow.add(Agent("lead", retries=2, **settings), prompt="p", tools=tools(weather))
        else:
            step = flow.add(chat.with_(retries=2), prompt="p", config=Chat(answer=typed, **settings))
        flow.output("text", step.out.text)
        if config.get("accept_cut"):
            flow.output("why", step.out.stopped_by if is_agent else step.out.finish_reason)
    return flow


#: What is said; the code of the failure, its text, and how often it is asked for with two retries.
CASES: Final[dict[str, tuple[Said, str, str, int]]] = {
    "a refusal": (Said(refusal="I will not help."), "DF2133", "I will not help.", 1),
    "nothing": (Said(), "DF2134", "", 3),
    "a blank": (Said(text=(" \n",)), "DF2134", "", 3),
    "a limit": (Said(text=(HALF,), finish="length"), "DF2116", HALF, 1),
    "a filter": (Said(text=(HALF,), finish="filter"), "DF2116", HALF, 1),
}


async def each_way(check: Callable[..., Any]) -> None:
    for stream in (True, False):
        for typed, is_agent in ((None, False), (Verdict, False), (None, True)):
            await check(stream=stream, typed=typed, is_agent=is_agent)


@pytest.mark.parametrize("case", CASES)
async def test_a_failure_has_the_text_and_is_tried_again_where_that_may_help(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_keys(monkeypatch)
    said, code, text, times = CASES[case]

    async def check(**way: Any) -> None:
        with wire_server(lambda _: said) as server:
            with pytest.raises(RunFailed) as caught:
                await flow_of(server, **way).run()
            [failure] = caught.value.failures
            assert (failure.code, len(server.asked)) == (code, times)
        assert text in failure.message
        error = caught.value.__cause__
        if isinstance(error, AnswerCut | ModelRefused):
            assert error.text == text
        if isinstance(error, AnswerCut):
            assert error.finish_reason == ("length" if said.finish == "length" else "content_filter")

    await each_way(check)


async def test_a_cut_text_counts_where_it_is_accepted_but_no_cut_calls_and_types(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model_keys(monkeypatch)

    async def check(*, typed: type | None, is_agent: bool, stream: bool) -> None:
        way: dict[str, Any] = {"typed": typed, "is_agent": is_agent, "stream": stream, "accept_cut": True}
        for finish, why in (("length", "length"), ("filter", "content_filter")):
            with wire_server(lambda _: Said(text=(HALF,), finish=finish)) as server:  # noqa: B023
                flow = flow_of(server, **way)
                if typed is not None:
                    with pytest.raises(RunFailed, match="DF2116"):
                        await flow.run()
                    continue
                result = await flow.run()
                assert (result["text"], result["why"], len(server.asked)) == (HALF, why, 1)
        cut_call = Said(text=(HALF,), calls=(("weather", {"city": "Rome"}),), finish="length")
        with wire_server(lambda _: cut_call) as server, pytest.raises(RunFailed, match="DF2116"):
            await flow_of(server, **way).run()
        with wire_server(lambda _: Said(text=("whole",))) as server:
            if typed is None:
                result = await flow_of(server, **way).run()
                assert (result["text"], result["why"]) == ("whole", "answer" if is_agent else "stop")

    await each_way(check)


async def test_a_script_cuts_and_refuses_as_a_provider_does() -> None:
    async def texts(**config: Any) -> Any:
        with (
            scripted(ScriptedAnswer(pieces=("half of ", "an answer"), error="answer_cut")),
            Flow("f") as flow,
        ):
            step = flow.add(chat, prompt="p", config=Chat(model="a/b", **config))
            flow.output("text", step.out.text)
        return (await flow.run())["text"]

    with (
        scripted(ScriptedAnswer(text="no", error="model_refused")),
        pytest.raises(RunFailed, match="DF2133"),
    ):
        await Agent("lead", model="a/b", retries=2)("p")
    with scripted(ScriptedAnswer(text=HALF, error="answer_cut"), "never"):
        reply = await Agent("lead", model="a/b", accept_cut=True)("p")
    assert (reply.text, reply.stopped_by) == (HALF, "length")
    with scripted(ScriptedAnswer(text=HALF, error="answer_cut"), "never"), pytest.raises(RunFailed) as caught:
        await Agent("lead", model="a/b", retries=1)("p")
    assert isinstance(caught.value.__cause__, AnswerCut)
    assert caught.value.__cause__.text == HALF
