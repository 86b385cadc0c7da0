"""What a live session counts, and what it tells of a node that runs other code."""

from __future__ import annotations

from dataflow import Flow, fallback, gather, merge
from tests.compiler.typed_nodes import total


async def inc(number: int) -> int:
    return number + 1


async def dec(number: int) -> int:
    return number - 1


def joined() -> Flow:
    with Flow("joined") as flow:
        left, right = flow.add(inc, flow.input("x", int, 1)), flow.add(inc, flow.input("y", int, 1))
        flow.output("total", flow.add(total, gather(left.out, right.out)).out)
        flow.output("first", merge(left.out, right.out))
        flow.output("sure", fallback(left.out, right.out))
    return flow


async def test_nodes_that_would_be_looked_at_are_stale_and_joins_are_no_nodes() -> None:
    async with joined().live() as session:
        assert session.counts.stale == 3
        await session.get("total")
        assert session.counts.stale == 0
        await session.update(x=2)
        assert session.counts.stale == 2
        assert await session.get("first") == 3
        assert session.counts.stale == 1
        await session.get("total")
        assert session.counts.stale == 0


async def test_what_gets_the_same_again_is_counted_as_reused() -> None:
    async def sign(number: int) -> int:
        return -1 if number < 0 else 1

    with Flow("f") as flow:
        flow.output("y", flow.add(inc, flow.add(sign, flow.input("x", int, 1)).out).out)
    async with flow.live() as session:
        await session.get("y")
        await session.update(x=2)
        await session.get("y")
        assert (session.counts.called, session.counts.reused) == (3, 1)


async def test_why_names_the_node_that_runs_other_code() -> None:
    async with joined().live() as session:
        assert await session.get("total") == 4
        await session.replace("inc", dec)
        told = "because inc runs other code since revision 2"
        assert session.why("total").splitlines()[1:] == [f"  {told}"]
        assert session.why("inc.out").splitlines()[1:] == [f"  {told}"]
        assert await session.get("total") == 2
        assert told in session.why("total")
        await session.update(x=5)
        assert await session.get("total") == 6
        assert "other code" not in session.why("total")
        assert "input 'x' changed in revision 3" in session.why("total")
        await session.update(y=5)
        assert await session.get("total") == 10
        assert "input 'y' changed in revision 4" in session.why("total")
