"""The behaviours of flows of HiFide, a row for each, and flows, random ones too, as documents."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dataflow import EventKind, Flow, FlowInvalid, NodeState
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow_agent import ModelRequest, ScriptedAnswer, ScriptedCall
from tests.nodes.agent.serving import ON_ASYNCIO, SERVER, children
from tests.nodes.formats.hifide.flows import chatting, edge, flow_of, node, play, problems, said_in

CHAT: Final = ("s u", "u q", "u.data q.data")
ROUTED: Final = ("s r", "m.data r.data")
A_TOOL: Final = "tests.nodes.formats.hifide.board:kanbanGetBoard"


def manual(id: str, message: str = "hi") -> dict[str, Any]:
    return node(id, "manualInput", message=message)


def router(*names: str) -> list[dict[str, Any]]:
    start = node("s", "defaultContextStart")
    return [start, manual("m"), node("r", "intentRouter", routes=dict.fromkeys(names, "what"))]


def passing(id: str) -> dict[str, Any]:
    return node(id, "manualInput")


def routed(name: str) -> Any:
    return lambda _: json.dumps({"answer": name})


async def named_push() -> None:
    played = await play(flow_of([manual("a", "1"), passing("b")], "a.data b.data"))
    assert (played.value("b.data"), played.done.count("b")) == ("1", 1)


async def absent_port() -> None:
    flow = flow_of(
        [*router("x", "y"), passing("X"), passing("Y")], *ROUTED, "r.x-data X.data", "r.y-data Y.data"
    )
    played = await play(flow, answer=routed("x"))
    assert (played.value("X.data"), played.result.states["Y"]) == ("hi", NodeState.SKIPPED)


async def contexts_of_routes() -> None:
    pairs = [f"r.{name}-{port} {name.upper()}.{port}" for name in "xy" for port in ("context", "data")]
    flow = flow_of([*router("x", "y"), node("X", "chat"), node("Y", "chat")], *ROUTED, *pairs)
    played = await play(flow, answer=routed("x"))
    assert (played.result.states["X"], played.result.states["Y"]) == (NodeState.DONE, NodeState.SKIPPED)
    assert len(played.requests) == 2  # the router and X, once each


async def two_routes() -> None:
    pairs = [f"r.{name}-{port} X.{port}" for name in "xy" for port in ("context", "data")]
    played = await play(flow_of([*router("x", "y"), passing("X")], *ROUTED, *pairs), answer=routed("y"))
    assert (played.value("X.data"), played.done.count("X")) == ("hi", 1)


async def pulled_tools() -> None:
    flow = flow_of([*chatting(), node("t", "tools")], *CHAT, "t.tools q.tools", tools=A_TOOL)
    waiting = await play(flow)
    assert (waiting.done, waiting.result.states["t"]) == (["s"], NodeState.WAITING)
    assert [tool.name for tool in (await play(flow, "hello")).requests[0].tools] == ["kanbanGetBoard"]


async def looped(*edges: str, portals: Sequence[Any] = ()) -> None:
    played = await play(flow_of([*chatting(), *portals], *CHAT, *edges), "one", "two")
    assert [ask.id for ask in played.result.asks] == ["u[2]"]
    assert [said_in(one) for one in played.requests][1:] == [["user:one", "assistant:hello", "user:two"]]
    assert not {"i", "o"} & played.result.states.keys()


async def chat_loop() -> None:
    await looped("q u")


async def portal_loop() -> None:
    portals = [node("i", "portalInput", id="main"), node("o", "portalOutput", id="main")]
    await looped("q i", "o u", portals=portals)


async def one_text_once() -> None:
    history = (await play(flow_of(chatting(), *CHAT), "one")).value("q.context").message_history
    assert [(said.role, said.content) for said in history] == [("user", "one"), ("assistant", "hello")]


async def joined() -> None:
    join = node("j", "control.expression", expression="a + b")
    played = await play(flow_of([manual("a", "a"), manual("b", "b"), join], "a.data j.a", "b.data j.b"))
    assert (played.value("j.out"), played.done.count("j")) == ("ab", 1)


async def two_on_one_port() -> None:
    with pytest.raises(FlowInvalid, match=r"DF0307 j\.\w+: .* a\.data and b\.data"):
        flow_of([manual("a"), manual("b"), passing("j")], "a.data j.data", "b.data j.data")


async def context_waited_for() -> None:
    nodes = [*chatting(), manual("m", "soon")]
    played = await play(flow_of(nodes, "s u", "u q", "m.data q.data"))
    assert played.requests == []
    played = await play(flow_of(nodes, "s u", "u q", "m.data q.data"), "now")
    assert said_in(played.requests[0]) == ["user:soon"]


async def isolated() -> None:
    start = node("s", "defaultContextStart", provider="openai", model="gpt-5")
    new = node("n", "newContext", provider="anthropic", model="claude")
    nodes = [start, new, manual("m", "q"), node("A", "chat"), node("B", "chat")]
    flow = flow_of(nodes, "n A", "m.data A.data", "s B", "A.result B.message")
    played = await play(flow, answer=lambda request: f"by {request.model}")
    assert [(request.model, said_in(request)) for request in played.requests] == [
        ("anthropic/claude", ["user:q"]),
        ("openai/gpt-5", ["user:by anthropic/claude"]),
    ]
    history = played.value("B.context").message_history
    assert [message.content for message in history] == ["by anthropic/claude", "by openai/gpt-5"]


async def injected_once() -> None:
    given = {"staticUserMessage": "U", "staticAssistantMessage": "A"}
    injecting = [{**node(name, "injectMessages"), "config": {"id": "k", **given}} for name in ("i", "j")]
    played = await play(flow_of([node("s", "defaultContextStart"), *injecting], "s i", "i j"))
    told = [(message.pin, message.content) for message in played.value("j.conversation").messages]
    assert told == [("k-user", "U"), ("k-assistant", "A")]


async def side_branch() -> None:
    nodes = [manual("s"), manual("f", " "), passing("x"), passing("after")]
    flow = flow_of(nodes, "s.data x.data", "s f", "f.data after.data")
    played = await play(flow)
    states = [played.result.states[name] for name in ("x", "after", "f")]
    assert states == [NodeState.DONE, NodeState.NOT_RUN, NodeState.FAILED]
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


#: HF01 to HF11 and HF15 to HF22; those between, of caches, are in test_nodes.py.
ROWS: Final[list[Callable[[], Awaitable[None]]]] = [
    *(named_push, absent_port, contexts_of_routes, two_routes, pulled_tools, chat_loop, portal_loop),
    *(one_text_once, joined, two_on_one_port, context_waited_for),
    *(isolated, injected_once, side_branch, entries, unknown, cancelled, selected, clean_tail),
]


async def test_a_row_of_behaviour_holds(subtests: pytest.Subtests) -> None:
    for number, row in zip([*range(1, 12), *range(15, 23)], ROWS, strict=True):
        with subtests.test(f"HF{number:02}"):
            await row()


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
