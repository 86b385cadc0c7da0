"""Random workflows of AgentFlow: converted, and gone through as a plain reading says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dataflow import Flow, FlowInvalid
from dataflow.formats.native.writer import dump_yaml
from dataflow_agent import scripted
from tests.nodes.formats.agentflow.flowing import agent, approval, flow_of, if_, start

WORDS: Final = ("yes", "no")
HANDLES: Final = st.sampled_from(["condition-0", "condition-1", "false", "true", ""])
conditions = st.lists(st.tuples(st.sampled_from(["equal", "contains"]), st.sampled_from(WORDS)), max_size=2)


@st.composite
def workflows(draw: st.DrawFn, asks: bool = True, back: bool = True) -> dict[str, Any]:
    """Draw a workflow of a few nodes; `back` says that connections may lead to any of them."""
    ids = ["a", "b/1", "c", "d e", "f"][: draw(st.integers(0, 5))]
    nodes = [start(draw(st.sampled_from(["yes", "no", "", 7, {"yes": 1}])))]
    for id in ids:
        kinds = [agent(id), if_(id, *draw(conditions)), *([approval(id)] if asks else [])]
        nodes.append(draw(st.sampled_from(kinds)))
    places = st.integers(0, len(ids))
    edges = []
    for source, target, handle in draw(st.lists(st.tuples(places, places, HANDLES), max_size=7)):
        if back or source < target:
            edges.append((nodes[source]["id"], nodes[target]["id"], handle))
    named = [{"source": one, "target": other, "sourceHandle": handle} for one, other, handle in edges]
    return {"nodes": nodes, "connections": named}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(workflows(), st.sampled_from(["each", "once"]))
def test_a_workflow_is_converted_and_loads_as_the_same_flow(
    tmp_path: Path, data: dict[str, Any], joins: str
) -> None:
    try:
        flow = flow_of(data, joins=joins)
    except FlowInvalid as refused:  # runs for each arrival
        if joins == "once" or any("joins=once" not in str(problem) for problem in refused.problems):
            raise
        return
    (tmp_path / "small.yaml").write_text(dump_yaml(flow.wiring), encoding="utf-8")
    assert json.dumps(Flow.load(tmp_path / "small.yaml").to_dict()) == json.dumps(flow.to_dict())


def runs_of(data: dict[str, Any], answer: str) -> Counter[str]:
    """Count how often each agent runs, by a walk along each connection that is followed."""
    nodes = {node["id"]: node for node in data["nodes"]}
    found: Counter[str] = Counter()
    waiting: list[tuple[str, Any]] = [("s", nodes["s"]["data"]["initialInput"])]
    while waiting:
        id, value = waiting.pop()
        exits: set[str] | None = None
        if nodes[id]["type"] == "agent":
            found[id] += 1
            value = answer
        elif nodes[id]["type"] == "if":
            exits = exits_of(nodes[id]["data"]["conditions"], value)
        waiting += [
            (edge["target"], value)
            for edge in data["connections"]
            if edge["source"] == id and (exits is None or edge["sourceHandle"] in exits)
        ]
    return found


def exits_of(conditions: list[dict[str, str]], value: Any) -> set[str]:
    text = value if isinstance(value, str) else json.dumps(value)
    for number, condition in enumerate(conditions):
        wanted = condition["value"]
        if text == wanted or (condition["operator"] == "contains" and wanted in text):
            return {f"condition-{number}"} | ({"true"} if number == 0 else set())
    return {"false"}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(workflows(asks=False, back=False), st.sampled_from(WORDS))
def test_an_agent_runs_once_for_each_arrival(data: dict[str, Any], answer: str) -> None:
    wanted = runs_of(data, answer)
    assume(sum(wanted.values()) <= len("as many as a test has time for"))
    with scripted(lambda _: answer) as script:
        flow_of(data).run_sync()
    prompts = (str(request.messages[-1].content) for request in script.requests)
    found = Counter(prompt.partition(" ")[0] if not prompt.startswith("D E") else "D E" for prompt in prompts)
    assert found == Counter({id.upper(): times for id, times in wanted.items()})
