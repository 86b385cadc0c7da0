"""How much of a conversation a model is sent: images, and long results of tools (B51)."""

from __future__ import annotations

from typing import Any, Final

from dataflow import ExecutionContext, Image, Message
from dataflow_agent import Agent, Chat, ModelRequest, chat, scripted, tools
from tests.nodes.agent import agent_tools
from tests.nodes.agent.agent_tools import calling

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


def results(request: ModelRequest) -> list[Any]:
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
    assert images(results(requests[2])) == [0, 1]
    sent = results(requests[-1])
    assert images(sent) == [8, 9]
    assert sent[:2] == [("screen 0", OLD), ("screen 1", OLD)]
    assert requests[-1].messages[0] == Message("user", "What is there?")
    assert images(agent_tools.results(context)) == [*range(10)]
    both = [calling(*[("screenshot", {"number": at + number}) for number in (0, 1)]) for at in (0, 2)]
    cases: list[Any] = [(0, []), (1, [3]), (3, [1, 2, 3]), (None, [0, 1, 2, 3])]
    for most, expected in cases:
        requests, _ = await asked(both, max_images=most)
        assert images(results(requests[-1])) == expected


async def test_a_long_result_is_sent_shortened_with_what_is_left_out_and_kept_whole() -> None:
    requests, context = await asked([calling(("read", {"length": LONG}))])
    [sent] = results(requests[-1])
    assert (len(sent), sent[:3], sent[-3:]) == (50_000, "aaa", "zzz")
    assert "a... 106,026 characters ...z" in sent
    assert [len(kept) for kept in agent_tools.results(context)] == [LONG]
    for most, length in ((100, 100), (LONG, LONG), (None, LONG)):
        requests, _ = await asked([calling(("read", {"length": LONG}))], max_result=most)
        assert [len(sent) for sent in results(requests[-1])] == [length]


async def test_of_a_result_in_parts_the_first_texts_are_sent_and_its_images() -> None:
    requests, _ = await asked([calling(("pictures", {"count": 4}))], max_result=100, max_images=None)
    [sent] = results(requests[-1])
    texts = [part for part in sent if isinstance(part, str)]
    assert texts == ["t" * 60, f"{'t' * 10}... 41 characters ...{'t' * 9}", "... 120 characters ..."]
    assert len(sent) == 7


async def test_a_chat_that_goes_on_with_the_conversation_is_bounded_too() -> None:
    shot = Image("image/png", b"\0")
    seen = Message("user", ("look", shot, shot)), Message("assistant", "seen")
    before = ExecutionContext("c").append(*seen, *seen)
    with scripted("done") as script:
        output = await chat({"prompt": "And?"}, before, Chat(model="openai/gpt"))
    contents = [message.content for message in script.requests[0].messages]
    assert contents == [("look", OLD, OLD), "seen", ("look", shot, shot), "seen", "And?"]
    assert output.context is not None
    assert output.context.message_history[0].content == ("look", shot, shot)


async def test_what_is_not_too_much_is_sent_as_it_is() -> None:
    requests, context = await asked(
        [calling(("screenshot", {"number": 1})), calling(("read", {"length": 10}))]
    )
    for sent, said in zip(requests[-1].messages, context.message_history, strict=False):
        assert sent == said
