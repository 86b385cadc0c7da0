"""Flows of HiFide, random ones too, and the documents that they convert to; real servers of tools."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dataflow import Flow
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow_agent import ModelRequest, ScriptedAnswer, ScriptedCall
from tests.nodes.agent.serving import ON_ASYNCIO, SERVER, children
from tests.nodes.formats.hifide.flows import chatting, edge, flow_of, node, play, said_in

GOLDEN: Final = Path(__file__).parents[3] / "golden" / "formats" / "hifide"


async def test_the_example_and_the_traced_flow_run_as_they_are_described() -> None:
    played = await play(Flow.load(GOLDEN / "example.json"), "one", "two")
    assert [said_in(request) for request in played.requests] == [
        ["user:one"],
        ["user:one", "assistant:hello", "user:two"],
    ]
    assert [ask.id for ask in played.result.asks] == ["input[2]"]
    flow = Flow.load(GOLDEN / "trace.json")
    waiting = await play(flow)
    assert [path for path in waiting.done if path] == ["toolsNode", "processNode", "formatNode"]
    assert [ask.id for ask in waiting.result.asks] == ["userInput"]
    played = await play(flow, "Hello", answer="Hi")
    assert said_in(played.requests[0]) == ["user:Hello"]
    assert played.result["responseNode"] == "Answer: Hi"


KINDS: Final = ["manualInput", "newContext", "injectMessages", "userInput", "chat", "defaultContextStart"]


@some.composite
def flows(draw: some.DrawFn) -> dict[str, Any]:
    """Draw a flow in which each node reads at most one conversation and one value before it."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for number in range(draw(some.integers(1, 6))):
        kind = draw(some.sampled_from(KINDS))
        id = f"n{number}"
        nodes.append(
            node(id, kind, **({"message": draw(some.text(max_size=3))} if kind == "manualInput" else {}))
        )
        earlier = [one["id"] for one in nodes[:-1]]
        if earlier and kind != "defaultContextStart":
            edges.append(edge(f"{draw(some.sampled_from(earlier))} {id}"))
        talking = [one["id"] for one in nodes[:-1] if one["nodeType"] in ("manualInput", "userInput", "chat")]
        if kind in ("chat", "manualInput") and (talking or kind == "chat"):
            if not talking:
                nodes[-1] = node(id, "manualInput")
                continue
            edges.append(edge(f"{draw(some.sampled_from(talking))}.data {id}.data"))
    return {"nodes": nodes, "edges": edges}


@settings(max_examples=25)
@given(data=flows())
def test_any_flow_is_the_same_again_once_it_is_converted(
    data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("random") / "flow.yaml"
    flow = flow_of(data)
    file.write_text(dump_yaml(flow.wiring), encoding="utf-8")
    assert dump(Flow.load(file).wiring) == dump(flow.wiring)


START: Final = shlex.join([sys.executable, SERVER])
EDGES: Final = ("s u", "u q", "u.data q.data", "t.tools q.tools", "q u")


def echoing(request: ModelRequest) -> Any:
    """Call the tool first, then answer with what it has said."""
    last = request.messages[-1]
    if last.role == "user":
        return ScriptedAnswer(tool_calls=(ScriptedCall(name="echo", arguments={"text": "from afar"}),))
    return f"it says {last.content}"


@ON_ASYNCIO
async def test_a_chat_calls_a_tool_of_a_server_with_or_without_a_name() -> None:
    before = children()
    for servers in (START, f"served={START}"):
        flow = flow_of([*chatting(), node("t", "tools")], *EDGES, servers=servers)
        played = await play(flow, "hi", answer=echoing)
        assert {"echo", "pid"} < {tool.name for tool in played.requests[0].tools}
        assert played.requests[1].messages[-1].content == "from afar"
        assert len(played.requests) == 2
        assert children() == before
