"""The example workflow runs as the native document that it becomes."""

from __future__ import annotations

import pytest

from dataflow import Flow, Store
from dataflow_agent import scripted
from tests.nodes.formats.agentflow.flowing import repeated
from tests.nodes.formats.golden import converted


@pytest.mark.anyio
async def test_the_example_goes_round_until_it_is_approved() -> None:
    flow = Flow.load(converted("agentflow/publish")).using(store=Store.memory())
    with scripted(repeated):
        result = await flow.run()
        for answer in ("reject", "approve"):
            (ask,) = result.asks
            result = await flow.resume(result.run_id, {ask.id: answer})
    improved = "R[Improve: R[Improve: draft]]"
    assert result.status == "completed"
    assert result.outputs == {"s": "draft", "w": improved, "z": f"R[Publish {improved}]"}
