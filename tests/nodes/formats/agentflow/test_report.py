# ruff: noqa: E501 - what is told is compared whole
"""The report of a workflow: where it means something else here, and what of it is unsound; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.nodes.formats.agentflow.flowing import agent, approval, flow_of, if_, problems, start, workflow

DIAMOND = workflow([start(), "a", "b", "j"], "s>a s>b a>j b>j")
AGAIN = workflow([start(), "a", "b", "c", if_("i", ("equal", "x"))], "s>a a>b a>c b>i c>i i.false>a")


def remarks(data: Any, **options: str) -> list[str]:
    return list(map(str, flow_of(data, **options).report))


def test_what_means_the_same_has_no_remarks() -> None:
    exclusive = [start(), if_("i", ("equal", "x")), approval("p"), "a", "b"]
    assert remarks(workflow(exclusive, "s>i i.condition-0>p p.approve>a p.reject>b i.false>b")) == []


@pytest.mark.parametrize(
    ("data", "options", "told"),
    [
        (DIAMOND, {}, "node 'j': originally runs once for each arrival, from 'a', 'b', and keeps what the last of them gave; here it does too, and its output is the list of what they gave; joins=once has it run once on all"),
        (DIAMOND, {"joins": "once"}, "node 'j': originally runs once for each arrival, from 'a', 'b', and keeps what the last of them gave; here it runs once, on all that arrive"),
        (workflow([start(), if_("i", ("equal", "x"))], "s>i i.false>i"), {}, "node 'i': originally the loop that begins here has no limit; here the run fails after 100 rounds"),
        (workflow([start(), "a"], ""), {}, "node 'a': originally never runs, as nothing leads to it; here it is left out as well"),
        (workflow([start(), if_("i"), "a"], "s>i i.condition-3>a"), {}, "node 'i': originally the connection to 'a' is never followed, as 'condition-3' is no exit of the node; here it is not followed either"),
        (workflow([start(), approval("p"), "a"], "s>p s>a"), {}, "node 'p': originally what stands beside it runs before the answer or after it, or is lost, by their order; here all of it runs without waiting for the answer"),
    ],
)  # fmt: skip
def test_what_is_unsound_or_means_something_else_is_told(
    data: Any, options: dict[str, str], told: str
) -> None:
    assert told in remarks(data, **options)


def test_one_run_for_each_arrival_in_a_loop_is_refused_with_advice() -> None:
    (problem,) = problems(AGAIN)
    assert problem.endswith(
        "node 'i' cannot run once for each arrival: it is part of a loop; load the file with joins=once"
    )
    assert flow_of(AGAIN, joins="once").report


def test_what_is_kept_of_a_file_is_in_the_meta() -> None:
    nodes = [start(), {**agent("a"), "x": 7, "y": None}]
    flow = flow_of(workflow(nodes, "s>a", name="small", version=2))
    assert flow.wiring.meta["agentflow"] == {"version": 2}
    assert flow.to_dict()["nodes"]["a"]["meta"] == {"x": 7}
