"""Workflows run as the native documents that they become; one is the example of the system itself."""

from __future__ import annotations

import pytest

from dataflow import Flow, Result
from dataflow_agent import ModelRequest, scripted
from tests.nodes.formats.agentron.walking import steps
from tests.nodes.formats.golden import converted, original


def numbered(request: ModelRequest) -> str:
    """Answer by the length of what was told, so that runs that are told the same give the same."""
    return f"{request.model} was told {sum(len(str(message.content)) for message in request.messages)}"


def run(flow: Flow) -> Result:
    with scripted(numbered):
        return flow.run_sync(inputs={"mood": "glad"})


@pytest.mark.parametrize("document", ["agentron/turns", "agentron/review.nightly", "agentron/entries"])
def test_the_document_runs_as_the_workflow_does(document: str) -> None:
    first, second = run(original(document)), run(Flow.load(converted(document)))
    assert steps(second) == steps(first)
    assert dict(second.outputs) == dict(first.outputs)


def test_the_example_of_the_document_takes_turns_for_ten_rounds() -> None:
    found = steps(run(original("agentron/turns")))
    assert [step["node"] for step in found] == ["a1", "a2"] * 10
    assert [step["agent"] for step in found[:2]] == ["<agent-1-id>", "<agent-2-id>"]
