# ruff: noqa: E501 - what is told is compared whole
"""The report of a workflow: where it means something else here, and what of it is unsound."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import FlowInvalid
from tests.nodes.formats.agentron.walking import agent, edge, flow_of, workflow


def remarks(data: Any, **options: str) -> list[str]:
    return list(map(str, flow_of(data, **options).report))


def test_what_means_the_same_has_no_remarks() -> None:
    assert remarks(workflow("abc", "ab", edge("b", "a", "again"), "bc", maxRounds=3)) == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            workflow("ab", "ab", "ba"),
            (
                "node 'a': originally the loop that begins here has no limit; here it ends after 100 rounds; "
                "`maxRounds` sets another"
            ),
        ),
        (
            workflow("abc", "ab", "bc", "cb", maxRounds=2),
            (
                "node 'b': originally the loop that begins here never ends by itself: rounds count at the first "
                "node alone; here it ends after 2 rounds"
            ),
        ),
        (
            workflow("abc", "ab", "ac"),
            (
                "node 'a': originally the edge to 'c' is never followed, since one before it always is; here it "
                "is not followed either"
            ),
        ),
        (
            workflow("abc", "ab", "cb"),
            "node 'c': originally never runs, as no edge leads to it; here it is left out as well",
        ),
        (
            workflow("ab", edge("a", "b", "yes")),
            (
                "node 'a': originally where no condition holds, the first edge, to 'b', is followed all the same; "
                "here so it is, and the run warns of it"
            ),
        ),
        (
            workflow("ab", edge("a", "b", condition={"type": "mood", "value": "x"})),
            "node 'a': originally the unknown condition 'mood' of the edge to 'b' holds; here it holds as well",
        ),
        (
            workflow("ab", "ab", executionOrder=["b", "a"]),
            "originally `executionOrder` is ignored; here it is ignored as well; the edges count",
        ),
        (
            workflow("", branches=[{"id": "w", "nodes": [agent("w")]}]),
            "originally the workflow itself has no nodes; here only a branch that is named runs: w",
        ),
    ],
)
def test_what_is_unsound_or_means_something_else_is_told(data: Any, told: str) -> None:
    assert told in remarks(data)


def test_who_is_told_of_after_a_join_is_in_the_report() -> None:
    assert remarks(workflow("abcd", edge("a", "b", "left"), edge("a", "c"), "bd", "cd")) == [
        (
            "node 'd': originally is always told the output of 'b', which its first edge comes from; here it is "
            "told the output of the node that ran before it"
        )
    ]


def test_a_loop_with_two_entries_is_in_the_report() -> None:
    data = workflow("abc", edge("a", "b", "b"), "ac", "bc", "cb", maxRounds=2)
    assert (
        "node 'b': originally rounds of this loop begin at one node; here arrivals at c count as well, so "
        "the limit is 2 times as high"
    ) in remarks(data)


def test_with_branches_the_schedule_of_the_workflow_does_not_count() -> None:
    data = workflow("a", branches=[{"id": "w", "nodes": []}]) | {
        "executionMode": "interval",
        "schedule": "60",
    }
    with pytest.raises(FlowInvalid, match="an interval needs a schedule"):
        flow_of(data)
    data["branches"][0]["executionMode"] = "one_time"
    assert remarks(data) == [
        (
            "originally has the branches w; here each runs where the option `branch` names it, and no other is "
            "part of this flow"
        ),
        (
            "originally the workflow's own mode 'interval' does not count, since it has branches; here it does "
            "not count either; only the branches have schedules"
        ),
    ]


def test_what_starts_by_itself_and_does_not_do_so_here_is_told() -> None:
    night = {"id": "n", "nodes": [agent("a")], "executionMode": "interval", "schedule": "daily@02:30"}
    told = "originally starts by itself (interval, daily@02:30); here it runs when it is told to"
    assert remarks(workflow("a", branches=[night]), branch="n") == [told]
    once_more = "originally starts by itself (continuous); here it runs when it is told to"
    assert remarks(workflow("a", executionMode="continuous")) == [once_more]


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
