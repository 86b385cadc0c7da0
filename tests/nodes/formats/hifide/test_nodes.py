"""What the document of HiFide says of contexts, nodes, caches, and chats that share a conversation."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

from dataflow import ExecutionContext, Message, NodeState
from dataflow.core.wiring import node_of_path
from dataflow_formats.hifide.config import Selected, selected
from dataflow_formats.hifide.file import MISSING, kind_of_node, port_name, spelled_type
from dataflow_formats.hifide.nodes import Cache, Keep, Told, cache_by, keep_by, message, said
from tests.nodes.formats.hifide.flows import Played, chatting, edge, flow_of, node, play, said_in

BOARD: Final = "tests.nodes.formats.hifide.board:kanbanGetBoard"
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


async def test_a_system_text_heads_every_request_and_one_that_comes_in_goes_first() -> None:
    nodes = [node("s", "defaultContextStart", systemInstructions="Be brief."), *chatting()[1:]]
    played = await play(flow_of(nodes, *CHAT, "q u"), "one", "two")
    assert said_in(played.requests[1]) == ["system:Be brief.", "user:one", "assistant:hello", "user:two"]
    nodes = [node("s", "defaultContextStart", systemInstructions="A"), node("m", "manualInput", message="B")]
    played = await play(flow_of(nodes, "m.data s.systemInstructionsIn"))
    assert played.value("s.out").system_instructions == "B"


async def test_a_chat_without_a_context_begins_one_and_who_is_asked_is_shown_the_last_answer() -> None:
    played = await play(flow_of([node("m", "manualInput", message="hi"), node("q", "chat")], "m.data q.data"))
    assert said_in(played.requests[0]) == ["user:hi"]
    assert played.requests[0].model == "openai/gpt-4o"
    for replies, shown in (((), None), (("one",), "hello")):
        played = await play(flow_of(chatting(), *CHAT, "q u"), *replies)
        assert [ask.show for ask in played.result.asks] == [shown]


#: Configs of tools, and which of `a` and `mcp_x_y` they offer.
SELECTED: Final[list[tuple[dict[str, Any], list[str]]]] = [
    ({}, ["a", "mcp_x_y"]),
    ({"tools": ["a"]}, ["a", "mcp_x_y"]),
    ({"tools": ["a"], "mcpPlugins": {"x": False}}, ["a"]),
    ({"tools": ["a"], "mcpEnabled": False}, ["a"]),
    ({"tools": ["a"], "mcpEnabled": False, "mcpPlugins": {"x": True}}, ["a", "mcp_x_y"]),
    ({"tools": []}, []),
    ({"tools": "all"}, []),
]


def test_tools_are_selected_by_name() -> None:
    found = [selected(Selected(**config), ["a", "mcp_x_y", "a"]) for config, _ in SELECTED]
    assert found == [names for _, names in SELECTED]
    for config, offered in (
        ({"tools": ["echo"]}, [["echo"], None]),
        ({"mcpPlugins": {"far": False}}, [None]),
    ):
        flow = flow_of([node("t", "tools", **config)], servers="serve here; far=http://far/mcp")
        servers = flow.to_dict()["nodes"]["t"]["config"]["servers"]
        assert [one.get("allow") for one in servers] == offered


async def test_a_conversation_passes_by_a_node_that_offers_tools() -> None:
    nodes = [*chatting(), node("t", "tools")]
    edges = ("s u", "u t", "t q", "t.tools q.tools", "u.data q.data")
    played = await play(flow_of(nodes, *edges, tools=BOARD), "one")
    assert played.value("t.tool_names") == ["kanbanGetBoard"]
    assert said_in(played.requests[0]) == ["user:one"]
    assert played.value("q.context").context_id == played.value("s.out").context_id


def test_types_and_ports_are_spelled_in_many_ways_and_places() -> None:
    kinds = [
        *map(kind_of_node, ("user_input", "User-Input", "chat", "llmRequest", "agent.chat", "budgetGuard"))
    ]
    assert kinds == ["userInput", "userInput", "llmRequest", "llmRequest", "agent.chat", None]
    nodes: list[dict[str, Any]] = [
        {"nodeType": "chat", "type": "other"},
        {"data": {"nodeType": "chat"}, "type": "other"},
        {"type": "chat", "kind": "other"},
        {"kind": "chat"},
        {"id": "chat-17"},
    ]
    assert [given for given in nodes if spelled_type(given) != "chat"] == []
    names = [
        *map(port_name, ("", "Context In", "ctx_out", "data-in", "value", "Tools Out", "result", "Some-Port"))
    ]
    assert names == ["context", "context", "context", "data", "data", "tools", "result", "Some-Port"]


def test_what_a_file_comes_to() -> None:
    nodes = [*chatting()]
    twice = {"nodes": nodes, "edges": [edge("s u"), edge("s.ctx u.contextIn"), edge("u q")]}
    assert json.dumps(flow_of(twice).to_dict()).count('"target": "u"') == 1
    flow = flow_of([node("f", "readFile", path="README.md")])
    assert flow.to_dict()["nodes"]["f"]["values"] == {"path": "README.md"}
    start = node("s", "defaultContextStart", temperature=0.5, reasoningEffort="low")
    nodes = [start, node("u", "userInput"), node("q", "chat"), node("r", "chat", temperature=0)]
    written = flow_of(nodes, "s u", "u q", "q r", "r u").to_dict()["nodes"]
    assert written["q"]["config"] == {"temperature": 0.5, "reasoning_effort": "low"}
    assert written["r"]["config"] == {"temperature": 0.0, "reasoning_effort": "low"}
    nodes = [node("s", "defaultContextStart"), node("u", "userInput"), node("q", "chat")]
    more = [node("v", "userInput"), node("w", "chat")]
    edges = flow_of([*nodes, *more], "s u", "u q", "q v", "v w", "w u").to_dict()["edges"]
    assert [one["source"] for one in edges if one.get("feedback")] == ["w"]


EMPTY: Final = ExecutionContext("main")
#: A conversation in rounds, of which each is told what comes out of the cache.
ROUNDS: Final = ("s u", "u c", "f.data c.data", "c q", "c.data q.data", "q u")


async def kept_at(time: float, value: Any = "kept") -> ExecutionContext:
    found = await keep_by(lambda: time)({MISSING: EMPTY, "data": value}, Keep(name="c", wired=["data"]))
    context: ExecutionContext = found.outputs["conversation"]
    return context


#: The config of a cache with a value since 100, the time, and whether the value counts.
TIMES: Final[list[tuple[dict[str, Any], float, bool]]] = [
    ({}, 399, True), ({}, 400, False), ({"ttl": 0}, 100, False), ({"invalidate": 101}, 110, False),
    ({"invalidate": 99}, 110, True),
]  # fmt: skip


async def test_a_value_counts_while_it_is_fresh() -> None:
    """HF13, HF14."""
    for given, now, is_kept in TIMES:
        config = Cache(name="c", wired=["conversation"], **given)
        found = await cache_by(partial(float, now))({"conversation": await kept_at(100)}, config)
        assert found.metadata == {"cached": is_kept}
        expected = ("kept", False) if is_kept else (None, True)
        assert (found.outputs.get("data"), MISSING in found.outputs) == expected


def cached(**config: Any) -> list[Any]:
    return [
        *chatting(), node("m", "manualInput", message="news"), node("f", "manualInput"),
        node("c", "cache", **config),
    ]  # fmt: skip


def runs_of(played: Played, name: str) -> int:
    done = [path for path, state in played.result.states.items() if state is NodeState.DONE]
    return [node_of_path(path) for path in done].count(name)


async def test_what_comes_before_a_cache_runs_only_where_that_has_no_value_and_the_conversation_passes() -> (
    None
):
    for ttl, runs, second in ((300, 1, "one"), (0, 2, "two")):
        played = await play(flow_of(cached(ttl=ttl), "u.data f.data", *ROUNDS), "one", "two")
        told = [said_in(request)[-1] for request in played.requests]
        assert (told, runs_of(played, "f")) == (["user:one", f"user:{second}"], runs)
    played = await play(flow_of([*chatting(), node("c", "cache")], "s c", "c u", "u q"), "one")
    assert played.value("q.context").context_id == played.value("s.out").context_id
    nodes = [*chatting(), node("c", "cache")]
    played = await play(flow_of(nodes, "s u", "u q", "q c", "q.data c.data", "c u"), "one", "two")
    assert [len(request.messages) for request in played.requests] == [1, 3]


async def test_chats_that_share_a_conversation_speak_in_declared_order() -> None:
    nodes = [node("s", "defaultContextStart"), node("m", "manualInput", message="hi")]
    nodes += [node(id, "chat") for id in ("c", "d", "e")]
    flow = flow_of(nodes, "s c", "m.data c.data", "s e", "m.data e.data", "s d", "m.data d.data")
    played = await play(flow)
    assert [len(request.messages) for request in played.requests] == [1, 3, 5]
    assert [remark.original for remark in flow.report] == ["'c' and 'd' and 'e' write to one history at once"]


async def test_however_many_chats_of_a_loop_speak_in_declared_order() -> None:
    """Three and four of them, of which one leads back, or all."""
    for others, back in (("de", ""), ("de", "de"), ("def", ""), ("def", "def")):
        nodes = [*chatting(), *(node(id, "chat") for id in others)]
        edges = [end for id in f"q{others}" for end in (f"u {id}", f"u.data {id}.data")]
        flow = flow_of(nodes, "s u", *edges, "q u", *(f"{id} u" for id in back))
        played = await play(flow, "one", "two", answer=lambda request: str(len(request.messages)))
        count = 1 + len(others)
        lengths = range(1, 4 * count, 2)
        assert [len(request.messages) for request in played.requests] == [*lengths]
        texts = [*["user:one"] * count, *["user:two"] * count]
        told = zip(texts, lengths, strict=True)
        spoken = [said for text, length in told for said in (text, f"assistant:{length}")]
        assert said_in(played.requests[-1]) == spoken[:-1]


async def test_chats_behind_a_cache_are_told_once_of_and_read_it_where_it_has_a_value() -> None:
    nodes = [*chatting(), node("d", "chat"), node("c", "cache"), node("f", "manualInput", message="hi")]
    nodes += [node("r", "intentRouter", routes={"x": "", "y": ""})]
    edges = ["s u", "u c", "f.data c.data", "u r", "u.data r.data", "c q", "r.x-data q.data"]
    flow = flow_of(nodes, *edges, "c d", "r.y-data d.data", "q u", "d u")
    played = await play(flow, "one", "two", answer=lambda _: json.dumps({"answer": "y"}))
    assert [remark.node for remark in flow.report] == ["c"]
    assert [len(request.messages) for request in played.requests[1::2]] == [1, 3]


async def test_a_chat_that_waits_for_another_speaks_behind_it_wherever_it_is_declared() -> None:
    nodes = [node("s", "defaultContextStart"), node("m", "manualInput", message="hi")]
    nodes += [node(id, "chat") for id in ("d", "c")]
    flow = flow_of(nodes, "s c", "m.data c.data", "s d", "c.result d.message")
    played = await play(flow)
    assert [said_in(request) for request in played.requests] == [
        ["user:hi"],
        ["user:hi", "assistant:hello", "user:hello"],
    ]
    assert [remark.original for remark in flow.report] == ["'c' and 'd' write to one history at once"]


async def test_one_context_passes_by_who_waits_and_takes_in_what_a_chat_says() -> None:
    waiting = await play(flow_of(chatting()[:2], "s u"), "one")
    assert (waiting.value("u.context"), waiting.value("u.out")) == (waiting.value("s.out"), "one")
    played = await play(flow_of(chatting(), *CHAT), "one", answer="A")
    start, last = played.value("s.out"), played.value("q.context")
    assert start.context_id == last.context_id == last.session_id
    assert start.model == last.model == "openai/gpt-5"
    assert [*last.message_history] == [Message("user", "one"), Message("assistant", "A")]
    assert (last.current_output, played.value("q.text")) == ("A", "A")
    assert (await said(EMPTY, "hi")).current_output == "hi"
