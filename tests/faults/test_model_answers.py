"""F-A01, F-A02, F-A03, F-A04, F-A16: answers in four wire formats arrive whole, streamed or not."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dataflow import Message
from dataflow_agent import (
    AnswerCut,
    AnswerEmpty,
    ModelAnswer,
    ModelFailed,
    ModelRefused,
    ModelRequest,
    Options,
    StreamInterrupted,
    ToolSpec,
)
from dataflow_agent.models.providers.litellm import LITELLM
from tests.support.model_wires import MODELS, SHAPES, SIGNATURE, Said, model_keys, wire_server

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

ROME: Final = ("weather", {"city": "Rome"})
OSLO: Final = ("weather", {"city": "Oslo"})
THINKING: Final = ("I look ", "outside.")
TOOL: Final = ToolSpec("weather", "tells it", {"type": "object", "properties": {"city": {"type": "string"}}})
#: What the model says.
ANSWERS: Final[dict[str, Said]] = {
    "text": Said(text=("Hello", " there")),
    "one call": Said(calls=(ROME,), finish="calls"),
    "parallel calls": Said(text=("I ask.",), calls=(ROME, OSLO), finish="calls"),
    "thinking": Said(text=("Hi",), thinking=THINKING),
    "thinking with a call": Said(text=("Hi",), thinking=THINKING, calls=(ROME,), finish="calls"),
    "refusal": Said(refusal="I will not help.", finish="filter"),
    "cut": Said(text=("half of", " it"), finish="length"),
    "cut in a call": Said(calls=(ROME,), finish="length"),
    "filtered": Said(text=("half",), finish="filter"),
    "empty": Said(),
    "blank": Said(text=("  \n",)),
}
#: What an answer is expected to be: its text, its calls and its finish reason, or the error with its text.
EXPECTED: Final[dict[str, Any]] = {
    "text": ("Hello there", (), "stop"),
    "one call": ("", (ROME,), "tool_calls"),
    "parallel calls": ("I ask.", (ROME, OSLO), "tool_calls"),
    "thinking": ("Hi", (), "stop"),
    "thinking with a call": ("Hi", (ROME,), "tool_calls"),
    "refusal": (ModelRefused, "I will not help."),
    "cut": (AnswerCut, "half of it", "length"),
    "cut in a call": (AnswerCut, "", "length"),
    "filtered": (AnswerCut, "half", "content_filter"),
    "empty": (AnswerEmpty,),
    "blank": (AnswerEmpty,),
}
#: What a format says otherwise: Ollama knows neither refusals nor filters, Gemini only filters, whose text
#: litellm drops where it is whole; Anthropic has one stop reason for both. A call of Gemini or Ollama is one
#: piece, so a limit does not cut it, and litellm reports it as complete.
OTHERWISE: Final[dict[tuple[str, str], Any]] = {
    ("ollama", "refusal"): ("I will not help.", (), "stop"),
    ("ollama", "filtered"): ("half", (), "stop"),
    ("gemini", "refusal"): (AnswerCut, "I will not help.", "content_filter"),
    ("anthropic", "filtered"): (ModelRefused, "half"),
    **{(shape, "cut in a call"): ("", (ROME,), "tool_calls") for shape in ("gemini", "ollama")},
}
#: What the provider wants back.
PARTS: Final[dict[tuple[str, str], Any]] = {
    **{(shape, kind): {"reasoning_content": "I look outside."}
       for shape in ("openai", "ollama") for kind in ("thinking", "thinking with a call")},
    **{("anthropic", kind): {"thinking_blocks": [
        {"type": "thinking", "thinking": "I look outside.", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
    ]} for kind in ("thinking", "thinking with a call")},
    ("gemini", "thinking"): {
        "reasoning_content": "I look outside.",
        "provider_specific_fields": {"thought_signatures": [SIGNATURE]},
    },
    ("gemini", "thinking with a call"): {
        "reasoning_content": "I look outside.",
        "provider_specific_fields": {"thought_signatures": [SIGNATURE]},
        "calls": [{"thought_signature": SIGNATURE}],
    },
}  # fmt: skip


def seen(answer: ModelAnswer) -> Any:
    """Return what is compared of an answer: the ids of calls are of the library in some formats."""
    assert all(call.id for call in answer.tool_calls)
    calls = tuple((call.name, json.loads(call.arguments)) for call in answer.tool_calls)
    return (answer.text, calls, answer.finish_reason)


def failed(error: ModelFailed) -> Any:
    shown = [type(error), getattr(error, "text", None), getattr(error, "finish_reason", None)]
    return tuple(one for one in shown if one is not None)


async def asked(shape: str, said: Said, *, stream: bool) -> tuple[Any, ModelAnswer | None, list[str]]:
    pieces: list[str] = []
    with wire_server(lambda _: said, shape) as server:
        options = Options(base_url=server.base_url, stream=stream)
        request = ModelRequest(MODELS[shape], (Message("user", "q"),), (TOOL,), options=options)
        try:
            answer = await LITELLM.answer(request, pieces.append)
        except ModelFailed as error:
            assert len(server.asked) == 1
            return failed(error), None, pieces
        assert len(server.asked) == 1
    return seen(answer), answer, pieces


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("shape", SHAPES)
async def test_an_answer_arrives_whole(
    shape: str, stream: bool, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_keys(monkeypatch)
    for kind, said in ANSWERS.items():
        with subtests.test(kind):
            expected = OTHERWISE.get((shape, kind), EXPECTED[kind])
            if (shape, stream) == ("gemini", False) and expected[-1] == "content_filter":
                expected = (AnswerCut, "", "content_filter")
            found, answer, pieces = await asked(shape, said, stream=stream)
            assert found == expected
            if answer is None:
                continue
            assert "".join(pieces) == answer.text
            assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 7)
            parts = answer.provider_parts
            assert (None if parts is None else json.loads(parts.data)) == PARTS.get((shape, kind))


@pytest.mark.parametrize("shape", MODELS)
async def test_a_stream_without_an_end_is_interrupted(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model_keys(monkeypatch)
    for calls in ((), (ROME,)):
        found, _, pieces = await asked(shape, Said(text=("Hel", "lo"), calls=calls, finish=""), stream=True)
        assert (found, "".join(pieces)) == ((StreamInterrupted,), "Hello")
