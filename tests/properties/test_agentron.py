"""Random workflows of Agentron Studio: converted, and walked as a plain reading says."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataflow_agent import ModelRequest, scripted
from tests.nodes.formats.agentron.walking import MODEL, agent, flow_of, steps

WORDS: Final = ("left", "right", "on")
MOST_ROUNDS: Final = 3
kinds = st.sampled_from(["content_contains", "message_type", "mood"])
conditions = st.none() | st.builds(
    lambda kind, value: {"type": kind, "value": value}, kinds, st.sampled_from(WORDS)
)
parameters = st.dictionaries(
    st.sampled_from(["topic", "url"]),
    st.sampled_from(["", "x", "{{ url }}", "Straße", 1, None, [True]]),
    max_size=2,
)


@st.composite
def workflows(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a workflow of a few agents with edges between any of them, sometimes with branches."""
    ids = draw(st.lists(st.sampled_from(["a", "b", "c", "d", "e/1", "start"]), max_size=5, unique=True))
    nodes = [agent(id, id.upper(), **draw(parameters)) for id in ids]
    ends = st.tuples(st.sampled_from(ids), st.sampled_from(ids), conditions)
    edges = [
        {"id": f"edge {number}", "source": source, "target": target, "condition": condition}
        for number, (source, target, condition) in enumerate(draw(st.lists(ends, max_size=7)) if ids else [])
    ]
    made = {"name": "drawn", "nodes": nodes, "edges": edges, "maxRounds": draw(st.integers(1, MOST_ROUNDS))}
    if draw(st.booleans()):
        made["branches"] = [{"id": "other", "nodes": [agent("w")], "executionMode": "one_time"}]
    return made


def follows(condition: dict[str, str] | None, output: str) -> bool:
    match condition:
        case {"type": "content_contains", "value": value}:
            return value in output
        case {"type": "message_type", "value": value}:
            return value == output
        case _:
            return True


def next_node(data: dict[str, Any], node: str, output: str) -> str | None:
    if not data["edges"]:
        ids = [one["id"] for one in data["nodes"]]
        return next(iter(ids[ids.index(node) + 1 :]), None)
    edges = [edge for edge in data["edges"] if edge["source"] == node]
    taken = [edge for edge in edges if follows(edge["condition"], output)] or edges
    return taken[0]["target"] if taken else None


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(workflows(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_a_walk_takes_the_first_edge_that_holds_until_it_ends_or_a_loop_has_its_rounds(
    data: dict[str, Any], answers: list[str]
) -> None:
    given = iter(answers * 1000)

    def answer(request: ModelRequest) -> str:
        return next(given)

    with scripted(answer):
        walked = steps(flow_of(data, model=MODEL).run_sync())
    path = [step["node"] for step in walked]
    assert path[:1] == [node["id"] for node in data["nodes"]][:1]
    for step, following in zip(walked, [*path[1:], *([None] if path else [])], strict=True):
        wanted = next_node(data, step["node"], step["output"])
        if following is None and wanted is not None:  # the walk was ended
            assert max(map(path.count, path)) >= data["maxRounds"]
        else:
            assert following == wanted
