"""A flow whose run writes records of every kind, and tells in a file what of it is called."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

from dataflow import (
    ExecutionContext,
    Failure,
    Flow,
    Message,
    Node,
    collect,
    each,
    merge,
    merge_contexts,
    node,
    race,
    this_firing,
)

__all__ = ["ANSWERS", "CALLS", "EFFECTS", "made"]

#: In which file it is told, by the variable of the environment that names it.
CALLS: Final = "CALLS"
ANSWERS: Final = {"ask": 7, "sub/confirm": 1}
#: The paths of nodes with an effect.
EFFECTS: Final = ("pay", "thank")


class BrokenError(Exception):
    """What the nodes raise."""


def called() -> None:
    """Write down which firing is called, in one step, so that it stands even if the process is killed."""
    firing = this_firing()
    line = f"{firing.path} {firing.attempt}\n".encode()
    descriptor = os.open(Path(os.environ[CALLS]), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


async def begin() -> int:
    called()
    return 1


async def grow(number: int) -> int:
    called()
    return number * 3


async def kept_number(number: int) -> int:
    called()
    return number


async def noted(number: int) -> ExecutionContext:
    called()
    return ExecutionContext(str(number)).append(Message("user", str(number)))


async def length(context: ExecutionContext) -> int:
    called()
    return len(context.message_history)


def joined(contexts: list[ExecutionContext]) -> ExecutionContext:
    first, second = contexts
    return first.append(*second.message_history)


def is_big(number: int) -> bool:
    return number > 1_000


def is_even(number: int) -> bool:
    return number % 2 == 0


async def listed(number: int) -> list[int]:
    called()
    return list(range(number, number + 3))


async def square(number: int) -> int:
    called()
    await checkpoint()
    return number * number


async def added(numbers: list[int]) -> int:
    called()
    return sum(numbers)


async def halved(number: int) -> int:
    called()
    return number // 2


async def plus(left: int, right: int) -> int:
    called()
    return left + right


async def one_after(number: int) -> int:
    called()
    return 1


def guarded() -> Node[..., int]:
    """Make a node that has no fingerprint, since its closure holds what has no digest."""
    lock = Lock()

    async def locked(number: int) -> int:
        called()
        with lock:
            return number

    return node(name="locked")(locked)


async def unsteady(number: int) -> int:
    """Fail at the first attempt."""
    called()
    if this_firing().attempt == 1:
        raise BrokenError("not yet")
    return number + 1


async def broken(number: int) -> int:
    called()
    raise BrokenError(str(number))


async def told(failure: Failure) -> str:
    called()
    return f"{failure.node}: {failure.message}"


async def quick(number: int) -> str:
    called()
    return f"quick {number}"


async def endless(number: int) -> str:
    """Never come to an end."""
    called()
    await anyio.sleep_forever()
    return str(number)


async def pay(amount: int) -> str:
    called()
    return f"paid {amount}"


async def thank(paid: str) -> str:
    called()
    await checkpoint()
    return f"{paid}, thanks"


def made() -> Flow:
    """Wire the flow."""
    with Flow("sub") as sub:
        number = sub.input("number", int)
        confirmed = sub.ask(int, "sure?", show=number, name="confirm")
        sub.output("sum", sub.add(plus, left=number, right=confirmed.out).out)
    with Flow("killed") as flow:
        start = flow.add(begin)
        with flow.loop(name="rounds", limit=3) as rounds:
            carried = rounds.carry(start.out)
            grown = flow.add(grow, number=carried.out)
            rounds.until(grown.out, is_big)
            carried.next(flow.add(kept_number, number=grown.out).out)  # the test settles before it
            last = rounds.result(grown.out)
        items = flow.add(listed, number=last)
        squares = flow.add(node(square).with_(memo="store"), number=each(items.out))
        total = flow.add(added, numbers=collect(squares.out))
        parity = flow.when(total.out, is_even)
        half = flow.add(halved, number=parity.yes)
        asked = flow.ask(int, "how many?", show=total.out)
        paid = flow.add(node(pay).with_(effect=True), amount=flow.add(sub, number=asked.out).out.sum)
        flow.output("thanks", flow.add(node(thank).with_(effect=True), paid=paid.out).out)
        kept = node(plus).with_(memo="store")
        before = flow.add(kept.with_(name="before"), left=total.out, right=1)
        after = flow.add(
            kept.with_(name="after"), left=total.out, right=flow.add(one_after, number=before.out).out
        )
        flow.output("same", flow.add(guarded().with_(memo="store"), number=after.out).out)
        flow.output("half", merge(half.out, parity.no))
        flow.output("steady", flow.add(node(unsteady).with_(retries=1), number=start.out).out)
        failed = flow.add(node(broken).with_(on_error="route"), number=start.out)
        flow.output("told", flow.add(told, failure=failed.error).out)
        notes = [flow.add(node(noted).with_(name=name), number=start.out).out for name in ("one", "two")]
        flow.output("length", flow.add(length, context=merge_contexts(*notes, how=joined)).out)
        hurry = flow.ask(str, "now?", show=start.out, name="hurry")  # nobody is as quick as `quick`
        lasting = flow.add(endless, number=start.out)
        flow.output("first", race(hurry.out, lasting.out, flow.add(quick, number=start.out).out))
    return flow
