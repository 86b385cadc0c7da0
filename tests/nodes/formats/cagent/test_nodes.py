"""The node types of cagent and the value that goes between them, for themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dataflow import Flow
from dataflow_formats.cagent.listing import pack
from dataflow_formats.cagent.nodes import (
    Loop,
    LoopsExceeded,
    State,
    back,
    finished,
    gathered,
    output_at,
    recorded,
)
from tests.nodes.formats.cagent.workflows import flow_of

BEGUN = State("P")


def test_an_output_takes_the_place_of_one_that_the_step_has_given_before() -> None:
    state = recorded(recorded(recorded(BEGUN, ["a"], "x", "1"), ["b"], "y", "2"), ["a"], "x", "3")
    assert state.steps == {"a": {"output": "3", "agent": "x"}, "b": {"output": "2", "agent": "y"}}
    assert [*state.steps] == ["a", "b"]
    assert state.last == "3"
    assert (BEGUN.steps, BEGUN.last) == ({}, None)


def test_a_block_is_told_only_once_it_is_over() -> None:
    before = recorded(BEGUN, ["a"], "x", "1")
    inside = recorded(before, ["p", "q", "c"], "x", "2")
    assert output_at(inside, ["p", "q", "c"]) == "2"
    assert output_at(inside, ["p", "q", "d"]) is None
    assert finished(inside) == finished(before) == {"a": {"output": "1", "agent": "x"}}
    over = gathered(before, ["p"], ["q"], [gathered(before, ["p", "q"], ["c"], [inside])])
    assert finished(over)["p"] == {
        "steps": {"q": {"steps": {"c": {"output": "2", "agent": "x"}}, "order": ["c"]}},
        "order": ["q"],
    }


def test_what_ran_side_by_side_is_put_together_in_the_order_of_the_block() -> None:
    states = [recorded(BEGUN, ["p", id], "x", id) for id in ("c", "b", "a")]
    assert finished(gathered(BEGUN, ["p"], ["a", "b", "c"], states))["p"]["order"] == ["a", "b", "c"]


def test_what_a_block_gave_in_an_earlier_pass_gives_way() -> None:
    first = gathered(BEGUN, ["p"], ["a", "b"], [recorded(BEGUN, ["p", id], "x", "old") for id in "ab"])
    after = [recorded(first, ["p", id], "x", f"new {id}") for id in "ab"]
    steps = finished(gathered(first, ["p"], ["a", "b"], after))["p"]["steps"]
    assert [entry["output"] for entry in steps.values()] == ["new a", "new b"]


async def test_going_back_counts_the_passes_and_lets_inner_loops_begin_afresh() -> None:
    config = Loop(step="a", limit=3, inner=["b"])
    second = await gone_on(replace(BEGUN, passes={"b": 7, "c": 2}), config)
    assert second.passes == {"c": 2, "a": 2}
    third = await gone_on(second, config)
    with pytest.raises(LoopsExceeded, match="DF4311 workflow:"):
        await gone_on(third, config)


async def gone_on(state: State, config: Loop) -> State:
    """Go back once and return what goes on."""
    found: State = (await back({"state": state}, config)).outputs["out"]
    return found


def test_each_node_type_can_be_placed() -> None:
    flow = Flow("f")
    assert [pack.find(name).id for name in pack.nodes] == [f"cagent.{name}" for name in pack.nodes]
    assert flow.check() == []


def test_the_nodes_of_a_flow_have_the_ids_of_the_steps() -> None:
    flow = flow_of("workflow: [{id: a, type: agent, name: x}, {type: agent, name: y}]")
    assert [*flow.to_dict()["nodes"]] == ["start", "a", "y", "end"]
