"""The report of a workflow: where it means something else here, and what of it is unsound."""

from __future__ import annotations

from tests.nodes.formats.agentron.walking import edge, flow_of, workflow


def test_what_means_the_same_has_no_remarks() -> None:
    flow = flow_of(workflow("abc", "ab", edge("b", "a", "again"), "bc", maxRounds=3))
    assert list(flow.report) == []


def test_schedules_are_kept_for_who_looks() -> None:
    branches = [
        {"id": "n", "name": "Night", "nodes": [], "executionMode": "interval", "schedule": "daily@03:30"},
        {"id": "c", "nodes": [], "executionMode": "continuous"},
    ]
    assert flow_of(workflow("a", branches=branches)).wiring.meta["agentron"] == {
        "name": "small",
        "executionMode": "one_time",
        "branches": [
            {"id": "n", "name": "Night", "executionMode": "interval", "schedule": "daily@03:30"},
            {"id": "c", "executionMode": "continuous"},
        ],
    }
