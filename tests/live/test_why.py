"""What a session, and a result, tell of a node that is named alone and has no port `out`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dataflow import DataflowError, ExecutionContext, Flow, NodeOutput, Port, Ports, RunFailed, Step, node


@node(ports=lambda _: Ports({"text": str}, {"head": str, "tail": Port(str, conditional=True)}))
async def cut(inputs: Mapping[str, Any], context: ExecutionContext | None, config: object) -> NodeOutput:
    head, _, tail = inputs["text"].partition(" ")
    if not head:
        raise ValueError("nothing to cut")
    return NodeOutput({"head": head, "tail": tail} if tail else {"head": head})


def cutting() -> tuple[Flow, Step[Any]]:
    with Flow("cutting") as flow:
        step = flow.add(cut, text=flow.input("text", str))
        flow.output("head", step.out.head)
    return flow, step


async def test_a_session_tells_of_a_node_by_its_id_or_step() -> None:
    flow, step = cutting()
    async with flow.live(text="a") as session:
        assert session.why("cut") == "node 'cut' has not been computed: nobody has asked for it"
        assert await session.get("head") == "a"
        for named in ("cut", step):  # although one of its ports has no value
            assert session.why(named) == "node 'cut' was computed in revision 1"
        await session.update(text="")
        assert session.why("cut").splitlines() == [
            "node 'cut' is stale, and nobody has asked for it since",
            "  because input 'text' changed in revision 2",
        ]
        with pytest.raises(RunFailed):
            await session.get("head")
        assert session.why(step).splitlines() == [
            "node 'cut' has no value",
            "  because cut failed: ValueError: nothing to cut",
        ]


async def test_a_result_tells_of_a_node_by_its_step() -> None:
    flow, step = cutting()
    result = await flow.run(text="a")
    assert result.why(step) == result.why("cut") == "cut is done"


async def test_a_name_of_neither_a_port_nor_a_node_is_refused() -> None:
    flow, _ = cutting()
    named: Any
    async with flow.live(text="a") as session:
        for named in ("cut.out", "cut_2", 3, cutting()[1]):  # the last is a step of another flow
            with pytest.raises(DataflowError):
                session.why(named)
