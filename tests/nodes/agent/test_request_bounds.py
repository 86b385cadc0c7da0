"""How much a model is sent of images and long results, and images described by another (B51, S10.6)."""

# ruff: noqa: B023 - each function is called in the round that defines it

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import ExecutionContext, Image, Message, NodeState, RunFailed, Secret
from dataflow_agent import Agent, ModelRequest, Options, ScriptedAnswer, scripted, tools
from tests.nodes.agent.agent_tools import calling, results, room

LONG: Final = 156_000


async def screenshot(number: int) -> list[str | Image]:
    """Take a picture of the screen."""
    return [f"screen {number}", Image("image/png", bytes([number]))]


async def read(length: int) -> str:
    """Read a file."""
    return "a" * (length // 2) + "z" * (length - length // 2)


async def pictures(count: int) -> list[object]:
    """Take several pictures, each with a long text."""
    return [part for _ in range(count) for part in ("t" * 60, Image("image/png", b"i"))]


OLD: Final = "[image, image/png: only the newest 2 are sent]"


def sent_results(request: ModelRequest) -> list[Any]:
    return [message.content for message in request.messages if message.role == "tool"]


def images(contents: list[Any]) -> list[int]:
    return [part.data[0] for content in contents for part in content if isinstance(part, Image)]


async def asked(answers: list[Any], **settings: Any) -> tuple[list[ModelRequest], ExecutionContext]:
    lead = Agent("lead", model="openai/gpt", **settings)
    with scripted(*answers, "done") as script:
        reply = await lead("What is there?", tools=tools(screenshot, read, pictures))
    return script.requests, reply.context


async def test_the_newest_images_are_sent_and_all_are_kept() -> None:
    shots = [calling(("screenshot", {"number": number})) for number in range(10)]
    requests, context = await asked(shots)
    assert images(sent_results(requests[2])) == [0, 1]
    sent = sent_results(requests[-1])
    assert images(sent) == [8, 9]
    assert sent[:2] == [("screen 0", OLD), ("screen 1", OLD)]
    assert requests[-1].messages[0] == Message("user", "What is there?")
    assert images(results(context)) == [*range(10)]
    both = [calling(*[("screenshot", {"number": at + number}) for number in (0, 1)]) for at in (0, 2)]
    cases: list[Any] = [(0, []), (1, [3]), (3, [1, 2, 3]), (None, [0, 1, 2, 3])]
    for most, expected in cases:
        requests, _ = await asked(both, max_images=most)
        assert images(sent_results(requests[-1])) == expected


async def test_long_results_are_sent_shortened_and_kept_whole() -> None:
    requests, context = await asked([calling(("read", {"length": LONG}))])
    [sent] = sent_results(requests[-1])
    assert (len(sent), sent[:3], sent[-3:]) == (50_000, "aaa", "zzz")
    assert "a... 106,026 characters ...z" in sent
    assert [len(kept) for kept in results(context)] == [LONG]
    for most, length in ((100, 100), (LONG, LONG), (None, LONG)):
        requests, _ = await asked([calling(("read", {"length": LONG}))], max_result=most)
        assert [len(sent) for sent in sent_results(requests[-1])] == [length]
    requests, _ = await asked([calling(("pictures", {"count": 4}))], max_result=100, max_images=None)
    [sent] = sent_results(requests[-1])
    texts = [part for part in sent if isinstance(part, str)]
    assert texts == ["t" * 60, f"{'t' * 10}... 41 characters ...{'t' * 9}", "... 120 characters ..."]
    assert len(sent) == 7


DOT: Final = Image("image/png", b"\x89PNG dot")
MADE: Final[list[str]] = []


async def look(at: str) -> list[str | Image]:
    """Look at something."""
    MADE.append(at)
    return [f"this is {at}", DOT]


async def say(text: str) -> str:
    return text


async def look_long(count: int) -> list[str | Image]:
    """Look at many things for long."""
    return ["a" * 900 + "z" * 900, *(Image("image/png", bytes([number])) for number in range(count))]


BOX: Final = tools(look, say, look_long)
BOTH: Final = calling(("look", {"at": "a dot"}), ("say", {"text": "hi"}))


def seeing(**settings: Any) -> Agent:
    return Agent("lead", **{"model": "openai/large", "vision_summary": "openai/eyes", **settings})


def answers(request: ModelRequest, eyes: str = "openai/eyes", calls: ScriptedAnswer = BOTH) -> Any:
    if request.model == eyes:
        return "a black dot"
    return calls if request.messages[-1].role == "user" else "done"


async def described_of(count: int, **settings: Any) -> tuple[list[Any], str]:
    """Return what the describing model was sent of so many images and a long text, and what came of it."""
    calls = calling(("look_long", {"count": count}))
    with scripted(lambda request: answers(request, calls=calls)) as script:
        reply = await seeing(**settings)("hi", tools=BOX)
    asked = [request.messages[-1].content for request in script.requests if request.model == "openai/eyes"]
    return asked, results(reply.context)[0]


async def test_the_describing_model_is_sent_the_newest_images_and_the_ends_of_a_long_text() -> None:
    [asked], kept = await described_of(5, max_result=100)
    assert len(asked[0]) == 100
    assert "a... 1,7" in asked[0]
    assert [part.data[0] for part in asked if isinstance(part, Image)] == [3, 4]
    assert kept.startswith("a" * 900 + "z" * 900)
    assert kept.endswith("\n[images: a black dot]")
    for most, count in ((2, 2), (0, 0), (1, 1), (5, 5), (None, 5)):
        found, kept = await described_of(5, max_images=most)
        assert sum(isinstance(part, Image) for content in found for part in content) == count
        assert kept.count(f"[image, image/png: only the newest {most} are sent]") == 5 - count
        assert ("[images: a black dot]" in kept) == bool(count)


async def test_the_server_and_the_key_are_those_of_the_agent_if_the_provider_is() -> None:
    key = Secret("MY_KEY")
    for eyes, options in (
        ("openai/eyes", Options(base_url="http://here", key=key)),
        ("anthropic/eyes", Options()),
    ):
        own = seeing(vision_summary=eyes, base_url="http://here", key=key, max_tokens=9, temperature=0.0)
        with scripted(lambda request: answers(request, eyes)) as script:
            await room(own, BOX).run()
        assert [request.options for request in script.requests if request.model == eyes] == [options]


async def test_a_description_that_failed_is_made_again_and_the_call_is_not(tmp_path: Path) -> None:
    MADE.clear()

    def fails(request: ModelRequest) -> Any:
        broken = ScriptedAnswer(error="model_unavailable")
        return broken if request.model == "openai/eyes" else answers(request)

    with scripted(fails), pytest.raises(RunFailed) as caught:
        await room(seeing(), BOX, tmp_path).run()
    assert [one.path for one in caught.value.failures] == ["lead/turn[0]/call[0]/describe"]
    with scripted(answers) as script:
        result = await room(seeing(), BOX, tmp_path).resume(caught.value.result.run_id)
    assert results(result["context"])[0] == "this is a dot\n[images: a black dot]"
    assert (MADE, len(script.requests)) == (["a dot"], 2)


async def test_images_are_described_by_a_firing_of_its_own_in_the_time_that_is_left() -> None:
    with scripted(answers) as script:
        result = await room(seeing(), BOX).run()
    assert results(result["context"]) == ["this is a dot\n[images: a black dot]", "hi"]
    asked = [request for request in script.requests if request.model == "openai/eyes"]
    assert [one.messages[-1].content for one in asked] == [("this is a dot", DOT)]
    assert result.states["lead/turn[0]/call[0]/describe"] is NodeState.DONE
    assert result.metadata["lead/turn[0]/call[0]/describe"]["model"] == "openai/eyes"

    async def waits(request: ModelRequest) -> Any:
        if request.model == "openai/eyes":
            await anyio.sleep_forever()
        return answers(request)

    with scripted(waits):
        result = await room(seeing(time_limit=2), BOX).run()
    assert results(result["context"])[0] == "this is a dot\n[images, for which no time was left]"
