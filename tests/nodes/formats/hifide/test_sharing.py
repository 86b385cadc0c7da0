"""Chats of HiFide that share a conversation: one line of history, in declared order, in loops too."""

from __future__ import annotations

import json

from tests.nodes.formats.hifide.flows import chatting, flow_of, node, play, said_in


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


async def test_a_chat_of_a_loop_behind_one_that_is_skipped_goes_on_from_what_was_said() -> None:
    nodes = [*chatting(), node("r", "intentRouter", routes={"x": "", "y": ""}), node("d", "chat")]
    edges = ("s u", "u r", "u.data r.data", "u q", "r.x-data q.data", "u d", "r.y-data d.data", "d u")
    flow = flow_of(nodes, *edges)
    routes = iter("yxy")
    played = await play(
        flow,
        "one",
        "two",
        "three",
        answer=lambda request: (
            json.dumps({"answer": next(routes)}) if "routes:" in request.messages[0].content else "ok"
        ),
    )
    told = [said_in(request) for request in played.requests if "routes:" not in request.messages[0].content]
    assert [len(one) for one in told] == [1, 3, 5]


async def test_what_goes_on_from_a_chat_in_line_sees_what_the_others_have_said() -> None:
    nodes = [*chatting(), node("d", "chat"), node("i", "injectMessages", id="k", staticUserMessage="U")]
    edges = ("s u", "u q", "u.data q.data", "u d", "u.data d.data", "q i", "i u")
    played = await play(flow_of(nodes, *edges), "one", "two")
    assert [len(request.messages) for request in played.requests] == [1, 3, 6, 8]


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
