"""What a hit costs: a node with a memo whose outcome the process knows, beside its fingerprint alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from benchmarks.question import Question, Way
from benchmarks.timing import Work, run_on, times_as_long
from dataflow import Flow, ProcessMemo, node
from dataflow.compiler.plan import Call
from dataflow.memo.fingerprints import fingerprint
from dataflow.values.digests import digest

__all__ = ["QUESTIONS", "Shape", "fingerprints", "hits", "in_series", "side_by_side"]

#: How many characters each node is given: a short document, or a prompt.
LENGTH: Final = 4_000

#: So many nodes with a memo, and the inputs of their flow.
Shape = Callable[[int], tuple[Flow, Mapping[str, Any]]]


@node(memo="process")
async def rewrite(text: str, number: int) -> str:
    """Be a node that is worth remembering."""
    return text_of(number) if text else ""


async def counted(*texts: str) -> int:
    return len(texts)


def text_of(number: int) -> str:
    """Make a text like no other."""
    return f"{number:08}".ljust(LENGTH, "x")


def side_by_side(size: int) -> tuple[Flow, Mapping[str, Any]]:
    """Wire nodes side by side, each with a text of its own."""
    texts = {f"text{number}": text_of(number) for number in range(size)}
    with Flow("side by side") as flow:
        ends = [
            flow.add(rewrite, text=flow.input(name, str), number=number).out
            for number, name in enumerate(texts)
        ]
        flow.output("result", flow.add(counted, *ends).out)
    return flow, texts


def in_series(size: int) -> tuple[Flow, Mapping[str, Any]]:
    """Wire nodes in series, each with a text like no other from the one before."""
    with Flow("in series") as flow:
        text = flow.input("text", str)
        for number in range(size):
            text = flow.add(rewrite, text=text, number=number).out
        flow.output("result", text)
    return flow, {"text": text_of(size)}


def hits(shape: Shape, size: int) -> Work:
    """Run the flow again and again; only the first run, which is not timed, computes."""
    flow, given = shape(size)
    memo = ProcessMemo(most=size)
    flow = flow.using(memo=memo)

    async def run() -> tuple[Any, int]:
        result = (await flow.run(**given))["result"]
        return result, memo.stats().entries + memo.stats().misses

    return Work(run, (text_of(size - 1) if shape is in_series else size, 2 * size), size)


def fingerprints(shape: Shape, size: int) -> Work:
    """Take the fingerprint of each node, with the digests of what it is given."""
    actions = [node.action for node in shape(size)[0].compile().root.nodes]
    calls = [action for action in actions if isinstance(action, Call) and action.memo is not None]
    given = [(number, text_of(number)) for number in range(size)]

    async def run() -> int:
        for call, (number, text) in zip(calls, given, strict=True):
            fingerprint(call, ("number", "text"), (digest(number), digest(text)))
        return size

    return Work(run, size, size)


def times_its_fingerprint(shape: Shape, backend: str, size: int) -> float:
    """Return how many times as long a hit takes as its fingerprint alone."""
    return run_on(backend, times_as_long, (hits(shape, size), fingerprints(shape, size)))


def _question(name: str, title: str, shape: Shape, target: float | None = None) -> Question:
    ways = {way: partial(times_its_fingerprint, shape, str(way)) for way in (Way.ASYNCIO, Way.TRIO)}
    return Question(name, title, "times its fingerprint", (1_000,), ways, target)


QUESTIONS = (
    _question("memo", "a hit, of {:,} in series", in_series, 1.5),
    _question("memo-side", "a hit, of {:,} side by side", side_by_side),
)
