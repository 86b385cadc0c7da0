"""What flows of HiFide are refused for, and what their reports tell."""

from __future__ import annotations

from tests.nodes.formats.hifide.flows import edge, flow_of, node, problems


def passing(*ids: str) -> list[dict[str, object]]:
    return [node(id, "manualInput", message="hi") for id in ids]


def test_a_circle_that_waits_for_nobody_is_refused() -> None:
    found = problems(passing("m", "a", "b"), "a.data b.data", "b.data a.data")
    assert found == ["DF4504 nodes[1]"]


def test_ports_decide_what_an_edge_carries() -> None:
    nodes = [node("u", "userInput"), node("q", "chat")]
    said = {**edge("u q"), "metadata": {"isContextEdge": False, "color": "red"}}
    (remark,) = flow_of({"nodes": nodes, "edges": [said]}).report
    assert (remark.node, remark.here) == ("q", "its ports decide: it carries the context")


def test_what_an_edge_says_of_itself_as_it_is_needs_no_remark() -> None:
    nodes = [node("u", "userInput"), node("q", "chat")]
    said = {**edge("u q"), "metadata": {"isContextEdge": True}}
    assert list(flow_of({"nodes": nodes, "edges": [said]}).report) == []


def test_all_problems_are_told_at_once() -> None:
    nodes = [node("a", "redactor"), {"id": "b"}, *passing("c")]
    found = problems({"nodes": nodes, "edges": [edge("c z")]})
    assert found == ["DF4005 nodes[0]: node 'a'", "DF4003 nodes[1]: node 'b'", "DF4006 edges[0].target"]


def test_two_loops_that_wait_are_two_rounds_of_one() -> None:
    nodes = [node("s", "defaultContextStart"), node("u", "userInput"), node("q", "chat")]
    more = [node("v", "userInput"), node("w", "chat")]
    edges = flow_of([*nodes, *more], "s u", "u q", "q v", "v w", "w u").to_dict()["edges"]
    assert [one["source"] for one in edges if one.get("feedback")] == ["w"]
