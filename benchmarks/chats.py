"""What a chat costs beside the bare call of litellm, with a server on the loopback for a provider.

The server runs in a thread of the same process, so each call takes its share of the same interpreter.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from benchmarks.question import Question, Way
from benchmarks.timing import Work, run_on, times_as_long
from dataflow import Flow, Limit, Message, Secret, collect, each, node
from dataflow_agent import Chat, ModelRequest, chat
from dataflow_agent.litellm_loading import load
from dataflow_agent.litellm_requests import arguments_of
from tests.agent.fake_openai import KEY, TEXT, FakeServer, serving

__all__ = ["AT_ONCE", "QUESTIONS", "at_once", "at_once_bare", "in_series", "in_series_bare"]

AT_ONCE: Final = 50
VARIABLE: Final = "KEY_OF_THE_BENCHMARK"
#: What litellm knows of most models; it takes long to find out that it knows no price.
PRICED: Final = {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-6,
                 "output_cost_per_token": 1e-6}  # fmt: skip


def config(server: FakeServer, model: str) -> Chat:
    """Ask the server in the place of OpenAI, with the key that it wants."""
    return Chat(model=f"openai/{model}", base_url=server.url, key=Secret(VARIABLE), stream=False)


async def call(server: FakeServer, model: str, prompt: str) -> str:
    """Make the same call without the engine."""
    import litellm  # the others do without it

    asked = ModelRequest(f"openai/{model}", (Message("user", prompt),), options=config(server, model).options)
    response: Any = await litellm.acompletion(**arguments_of(asked), api_key=KEY)
    return str(response.choices[0].message.content)


def in_series(server: FakeServer, chats: int) -> Work:
    """Chat one after the other, each with a conversation of its own."""
    with Flow("series") as flow:
        text: Any = flow.input("text", str)
        for _ in range(chats):
            text = flow.add(chat, prompt=text, config=config(server, "plain")).out.text
        flow.output("text", text)

    async def run() -> str:
        return str((await flow.run(text="hi"))["text"])

    return Work(run, TEXT, chats)


def in_series_bare(server: FakeServer, chats: int) -> Work:
    """Call one after the other."""

    async def run() -> str:
        text = "hi"
        for _ in range(chats):
            text = await call(server, "plain", text)
        return text

    return Work(run, TEXT, chats)


def at_once(server: FakeServer, chats: int) -> Work:
    """Chat at once, at most so many at a time; the server counts how many it had."""
    with Flow("at once") as flow:
        limited = node(chat).with_(limit="models")
        prompt = each([f"number {number}" for number in range(chats)])
        chats_at_once = flow.add(limited, prompt=prompt, config=config(server, "gated"))
        flow.output("texts", collect(chats_at_once.out.text))
    flow = flow.using(limits={"models": Limit(AT_ONCE)})

    async def run() -> tuple[int, int]:
        return len((await flow.run())["texts"]), server.peak

    return Work(run, (chats, AT_ONCE), chats, partial(begin_anew, server))


def at_once_bare(server: FakeServer, chats: int) -> Work:
    """Call at once, at most so many at a time."""

    async def run() -> tuple[int, int]:
        slots = asyncio.Semaphore(AT_ONCE)

        async def limited(number: int) -> str:
            async with slots:
                return await call(server, "gated", f"number {number}")

        return len(await asyncio.gather(*map(limited, range(chats)))), server.peak

    return Work(run, (chats, AT_ONCE), chats, partial(begin_anew, server))


def begin_anew(server: FakeServer) -> None:
    """Have the server wait again until as many requests run as may, and count them again."""
    server.gate, server.peak = AT_ONCE, 0
    server.reached.clear()


@contextmanager
def provided() -> Iterator[tuple[Any, FakeServer]]:
    """Have litellm loaded, and a server in the place of OpenAI."""
    os.environ[VARIABLE] = KEY
    with warnings.catch_warnings(), serving() as server:
        warnings.simplefilter("ignore")  # what litellm warns of while it is loaded is not ours
        litellm = load("benchmarks")
        litellm.register_model({"plain": PRICED, "gated": PRICED})
        yield litellm, server


def without_calls(litellm: Any, work: Work, answer: Any) -> Work:
    """Do a work while litellm gives an answer that it gave before, at once and without a call."""
    call = litellm.acompletion

    async def answers(**given: Any) -> Any:  # noqa: ARG001 - whatever is asked
        return answer

    async def run() -> object:
        litellm.acompletion = answers
        try:
            return await work.run()
        finally:
            litellm.acompletion = call

    return replace(work, run=run)


def own_share(chats: int) -> float:
    """Return what chats take beside the calls that they make, as a share of what these calls take."""
    with provided() as (litellm, server):
        request = ModelRequest(
            "openai/plain", (Message("user", "hi"),), options=config(server, "plain").options
        )

        async def compare(_: None) -> float:
            answer = await litellm.acompletion(**arguments_of(request), api_key=KEY)
            ours = without_calls(litellm, in_series(server, chats), answer)
            return await times_as_long((ours, in_series_bare(server, chats)))

        return run_on("asyncio", compare, None)


def ratio_at_once(chats: int) -> float:
    """Compare chats at once with calls at once."""
    with provided() as (_, server):
        return run_on("asyncio", times_as_long, (at_once(server, chats), at_once_bare(server, chats)))


QUESTIONS: Final = (
    Question(
        "chat",
        "{:,} chats in series, without the calls that they make",
        "of these calls",
        (50,),
        {Way.ASYNCIO: own_share},
        target=0.02,
    ),
    Question(
        "chats",
        "{:,} chats at once, 50 at a time",
        "times calling litellm",
        (200,),
        {Way.ASYNCIO: ratio_at_once},
    ),
)
