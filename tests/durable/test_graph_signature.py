"""What a flow says about its nodes, told so that two versions of it can be compared (S11.4)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from dataflow.durable.graph_signature import FlowShape, NodeShape, shape_of
from dataflow.values.functions import digest_of
from tests.durable.test_graph_signature_edits import dec, differing, looping, mapping, nesting, shape
from tests.properties.playing import flow_of
from tests.properties.random_flows import Program, programs, sample
from tests.support.processes import printed_with


def test_an_inner_node_that_was_edited_is_told_under_its_own_address() -> None:
    assert differing(nesting(), nesting(inner=dec), "a/first") == ("type", "code")
    assert differing(looping(), looping(by=dec), "a/step") == ("type", "code")


def test_a_condition_of_a_document_counts_as_it_is_written() -> None:
    def entry(condition: str) -> NodeShape:
        branch = {
            "type": "control.if",
            "config": {"condition": condition},
            "inputs": {"value": "$in.x"},
        }
        return shape_of(
            flow_of({"dataflow": 1, "inputs": {"x": {}}, "nodes": {"a": branch}}).compile()
        ).entries["a"]

    assert entry("value > 1") == entry("value > 1")
    assert entry("value > 1").config != entry("value > 2").config


# writing and reading


def test_another_text_is_refused() -> None:
    for text in (
        "",
        "[]",
        "{}",
        '{"shape":1,"texts":[],"nodes":{"a":[0,0,0,0,0]}}',
        '{"shape":1,"texts":["t"],"nodes":{"a":[0]}}',
    ):
        with pytest.raises(ValueError, match="DF1118"):
            FlowShape.read(text)
    with pytest.raises(ValueError, match="DF1111"):
        FlowShape.read('{"shape":2,"texts":[],"nodes":{}}')


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_flow_that_is_built_twice_has_one_shape(program: Program) -> None:
    one, other = (shape_of(flow_of(program.document).compile()) for _ in range(2))
    assert one == other == FlowShape.read(one.write())


def digest() -> str:
    """Return what the shapes of a fixed sample of flows come to."""
    found = [shape_of(flow_of(sample(seed).document).compile()) for seed in range(50)]
    found.append(shape(mapping(key=lambda x: f"{x in {'a', 'b', 'c'}}")))
    return digest_of(" ".join(one.write() for one in found))


def test_processes_with_other_hash_seeds_tell_the_same() -> None:
    code = "from tests.durable.test_graph_signature import digest; print(digest())"
    told = [printed_with(seed, code) for seed in ("1", "2")]
    assert told == [digest()] * 2
