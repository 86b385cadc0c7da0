"""The example of the system itself runs as the native document that it becomes."""

from __future__ import annotations

from dataflow import Flow
from dataflow_agent import scripted
from tests.nodes.formats.agentron.walking import always, steps
from tests.nodes.formats.golden import converted


def test_the_example_of_the_document_takes_turns_for_ten_rounds() -> None:
    with scripted(always):
        found = steps(Flow.load(converted("agentron/turns")).run_sync(inputs={"mood": "glad"}))
    assert [step["node"] for step in found] == ["a1", "a2"] * 10
    assert [step["agent"] for step in found[:2]] == ["<agent-1-id>", "<agent-2-id>"]
