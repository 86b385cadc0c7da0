"""The shapes that are run, and what comes out of them."""

from __future__ import annotations

from benchmarks.shapes import LAYERS, Shape, chain, diamonds, fan_out, layered


def test_a_shape_has_so_many_nodes_and_this_result() -> None:
    shapes = {
        chain(1): (1, 1),
        chain(5): (5, 5),
        fan_out(4): (6, 8),
        diamonds(1): (4, 4),
        diamonds(2): (7, 10),
        Shape(((), (), (0, 1))): (3, 2),  # two beginnings
        Shape(((), (0,), (0,))): (3, 4),  # two ends
    }
    assert {shape: (len(shape), shape.result) for shape in shapes} == shapes


def test_a_node_of_a_layer_reads_three_of_the_layer_before() -> None:
    width = 4
    shape = layered(LAYERS * width)
    layers = [{source // width for source in sources} for sources in shape.sources[width:]]
    assert layers == [{node // width} for node in range(len(shape) - width)]
    assert {len(set(sources)) for sources in shape.sources[width:]} == {3}
    assert layered(100).sources == layered(100).sources


def test_whom_a_node_feeds_is_the_reverse_of_what_it_reads() -> None:
    assert diamonds(1).readers == [[1, 2], [3], [3], []]
