"""What flows of HiFide are refused for, and what their reports tell."""

from __future__ import annotations

from tests.nodes.formats.hifide.flows import edge, flow_of, node, problems


def passing(*ids: str) -> list[dict[str, object]]:
    return [node(id, "manualInput", message="hi") for id in ids]


def test_a_circle_that_waits_for_nobody_is_refused() -> None:
    found = problems(passing("m", "a", "b"), "a.data b.data", "b.data a.data")
    assert [problem.partition(";")[0] for problem in found] == [
        "nodes[1]: Circular dependency detected at node a: a -> b -> a"
    ]


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
    assert [problem.split(":")[0] for problem in found] == ["nodes[0]", "nodes[1]", "edges[0].target"]


def test_a_port_that_is_not_there_is_told_with_those_that_are() -> None:
    nodes = [node("u", "userInput"), node("q", "chat")]
    assert problems(nodes, "u q", "u.words q.data") == [
        "edges[1]: node 'u' (userInput) has no output 'words'; choices: context, data, message"
    ]


def test_two_loops_that_wait_are_two_rounds_of_one() -> None:
    nodes = [node("s", "defaultContextStart"), node("u", "userInput"), node("q", "chat")]
    more = [node("v", "userInput"), node("w", "chat")]
    edges = flow_of([*nodes, *more], "s u", "u q", "q v", "v w", "w u").to_dict()["edges"]
    assert [one["source"] for one in edges if one.get("feedback")] == ["w"]
