"""What the document of HiFide says of contexts and of its example nodes."""

from __future__ import annotations

import json
from typing import Any, Final

from dataflow import ExecutionContext
from dataflow_formats.hifide.config import Selected, selected
from dataflow_formats.hifide.file import kind_of_node, port_name, spelled_type
from dataflow_formats.hifide.nodes import Told, message
from tests.nodes.formats.hifide.flows import chatting, edge, flow_of, node, play, said_in

CHAT: Final = ("s u", "u q", "u.data q.data")


#: The inputs of the message of a chat, and its prompt.
GIVEN: Final[list[tuple[dict[str, Any], str]]] = [
    ({"message": "m", "data": "d"}, "m"),
    ({"message": "", "data": "d"}, "d"),
    ({"data": "d"}, "d"),
    ({"data": {"a": 1}}, '{"a": 1}'),
    ({"conversation": ExecutionContext("c", current_output="last")}, "last"),
    ({"data": " ", "conversation": ExecutionContext("c", current_output="last")}, "last"),
]


async def test_a_chat_is_told_its_message_else_its_data_else_the_current_output() -> None:
    found = [await message(given, Told.model_validate({"wired": [*given]})) for given, _ in GIVEN]
    assert [output.outputs["prompt"] for output in found] == [wanted for _, wanted in GIVEN]


async def test_the_system_text_heads_every_request_once() -> None:
    nodes = [node("s", "defaultContextStart", systemInstructions="Be brief."), *chatting()[1:]]
    played = await play(flow_of(nodes, *CHAT, "q u"), "one", "two")
    assert said_in(played.requests[1]) == ["system:Be brief.", "user:one", "assistant:hello", "user:two"]


async def test_a_system_text_that_comes_in_goes_before_that_of_the_config() -> None:
    nodes = [node("s", "defaultContextStart", systemInstructions="A"), node("m", "manualInput", message="B")]
    played = await play(flow_of(nodes, "m.data s.systemInstructionsIn"))
    assert played.value("s.out").system_instructions == "B"


async def test_a_context_has_one_id_and_is_its_own_session() -> None:
    played = await play(flow_of(chatting(), *CHAT), "one")
    start, last = played.value("s.out"), played.value("q.context")
    assert start.context_id == last.context_id == last.session_id
    assert start.model == last.model == "openai/gpt-5"


async def test_a_chat_without_a_context_begins_one_of_its_own() -> None:
    played = await play(flow_of([node("m", "manualInput", message="hi"), node("q", "chat")], "m.data q.data"))
    assert said_in(played.requests[0]) == ["user:hi"]
    assert played.requests[0].model == "openai/gpt-4o"


async def test_who_is_asked_is_shown_the_last_answer() -> None:
    for replies, shown in (((), None), (("one",), "hello")):
        played = await play(flow_of(chatting(), *CHAT, "q u"), *replies)
        assert [ask.show for ask in played.result.asks] == [shown]


#: Configs of tools, and which of `a` and `mcp_x_y` they offer.
SELECTED: Final[list[tuple[dict[str, Any], list[str]]]] = [
    ({}, ["a", "mcp_x_y"]),
    ({"tools": "auto"}, ["a", "mcp_x_y"]),
    ({"tools": ["a"]}, ["a", "mcp_x_y"]),
    ({"tools": ["a"], "mcpPlugins": {"x": False}}, ["a"]),
    ({"tools": ["a"], "mcpEnabled": False}, ["a"]),
    ({"tools": ["a"], "mcpEnabled": False, "mcpPlugins": {"x": True}}, ["a", "mcp_x_y"]),
    ({"tools": ["b"], "mcpEnabled": False}, []),
    ({"tools": []}, []),
    ({"tools": 1}, []),
    ({"tools": "all"}, []),
]


def test_tools_are_selected_by_name() -> None:
    found = [selected(Selected(**config), ["a", "mcp_x_y", "a"]) for config, _ in SELECTED]
    assert found == [names for _, names in SELECTED]


async def test_a_conversation_passes_by_a_node_that_offers_tools() -> None:
    nodes = [*chatting(), node("t", "tools")]
    flow = flow_of(nodes, "s u", "u t", "t q", "t.tools q.tools", "u.data q.data")
    played = await play(flow, "one")
    assert said_in(played.requests[0]) == ["user:one"]
    assert played.value("q.context").context_id == played.value("s.out").context_id


def test_types_are_spelled_in_many_ways() -> None:
    kinds = {
        "userInput": "userInput",
        "user_input": "userInput",
        "User-Input": "userInput",
        "chat": "llmRequest",
        "llmRequest": "llmRequest",
        "agent.chat": "agent.chat",
        "budgetGuard": None,
    }
    assert {spelled: kind_of_node(spelled) for spelled in kinds} == kinds


def test_the_type_of_a_node_stands_in_many_places() -> None:
    nodes: list[dict[str, Any]] = [
        {"nodeType": "chat", "type": "other"},
        {"data": {"nodeType": "chat"}, "type": "other"},
        {"type": "chat", "kind": "other"},
        {"kind": "chat"},
        {"id": "chat-17"},
    ]
    assert [given for given in nodes if spelled_type(given) != "chat"] == []


def test_names_of_ports_are_spelled_in_many_ways() -> None:
    names = {
        "": "context",
        "Context In": "context",
        "ctx_out": "context",
        "data-in": "data",
        "value": "data",
        "Tools Out": "tools",
        "result": "result",
        "Some-Port": "Some-Port",
    }
    assert {spelled: port_name(spelled) for spelled in names} == names


def test_edges_that_are_equal_are_one() -> None:
    nodes = [*chatting()]
    twice = {"nodes": nodes, "edges": [edge("s u"), edge("s.ctx u.contextIn"), edge("u q")]}
    assert json.dumps(flow_of(twice).to_dict()).count('"target": "u"') == 1


def test_a_file_of_the_workspace_is_read() -> None:
    flow = flow_of([node("f", "readFile", path="README.md")])
    assert flow.to_dict()["nodes"]["f"]["values"] == {"path": "README.md"}


def test_a_chat_answers_as_the_conversation_says_unless_it_says_so_itself() -> None:
    start = node("s", "defaultContextStart", temperature=0.5, reasoningEffort="low")
    nodes = [start, node("u", "userInput"), node("q", "chat"), node("r", "chat", temperature=0)]
    written = flow_of(nodes, "s u", "u q", "q r", "r u").to_dict()["nodes"]
    assert written["q"]["config"] == {"temperature": 0.5, "reasoning_effort": "low"}
    assert written["r"]["config"] == {"temperature": 0.0, "reasoning_effort": "low"}


def test_a_new_context_has_settings_of_its_own() -> None:
    nodes = [node("s", "defaultContextStart", temperature=0.5), node("n", "newContext"), node("q", "chat")]
    written = flow_of(nodes, "s n", "n q").to_dict()["nodes"]
    assert "config" not in written["q"]


def test_what_an_edge_says_of_itself_as_it_is_needs_no_remark() -> None:
    nodes = [node("u", "userInput"), node("q", "chat")]
    said = {**edge("u q"), "metadata": {"isContextEdge": True}}
    assert list(flow_of({"nodes": nodes, "edges": [said]}).report) == []


def test_two_loops_that_wait_are_two_rounds_of_one() -> None:
    nodes = [node("s", "defaultContextStart"), node("u", "userInput"), node("q", "chat")]
    more = [node("v", "userInput"), node("w", "chat")]
    edges = flow_of([*nodes, *more], "s u", "u q", "q v", "v w", "w u").to_dict()["edges"]
    assert [one["source"] for one in edges if one.get("feedback")] == ["w"]
