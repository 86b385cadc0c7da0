"""What a chat costs beside the call of litellm that it makes, with a server on the loopback for a provider.

The server runs in a thread of the same process, so each call takes its share of the same interpreter.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any, Final

from benchmarks.question import Question, Way
from benchmarks.timing import Work, run_on, times_as_long
from dataflow import Flow, Limit, Message, Secret, collect, each, node
from dataflow_agent import Chat, ModelRequest, chat
from dataflow_agent.models.providers.litellm import load
from dataflow_agent.models.providers.litellm_requests import arguments_of
from tests.nodes.agent.fake_openai import KEY, TEXT, FakeServer, serving

__all__ = ["AT_ONCE", "QUESTIONS", "at_once", "at_once_bare", "in_series"]

AT_ONCE: Final = 50
TIMES: Final = 9
VARIABLE: Final = "KEY_OF_THE_BENCHMARK"
#: What litellm knows of most models; it takes long to find out that it knows no price.
PRICED: Final = {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-6,
                 "output_cost_per_token": 1e-6}  # fmt: skip


def config(server: FakeServer, model: str) -> Chat:
    """Ask the server in the place of OpenAI, with the key that it wants."""
    return Chat(model=f"openai/{model}", base_url=server.url, key=Secret(VARIABLE), stream=False)


async def call(config: Chat, prompt: str) -> str:
    """Make the same call without the engine."""
    import litellm  # the others do without it

    asked = ModelRequest(config.model, (Message("user", prompt),), options=config.options)
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
    asked = config(server, "gated")

    async def run() -> tuple[int, int]:
        slots = asyncio.Semaphore(AT_ONCE)

        async def limited(number: int) -> str:
            async with slots:
                return await call(asked, f"number {number}")

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


class Clock:
    """Calls litellm in the place of itself, and adds up how long its calls take."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self.seconds = 0.0
        self._call = call

    async def acompletion(self, **given: Any) -> Any:
        """Make a call."""
        begun = perf_counter()
        try:
            return await self._call(**given)
        finally:
            self.seconds += perf_counter() - begun


def own_share(chats: int) -> float:
    """Return what chats take beside the calls that they make, as a share of what these calls take.

    Both are timed in the same run, where each chat comes after a call, as it does anywhere. Chats whose
    answers were there beforehand take a third of that: the caches of the processor hold nothing but them.
    """
    with provided() as (litellm, server):
        return run_on("asyncio", share_beside_calls, (litellm, in_series(server, chats)))


async def share_beside_calls(given: tuple[Any, Work]) -> float:
    """Return the median of several times of what a work takes beside its calls, as a share of these."""
    litellm, work = given
    call = litellm.acompletion
    await work.play()  # what is loaded on first use is loaded now
    shares = []
    for _ in range(TIMES):
        clock = Clock(call)
        litellm.acompletion = clock.acompletion
        gc.collect()
        begun = perf_counter()
        await work.play()
        seconds = perf_counter() - begun
        shares.append((seconds - clock.seconds) / clock.seconds)
    litellm.acompletion = call
    return statistics.median(shares)


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
