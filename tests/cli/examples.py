"""Flows for the tests of the command line. Nodes that never end say `begun` when they have begun."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from hashlib import pbkdf2_hmac
from typing import Any, NamedTuple

import anyio
import anyio.lowlevel

from dataflow import SKIP, Flow, Maybe, collect, each, flow, threaded


class Parts(NamedTuple):
    title: str
    words: list[str]


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - what nodes do


async def hello(name: str, times: int = 1) -> str:
    return " ".join([f"hello {name}"] * times)


async def split(text: str) -> Parts:
    return Parts("words", text.split())


async def shout(word: str) -> str:
    return word.upper()


async def join(words: list[str]) -> str:
    return " ".join(words)


async def count(text: str, so_far: int) -> int:
    return so_far + 1


async def same(x: Any) -> Any:
    return x


async def fail(x: Any) -> Any:
    raise ValueError(x or "no such luck")


async def untyped() -> Any:
    return 3


async def skip(x: Any) -> Maybe[str]:
    return SKIP if x is None else str(x)


async def wait(x: Any) -> Any:
    say("begun")
    await anyio.sleep_forever()


def block(x: Any) -> Any:
    say("begun")
    threading.Event().wait()


async def block_loop(x: Any) -> Any:
    say("begun")
    time.sleep(1000)  # noqa: ASYNC251 - what must not be done


async def block_loop_in_c(x: Any) -> Any:
    say("begun")
    pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in which Python calls no handler


async def block_loop_that_hears(x: Any) -> Any:
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, say, "heard")
    await block_loop(x)


def code_of(forked: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])


async def end_a_fork(x: Any) -> Any:
    forked = os.fork()
    if not forked:
        time.sleep(1000)  # noqa: ASYNC251 - in a process of its own
    os.kill(forked, signal.SIGTERM)
    return code_of(forked)


async def ignore_in_a_fork(x: Any) -> Any:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    forked = os.fork()
    if not forked:
        os._exit(signal.getsignal(signal.SIGTERM) is signal.SIG_IGN)
    signal.signal(signal.SIGTERM, before)
    return code_of(forked)


async def serve(x: Any) -> Any:
    """Take Ctrl-C as servers do, end what they do, and pass it on."""
    taken = anyio.Event()
    before = signal.signal(signal.SIGINT, lambda *_: taken.set())
    say("begun")
    while not taken.is_set():  # noqa: ASYNC110 - a handler cannot wake the loop
        await anyio.sleep(0.01)
    await anyio.sleep(1)
    say("cleaned up")
    signal.signal(signal.SIGINT, before)
    signal.raise_signal(signal.SIGINT)
    await anyio.sleep_forever()


async def block_other_thread(x: Any) -> Any:
    say("begun")
    await anyio.to_thread.run_sync(threading.Event().wait, abandon_on_cancel=True)


async def swallow(x: Any) -> Any:
    say("begun")
    while True:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            say("swallowed")


async def interrupt(x: Any) -> Any:
    signal.raise_signal(signal.SIGINT if x is None else signal.Signals(x))
    await anyio.sleep_forever()


async def leave(x: Any) -> Any:
    sys.exit(3)


async def chat(x: Any) -> Any:
    """Write to standard output in every way."""
    say("printed")
    os.write(1, b"written\n")
    await anyio.run_process([sys.executable, "-c", "print('started')"], stdout=None)
    return x


def of_one(node: Callable[..., Any]) -> Flow:
    made = Flow("one")
    made.output("out", made.add(node, x=made.input("x", Any, None)).out)
    return made


class Opaque:
    """What no store can keep."""


async def opaque() -> Opaque:
    return Opaque()


async def hidden() -> Any:
    return Opaque()


async def once(x: Any) -> Any:
    """Wait for ever the first time, in a process that is to be killed; later find the mark that it leaves."""
    mark = anyio.Path("once")
    if not await mark.exists():
        await mark.touch()
        await wait(x)
    return x


async def until_there(x: Any) -> Any:
    """Wait, in a process of its own, until a file is there that another process makes."""
    say("begun")
    while not await anyio.Path("there").exists():  # noqa: ASYNC110 - another process tells by a file
        await anyio.sleep(0.01)
    return x


with Flow("greet") as greet:
    greet.output(
        "text", greet.add(hello, name=greet.input("name", str), times=greet.input("times", int, 1)).out
    )

with Flow("rounds") as rounds:
    text = rounds.input("text", str, "an ox a fox")
    first = rounds.add(split, text=text)
    with rounds.loop(name="refine", limit=5) as it:
        carried = it.carry(0)
        parts = rounds.add(split, text=text)
        loud = rounds.add(shout, word=each(parts.out.words))
        joined = rounds.add(join, words=collect(loud.out))
        counted = rounds.add(count, text=joined.out, so_far=carried.out)
        it.until(counted.out, lambda number: number >= 2)
        carried.next(counted.out)
        result = it.result(joined.out)
    rounds.output("text", result)
    rounds.output("title", first.out.title)

with Flow("limited") as limited:
    with limited.loop(name="again", limit=2) as again:
        start = again.carry("x")
        step = limited.add(same, x=start.out)
        again.until(limited.add(count, text="x", so_far=0).out, lambda _: False)
        start.next(step.out)
        last = again.result(step.out)
    limited.output("out", last)

with Flow("several") as several:
    several.output("left", several.add(fail, x="left\nside").out)
    several.output("right", several.add(fail, x="right side").out)

wide = Flow("wide")
for number in range(60):
    wide.output(f"out{number}", wide.add(same, x=number).out)

fails, skips, waits = of_one(fail), of_one(skip), of_one(wait)
blocks, blocks_loop, blocks_other = of_one(threaded(block)), of_one(block_loop), of_one(block_other_thread)
blocks_in_c, blocks_and_hears = of_one(block_loop_in_c), of_one(block_loop_that_hears)
serves = of_one(serve)
ends_a_fork, ignores_in_a_fork = of_one(end_a_fork), of_one(ignore_in_a_fork)
swallows, interrupts = of_one(swallow), of_one(interrupt)
leaves, chats, passes = of_one(leave), of_one(chat), of_one(same)

with Flow("review") as review:
    draft = review.add(hello, name=review.input("name", str, "Ada"))
    publish = review.ask(bool, "Publish it?", show=draft.out, name="publish")
    title = review.ask(str, "Under which title?", name="title", expires=86_400.0, default="untitled")
    ways = review.when(publish.out, bool)
    review.output("title", review.add(shout, word=title.out).out)
    review.output("publish", ways.yes)

with Flow("either") as either:
    exits = either.when(either.add(same, x=1).out, bool)
    either.output("yes", exits.yes)
    either.output("no", exits.no)

with Flow("killed") as killed:
    begun = killed.add(hello, name="Ada")
    killed.output("out", killed.add(once, x=begun.out).out)

with Flow("waiting") as waiting:
    asked = waiting.ask(str, "Which word?", name="word")
    other = waiting.add(until_there, x=1)
    waiting.output("word", waiting.add(shout, word=asked.out).out)
    waiting.output("other", waiting.add(same, x=other.out).out)

with Flow("opaques") as opaques:
    opaques.output("out", opaques.add(opaque).out)

with Flow("hides") as hides:
    hides.output("out", hides.add(hidden).out)

with Flow("misfit") as misfit:
    misfit.output("out", misfit.add(hello, name=misfit.add(untyped).out).out)

unsound = Flow("unsound")
add_unsound: Any = unsound.add
unsound.connect("nobody", "there.x")
unsound.output("out", add_unsound(hello).out)


@flow
def untraceable(f: Flow) -> Any:
    raise LookupError("not wired")
