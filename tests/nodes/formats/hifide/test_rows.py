"""The behaviours of flows of HiFide, a row for each: HF01 to HF22."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from dataflow import EventKind, FlowInvalid, NodeState
from dataflow_formats.hifide.nodes import is_fresh
from tests.nodes.formats.hifide.flows import chatting, flow_of, node, play, problems, said_in

CHAT: Final = ("s u", "u q", "u.data q.data")
ROUTED: Final = ("s r", "m.data r.data")
A_TOOL: Final = "tests.nodes.formats.hifide.board:kanbanGetBoard"


def manual(id: str, message: str = "hi") -> dict[str, Any]:
    return node(id, "manualInput", message=message)


def router(*names: str) -> list[dict[str, Any]]:
    start = node("s", "defaultContextStart")
    return [start, manual("m"), node("r", "intentRouter", routes=dict.fromkeys(names, "what"))]


def passing(id: str) -> dict[str, Any]:
    """Return a node that gives what comes in."""
    return node(id, "manualInput")


def routed(name: str) -> Any:
    """Make a model that chooses a route."""
    return lambda _: json.dumps({"answer": name})


async def named_push() -> None:
    played = await play(flow_of([manual("a", "1"), passing("b")], "a.data b.data"))
    assert played.value("b.data") == "1"
    assert played.done.count("b") == 1


async def absent_port() -> None:
    nodes = [*router("x", "y"), passing("X"), passing("Y")]
    flow = flow_of(nodes, *ROUTED, "r.x-data X.data", "r.y-data Y.data")
    played = await play(flow, answer=routed("x"))
    assert played.value("X.data") == "hi"
    assert played.result.states["Y"] is NodeState.SKIPPED


async def contexts_of_routes() -> None:
    nodes = [*router("x", "y"), node("X", "chat"), node("Y", "chat")]
    pairs = [f"r.{name}-{port} {name.upper()}.{port}" for name in "xy" for port in ("context", "data")]
    played = await play(flow_of(nodes, *ROUTED, *pairs), answer=routed("x"))
    assert played.result.states["X"] is NodeState.DONE
    assert played.result.states["Y"] is NodeState.SKIPPED
    assert len(played.requests) == 2  # the router and X, once each


async def two_routes() -> None:
    nodes = [*router("x", "y"), passing("X")]
    pairs = [f"r.{name}-{port} X.{port}" for name in "xy" for port in ("context", "data")]
    played = await play(flow_of(nodes, *ROUTED, *pairs), answer=routed("y"))
    assert played.value("X.data") == "hi"
    assert played.done.count("X") == 1


async def pulled_tools() -> None:
    nodes = [*chatting(), node("t", "tools")]
    flow = flow_of(nodes, *CHAT, "t.tools q.tools", tools=A_TOOL)
    played = await play(flow)
    assert played.done == ["s"]
    assert played.result.states["t"] is NodeState.WAITING
    played = await play(flow, "hello")
    assert [tool.name for tool in played.requests[0].tools] == ["kanbanGetBoard"]


async def chat_loop() -> None:
    flow = flow_of(chatting(), *CHAT, "q u")
    played = await play(flow, "one", "two")
    assert [ask.id for ask in played.result.asks] == ["u[2]"]
    assert said_in(played.requests[1]) == ["user:one", "assistant:hello", "user:two"]
    assert len(played.requests) == 2


async def portal_loop() -> None:
    portals = [node("i", "portalInput", id="main"), node("o", "portalOutput", id="main")]
    flow = flow_of([*chatting(), *portals], *CHAT, "q i", "o u")
    played = await play(flow, "one", "two")
    assert [ask.id for ask in played.result.asks] == ["u[2]"]
    assert said_in(played.requests[1]) == ["user:one", "assistant:hello", "user:two"]
    assert not {"i", "o"} & played.result.states.keys()


async def one_text_once() -> None:
    played = await play(flow_of(chatting(), *CHAT), "one")
    history = played.value("q.context").message_history
    assert [(message.role, message.content) for message in history] == [
        ("user", "one"),
        ("assistant", "hello"),
    ]


async def joined() -> None:
    join = node("j", "control.expression", expression="a + b")
    played = await play(flow_of([manual("a", "a"), manual("b", "b"), join], "a.data j.a", "b.data j.b"))
    assert played.value("j.out") == "ab"
    assert played.done.count("j") == 1


async def two_on_one_port() -> None:
    with pytest.raises(FlowInvalid, match=r"DF0307 j\.\w+: .* a\.data and b\.data"):
        flow_of([manual("a"), manual("b"), passing("j")], "a.data j.data", "b.data j.data")


async def context_waited_for() -> None:
    nodes = [*chatting(), manual("m", "soon")]
    played = await play(flow_of(nodes, "s u", "u q", "m.data q.data"))
    assert played.requests == []
    played = await play(flow_of(nodes, "s u", "u q", "m.data q.data"), "now")
    assert said_in(played.requests[0]) == ["user:soon"]


async def kept() -> None:
    nodes = [*chatting(), manual("m", "kept"), node("c", "cache", ttl=300), node("c2", "chat")]
    edges = ("s u", "u c", "m.data c.data", "c q", "c.data q.data", "q u")
    played = await play(flow_of(nodes[:-1], *edges), "one", "two")
    assert [said_in(request)[-1] for request in played.requests] == ["user:kept", "user:kept"]


async def kept_so_long() -> None:
    assert is_fresh({"value": 1, "at": 100}, 300, None, 399)
    assert not is_fresh({"value": 1, "at": 100}, 300, None, 400)
    assert not is_fresh({"value": 1, "at": 100}, 0, None, 100)


async def invalidated() -> None:
    assert not is_fresh({"value": 1, "at": 100}, 300, 101, 110)
    assert is_fresh({"value": 1, "at": 100}, 300, 99, 110)


async def isolated() -> None:
    nodes = [
        node("s", "defaultContextStart", provider="openai", model="gpt-5"),
        node("n", "newContext", provider="anthropic", model="claude"),
        manual("m", "q"),
        node("A", "chat"),
        node("B", "chat"),
    ]
    flow = flow_of(nodes, "n A", "m.data A.data", "s B", "A.result B.message")
    played = await play(flow, answer=lambda request: f"by {request.model}")
    assert {request.model: said_in(request) for request in played.requests} == {
        "anthropic/claude": ["user:q"],
        "openai/gpt-5": ["user:by anthropic/claude"],
    }
    history = played.value("B.context").message_history
    assert [message.content for message in history] == ["by anthropic/claude", "by openai/gpt-5"]


async def injected_once() -> None:
    nodes = [
        node("s", "defaultContextStart"),
        *(
            node(id, "injectMessages", id="k", staticUserMessage="U", staticAssistantMessage="A")
            for id in ("i", "j")
        ),
    ]
    played = await play(flow_of(nodes, "s i", "i j"))
    told = [(message.pin, message.content) for message in played.value("j.conversation").messages]
    assert told == [("k-user", "U"), ("k-assistant", "A")]


async def side_branch() -> None:
    nodes = [manual("s"), manual("f", " "), passing("x"), passing("after")]
    flow = flow_of(nodes, "s.data x.data", "s f", "f.data after.data")
    played = await play(flow)
    assert played.result.states["x"] is NodeState.DONE
    assert played.result.states["after"] is NodeState.NOT_RUN
    assert played.result.states["f"] is NodeState.FAILED
    assert "f: NoMessage" in played.error


async def entries() -> None:
    played = await play(flow_of([manual("a", "A"), manual("b", "B")]))
    assert played.result.outputs == {"a": "A", "b": "B"}
    assert problems([node("u", "userInput"), node("q", "chat")], "u q", "q u") == ["DF4010 nodes"]


async def unknown() -> None:
    found = problems([node("b", "budgetGuard"), manual("a"), node("p", "parallelJoin")])
    assert found == ["DF4005 nodes[0]: node 'b'", "DF4005 nodes[2]: node 'p'"]


async def cancelled() -> None:
    flow = flow_of(
        [*chatting(), node("d", "control.delay", seconds=60), manual("m")], *CHAT, "q u", "m.data d.value"
    )
    async with flow.start() as run:
        async for event in run.events():
            if event.kind is EventKind.ASK_OPENED:
                run.cancel()
        result = await run
    assert result.status == "cancelled"


async def selected() -> None:
    nodes = [node("t", "tools", tools=["kanban:getBoard", "nope"], mcpPlugins={"x": False})]
    tools = "tests.nodes.formats.hifide.board:kanbanGetBoard,tests.nodes.formats.hifide.board:mcp_x_y"
    flow = flow_of([*nodes, *chatting()], *CHAT, "t.tools q.tools", tools=tools)
    played = await play(flow, "hi")
    assert [tool.name for tool in played.requests[0].tools] == ["kanbanGetBoard"]
    assert [remark.original for remark in flow.report] == ["offers the tool 'nope' where there is one"]


async def clean_tail() -> None:
    flow = flow_of([node("s", "defaultContextStart")])
    for roles, left in (("uau", "ua"), ("uaa", "ua"), ("ua", "ua"), ("u", "")):
        names = {"u": "user", "a": "assistant"}
        history = [{"role": names[role], "content": role} for role in roles]
        played = await play(flow, history=history)
        messages = played.value("s.out").message_history
        assert "".join(message.role[0] for message in messages) == left


ROWS: Final[dict[str, Callable[[], Awaitable[None]]]] = {
    "HF01": named_push,
    "HF02": absent_port,
    "HF03": contexts_of_routes,
    "HF04": two_routes,
    "HF05": pulled_tools,
    "HF06": chat_loop,
    "HF07": portal_loop,
    "HF08": one_text_once,
    "HF09": joined,
    "HF10": two_on_one_port,
    "HF11": context_waited_for,
    "HF12": kept,
    "HF13": kept_so_long,
    "HF14": invalidated,
    "HF15": isolated,
    "HF16": injected_once,
    "HF17": side_branch,
    "HF18": entries,
    "HF19": unknown,
    "HF20": cancelled,
    "HF21": selected,
    "HF22": clean_tail,
}


async def test_a_row_of_behaviour_holds(subtests: pytest.Subtests) -> None:
    for id, row in ROWS.items():
        with subtests.test(id):
            await row()


def test_each_behaviour_has_a_row() -> None:
    assert list(ROWS) == [f"HF{number:02}" for number in range(1, 23)]
