"""The report of a workflow: what means something else here, and what is kept of a file."""

from __future__ import annotations

from tests.nodes.formats.agentflow.flowing import agent, approval, flow_of, if_, problems, start, workflow

AGAIN = workflow([start(), "a", "b", "c", if_("i", ("equal", "x"))], "s>a a>b a>c b>i c>i i.false>a")


def test_what_means_the_same_has_no_remarks() -> None:
    exclusive = [start(), if_("i", ("equal", "x")), approval("p"), "a", "b"]
    flow = flow_of(workflow(exclusive, "s>i i.condition-0>p p.approve>a p.reject>b i.false>b"))
    assert list(flow.report) == []


def test_one_run_for_each_arrival_in_a_loop_is_refused() -> None:
    assert problems(AGAIN) == ["DF4108 nodes[4]: node 'i'"]
    assert flow_of(AGAIN, joins="once").report


def test_what_is_kept_of_a_file_is_in_the_meta() -> None:
    nodes = [start(), {**agent("a"), "x": 7, "y": None}]
    flow = flow_of(workflow(nodes, "s>a", name="small", version=2))
    assert flow.wiring.meta["agentflow"] == {"version": 2}
    assert flow.to_dict()["nodes"]["a"]["meta"] == {"x": 7}
