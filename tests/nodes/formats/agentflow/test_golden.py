"""Workflows run as the native documents that they become."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import Flow, Store
from dataflow_agent import scripted
from tests.nodes.formats.agentflow.flowing import repeated
from tests.nodes.formats.golden import converted, documents_of, original

EACH: Final = pytest.mark.parametrize("document", documents_of("agentflow"))


async def run(flow: Flow) -> list[tuple[str, dict[str, Any]]]:
    """Run a flow, reject once and then approve what is asked; tell what each sitting came to."""
    stored = flow.using(store=Store.memory())
    with scripted(repeated):
        results = [await stored.run()]
        for answer in ("reject", "approve"):
            if results[-1].status != "paused":
                break
            (ask,) = results[-1].asks
            results.append(await stored.resume(results[-1].run_id, {ask.id: answer}))
    return [(result.status, dict(result.outputs)) for result in results]


@pytest.mark.anyio
@EACH
async def test_the_document_runs_as_the_workflow_does(document: str) -> None:
    assert await run(Flow.load(converted(document))) == await run(original(document))


@pytest.mark.anyio
async def test_the_example_goes_round_until_it_is_approved() -> None:
    *_, (status, outputs) = await run(original("agentflow/publish"))
    improved = "R[Improve: R[Improve: draft]]"
    assert (status, outputs) == ("completed", {"s": "draft", "w": improved, "z": f"R[Publish {improved}]"})
