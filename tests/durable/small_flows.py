"""Small flows for tests with several processes; their nodes tell in a file that they are called."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio

from dataflow import Flow, node, this_firing
from tests.durable.killed_flow import CALLS, called
from tests.properties.playing import flow_of
from tests.properties.random_flows import ASKING, Program, sample

__all__ = ["dying", "lines", "program_of", "random_flow", "sending", "two_branches"]


async def wait() -> None:
    """Wait until somebody has opened and closed the pipe beside the file of calls."""
    await anyio.to_thread.run_sync(Path(f"{os.environ[CALLS]}-gate").read_bytes)


async def a() -> str:
    called()
    return "a"


async def b(before: str) -> str:
    called()
    return f"{before}b"


async def dies(before: str) -> str:
    """Die with the process at the first attempt, when it is told that this is called."""
    called()
    if this_firing().attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"{before}b"


async def c(before: str, answer: str) -> str:
    called()
    return f"{before}c {answer}"


async def send(answer: str) -> str:
    """Send, and be busy with it until somebody has opened and closed the pipe."""
    called()
    await wait()
    return answer


async def source() -> int:
    called()
    return 1


async def busy(number: int) -> int:
    """Work until somebody has opened and closed the pipe."""
    called()
    await wait()
    return number + 1


async def more(number: int) -> int:
    called()
    return number + 1


async def even_more(number: int) -> int:
    called()
    return number + 1


async def passed(answer: str) -> str:
    called()
    return answer


async def joined(*parts: object) -> list[object]:
    called()
    return list(parts)


def lines(_seed: int) -> Flow:
    """Wire a -> b -> ask -> c."""
    with Flow("lines") as flow:
        first = flow.add(b, before=flow.add(a).out)
        asked = flow.ask(str, "go?", show=first.out)
        flow.output("out", flow.add(c, before=first.out, answer=asked.out).out)
    return flow


def dying(_seed: int) -> Flow:
    """Wire the same; b dies in its body, when the record that it has started is committed."""
    with Flow("dying") as flow:
        first = flow.add(node(dies).with_(name="b", effect=True), before=flow.add(a).out)
        asked = flow.ask(str, "go?", show=first.out)
        flow.output("out", flow.add(c, before=first.out, answer=asked.out).out)
    return flow


def sending(_seed: int) -> Flow:
    """Wire a -> ask -> send."""
    with Flow("sending") as flow:
        asked = flow.ask(str, "send?", show=flow.add(a).out)
        flow.output("out", flow.add(send, answer=asked.out).out)
    return flow


def two_branches(_seed: int) -> Flow:
    """Wire a branch that asks beside one that works for a while."""
    with Flow("branches") as flow:
        begun = flow.add(source)
        asked = flow.ask(str, "go?", show=begun.out, name="x")
        x1 = flow.add(node(passed).with_(name="x1"), answer=asked.out)
        y = flow.add(node(busy).with_(name="y"), number=begun.out)
        y1 = flow.add(node(more).with_(name="y1"), number=y.out)
        z = flow.add(node(even_more).with_(name="z"), number=y1.out)
        flow.output("out", flow.add(node(joined).with_(name="join"), x1.out, z.out).out)
    return flow


def program_of(seed: int) -> Program:
    return sample(seed, most=25, breaking=False, weights=ASKING)


def random_flow(seed: int) -> Flow:
    return flow_of(program_of(seed).document)
