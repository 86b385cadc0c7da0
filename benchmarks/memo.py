"""What a hit costs: a node with a memo whose outcome the process knows, beside its fingerprint alone."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.question import Question, Way, timed
from benchmarks.timing import Work
from dataflow import Flow, ProcessMemo, node
from dataflow.digests import digest
from dataflow.fingerprints import fingerprint
from dataflow.plan import Call

__all__ = ["QUESTION", "WORKS"]

#: How many characters each node is given: a short document, or a prompt.
LENGTH: Final = 4_000


@node(memo="process")
async def shorten(text: str, length: int = 10) -> str:
    """Be a node that is worth remembering."""
    return text[:length]


async def counted(*texts: str) -> int:
    return len(texts)


def texts(size: int) -> dict[str, Any]:
    """Return a text for each node, none like another."""
    return {f"text{number}": f"{number:08}".ljust(LENGTH, "x") for number in range(size)}


def flow_of(size: int) -> Flow:
    """Wire so many nodes side by side, each with a text of its own."""
    with Flow("hits") as flow:
        ends = [flow.add(shorten, text=flow.input(name, str)).out for name in texts(size)]
        flow.output("count", flow.add(counted, *ends).out)
    return flow.using(memo=ProcessMemo(most=size))


def hits(size: int) -> Work:
    """Run the flow again and again; the first run, which is not timed, computes."""
    flow, given = flow_of(size), texts(size)

    async def run() -> Any:
        return (await flow.run(**given))["count"]

    return Work(run, size, size)


def fingerprints(size: int) -> Work:
    """Take the fingerprint of each node, with the digests of what it is given."""
    nodes = flow_of(size).compile().root.nodes
    calls = [node.action for node in nodes if isinstance(node.action, Call) and node.action.memo is not None]
    given = list(texts(size).values())

    async def run() -> int:
        for call, text in zip(calls, given, strict=True):
            fingerprint(call, ("length", "text"), (digest(10), digest(text)))
        return size

    return Work(run, size, size)


WORKS: Final = {Way.ASYNCIO: hits, Way.TRIO: hits, Way.BARE: fingerprints}
QUESTION = Question(
    "memo",
    "{:,} nodes whose outcomes the process knows, beside their fingerprints alone",
    "µs a hit",
    (1_000,),
    timed(WORKS),
)
