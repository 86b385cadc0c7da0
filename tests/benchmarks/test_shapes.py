"""The shapes that are run, and what comes out of them."""

from __future__ import annotations

import pytest

from benchmarks.shapes import LAYERS, Shape, chain, diamonds, fan_out, layered


@pytest.mark.parametrize(
    ("shape", "nodes", "result"),
    [
        pytest.param(chain(1), 1, 1, id="one node gives 1"),
        pytest.param(chain(5), 5, 5, id="each node of a chain adds 1"),
        pytest.param(fan_out(4), 6, 8, id="a fan-out adds up the 2 of each"),
        pytest.param(diamonds(1), 4, 4, id="a diamond adds up 2 and 2"),
        pytest.param(diamonds(2), 7, 10, id="the second diamond begins with 4"),
        pytest.param(Shape(((), (), (0, 1))), 3, 2, id="two beginnings"),
        pytest.param(Shape(((), (0,), (0,))), 3, 4, id="two ends"),
    ],
)
def test_a_shape_has_so_many_nodes_and_this_result(shape: Shape, nodes: int, result: int) -> None:
    assert (len(shape), shape.result) == (nodes, result)


def test_a_node_of_a_layer_reads_three_of_the_layer_before() -> None:
    width = 4
    shape = layered(LAYERS * width)
    layers = [{source // width for source in sources} for sources in shape.sources[width:]]
    assert layers == [{node // width} for node in range(len(shape) - width)]
    assert {len(set(sources)) for sources in shape.sources[width:]} == {3}


def test_the_random_graph_is_the_same_each_time() -> None:
    assert layered(100).sources == layered(100).sources


def test_whom_a_node_feeds_is_the_reverse_of_what_it_reads() -> None:
    assert diamonds(1).readers == [[1, 2], [3], [3], []]
