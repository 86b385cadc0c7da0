"""A small real model through the whole way: flow, chat, litellm, HTTP. Shapes are asserted, not what it says.

`python -m pytest -m real_model` runs these; they need the packages that `small_model` names.
"""

# ruff: noqa: B023 - each function is called in the round that defines it

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import anyio
import pytest
from pydantic import BaseModel

from dataflow import ExecutionContext, Flow, Result, Secret
from dataflow_agent import Chat, chat
from tests.nodes.agent.small_model import SmallModel, missing_packages, serving_model

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(bool(missing_packages()), reason=f"not installed: {', '.join(missing_packages())}"),
]
KEY = "key-of-nobody"


class Animal(BaseModel):
    name: str
    kind: Literal["mammal", "bird", "fish"]
    is_tame: bool


@pytest.fixture(scope="module")
def model(litellm: Any) -> Iterator[SmallModel]:
    with serving_model() as found:
        yield found


@pytest.fixture
def settings(model: SmallModel, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("KEY_OF_THE_SMALL_MODEL", KEY)
    return {
        "model": "openai/small", "base_url": model.url, "key": Secret("KEY_OF_THE_SMALL_MODEL"),
        "temperature": 0, "max_tokens": 400,
    }  # fmt: skip


def talk(settings: dict[str, Any], **more: Any) -> Flow:
    with Flow("talk") as flow:
        config = Chat(**{**settings, **more})
        said = flow.add(
            chat,
            prompt=flow.input("prompt", str, "What is the capital of France? Answer in one sentence."),
            context=flow.input("context", ExecutionContext, ExecutionContext("c")),
            config=config,
        )
        flow.output("text", said.out.text)
        flow.output("context", said.out.context)
        if "answer" in more:
            flow.output("answer", said.out.answer)
    return flow


def test_a_chat_has_an_answer_its_pieces_and_its_usage(settings: dict[str, Any]) -> None:
    for streams in (True, False):

        async def main() -> tuple[list[str], Any]:
            async with talk(settings, stream=streams).start() as run:
                return [piece async for piece in run.stream("text")], await run

        pieces, result = anyio.run(main)
        assert result["text"].strip()
        assert "".join(pieces) == result["text"]
        assert len(pieces) > 1 or not streams
        assert [message.role for message in result["context"].message_history] == ["user", "assistant"]
        told = result.metadata["chat"]
        assert (told["finish_reason"], told["usage"]["input_tokens"] > 10) == ("stop", True)
        assert 0 < told["usage"]["output_tokens"] <= 400


def test_an_answer_is_of_the_type_that_was_asked_for(settings: dict[str, Any]) -> None:
    found = talk(settings, answer=Animal).run_sync(prompt="Describe a dog as JSON.")["answer"]
    assert isinstance(found, Animal)


def test_a_chat_that_is_cancelled_stops_the_model(settings: dict[str, Any], model: SmallModel) -> None:
    async def main() -> Result:
        prompt = "Write the numbers from one to one thousand, in words, each on a line of its own."
        async with talk(settings, max_tokens=1900).start(prompt=prompt) as run:
            async for _ in run.stream("text"):
                break
            run.cancel()
            return await run

    assert anyio.run(main).status == "cancelled"
    model.wait_for("cancel task")
