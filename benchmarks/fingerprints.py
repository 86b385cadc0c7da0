"""What it costs to tell firings apart: digests of small values, fingerprints of a node with two inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from benchmarks.question import Question, Way, timed
from benchmarks.timing import Work
from dataflow import Flow
from dataflow.compiler.plan import Call
from dataflow.memo.fingerprints import fingerprint
from dataflow.values.digests import digest

__all__ = ["QUESTIONS", "WORKS"]

SMALL: Final[tuple[Any, ...]] = (7, True, None, 0.5, "text")
RATE = 3


async def add(left: int, right: str, twice: bool = False) -> Any:
    """Be a node with two inputs, a default and a constant of its module."""
    return left * RATE, right, twice


def call_of_add() -> Call:
    """Place the node in a flow, and return what calls it."""
    with Flow("added") as flow:
        flow.output("out", flow.add(add, left=flow.input("left", int), right=flow.input("right", str)).out)
    (call,) = [node.action for node in flow.compile().root.nodes if isinstance(node.action, Call)]
    return call


def repeated(once: Callable[[], object], units: int, size: int) -> Work:
    """Do something so many times that it comes to `size` units."""

    async def run() -> int:
        for _ in range(size // units):
            once()
        return size

    return Work(run, size, size)


def digests(size: int) -> Work:
    """Digest small values in turn."""

    def once() -> None:
        for value in SMALL:
            digest(value)

    return repeated(once, len(SMALL), size)


def hashes(size: int) -> Work:
    """Take the hash of the type and the value, which is no digest: it means nothing in another process."""

    def once() -> None:
        for value in SMALL:
            hash((type(value), value))

    return repeated(once, len(SMALL), size)


def fingerprints(size: int) -> Work:
    """Take fingerprints, with the digests of two inputs."""
    call = call_of_add()
    return repeated(
        lambda: fingerprint(call, ("left", "right"), (digest(7), digest("text"))),
        1,
        size,
    )


WORKS: Final = {
    "digests": {Way.ASYNCIO: digests, Way.BARE: hashes},
    "fingerprints": {Way.ASYNCIO: fingerprints},
}
QUESTIONS: Final = (
    Question("digests", "{:,} digests of small values", "µs a digest", (10_000,), timed(WORKS["digests"])),
    Question(
        "fingerprints",
        "{:,} fingerprints of a node with two inputs",
        "µs a fingerprint",
        (10_000,),
        timed(WORKS["fingerprints"]),
    ),
)
