"""Which nodes feedback edges repeat, and which loops are inside which (S6.3)."""

from __future__ import annotations

from networkx import DiGraph

from dataflow.compiler.natural_loops import is_closed_by, natural_loops

Edges = list[tuple[int, int]]
#: Each loop as its heads, its body and the positions of its feedback edges.
Loops = list[tuple[set[int], set[int], set[int]]]


def loops_of(edges: Edges, feedback: Edges, each_round: Edges | None = None) -> Loops:
    graph: DiGraph[int] = DiGraph(edges)
    graph.add_nodes_from(node for edge in feedback for node in edge)
    return [(loop.heads, loop.body, loop.edges) for loop in natural_loops(graph, feedback, each_round or [])]


ROWS: list[tuple[str, Edges, Edges, Loops]] = [
    ("a node that feeds itself", [], [(0, 0)], [({0}, {0}, {0})]),
    (
        "what is on paths from the head",
        [(0, 1), (1, 2), (1, 3), (3, 2), (2, 4)],
        [(2, 1)],
        [({1}, {1, 2, 3}, {0})],
    ),
    (
        "no side branch, nothing before or behind",
        [(0, 1), (1, 2), (1, 9), (2, 3)],
        [(2, 1)],
        [({1}, {1, 2}, {0})],
    ),
    (
        "an inner loop",
        [(0, 1), (1, 2), (2, 3)],
        [(3, 0), (2, 1)],
        [({0}, {0, 1, 2, 3}, {0}), ({1}, {1, 2}, {1})],
    ),
    (
        "an inner loop that reaches beyond is taken in whole",
        [(0, 1), (1, 2), (2, 3)],
        [(2, 0), (3, 1)],
        [({0}, {0, 1, 2, 3}, {0}), ({1}, {1, 2, 3}, {1})],
    ),
    ("two edges to one head", [(0, 1), (1, 2)], [(1, 0), (2, 0)], [({0}, {0, 1, 2}, {0, 1})]),
    ("two heads that share a node", [(0, 2), (1, 2)], [(2, 0), (2, 1)], [({0, 1}, {0, 1, 2}, {0, 1})]),
    (
        "loops side by side",
        [(0, 1), (1, 2), (2, 3)],
        [(1, 0), (3, 2)],
        [({0}, {0, 1}, {0}), ({2}, {2, 3}, {1})],
    ),
    (
        "what lies between two nodes of a loop",
        [(0, 1), (1, 2), (1, 3), (3, 4), (0, 5), (5, 4)],
        [(2, 0), (4, 1)],
        [({0}, {0, 1, 2, 3, 4, 5}, {0}), ({1}, {1, 3, 4}, {1})],
    ),
    (
        "loops that wait for one another",
        [(0, 1), (2, 3), (0, 3), (2, 1)],
        [(1, 0), (3, 2)],
        [({0, 2}, {0, 1, 2, 3}, {0, 1})],
    ),
    (
        "loops inside a loop that wait for one another",
        [(9, 0), (9, 2), (0, 1), (2, 3), (0, 3), (2, 1), (1, 8), (3, 8)],
        [(8, 9), (1, 0), (3, 2)],
        [({9}, {0, 1, 2, 3, 8, 9}, {0}), ({0, 2}, {0, 1, 2, 3}, {1, 2})],
    ),
]


def test_loops_do_not_depend_on_the_order_of_feedback_edges() -> None:
    assert {name: loops_of(edges, feedback) for name, edges, feedback, _ in ROWS} == {
        name: loops for name, _, _, loops in ROWS
    }
    for _, edges, feedback, loops in ROWS:
        last = len(feedback) - 1
        turned = [(heads, body, {last - one for one in found}) for heads, body, found in loops]
        assert loops_of(edges, feedback[::-1]) == turned


def test_an_edge_of_each_round_takes_its_end_in_and_so_on_from_there() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert loops_of(edges, [(1, 0)], [(1, 2), (2, 3)]) == [({0}, {0, 1, 2, 3}, {0})]


def test_an_edge_of_each_round_takes_a_loop_in_that_begins_with_its_end() -> None:
    edges = [(0, 1), (1, 2), (2, 3)]
    assert loops_of(edges, [(1, 0), (3, 2)], [(1, 2)]) == [({0}, {0, 1, 2, 3}, {0}), ({2}, {2, 3}, {1})]


def test_an_edge_closes_a_loop_if_a_path_leads_from_its_head_to_its_source() -> None:
    graph: DiGraph[int] = DiGraph([(0, 1), (1, 2), (3, 2)])
    assert is_closed_by(graph, (2, 0))
    assert not is_closed_by(graph, (3, 0))
