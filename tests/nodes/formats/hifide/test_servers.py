"""Real servers of tools that are named besides a file of HiFide: what they offer, and what is called."""

from __future__ import annotations

import shlex
import sys
from typing import Any, Final

from dataflow_agent import ModelRequest, ScriptedAnswer, ScriptedCall
from tests.nodes.agent.serving import ON_ASYNCIO, SERVER, children
from tests.nodes.formats.hifide.flows import chatting, flow_of, node, play

pytestmark = ON_ASYNCIO

START: Final = shlex.join([sys.executable, SERVER])
EDGES: Final = ("s u", "u q", "u.data q.data", "t.tools q.tools", "q u")


def echoing(request: ModelRequest) -> Any:
    """Call the tool first, then answer with what it has said."""
    last = request.messages[-1]
    if last.role == "user":
        return ScriptedAnswer(tool_calls=(ScriptedCall(name="echo", arguments={"text": "from afar"}),))
    return f"it says {last.content}"


async def test_a_chat_calls_a_tool_of_a_server_with_or_without_a_name() -> None:
    before = children()
    for servers in (START, f"served={START}"):
        flow = flow_of([*chatting(), node("t", "tools")], *EDGES, servers=servers)
        played = await play(flow, "hi", answer=echoing)
        assert {"echo", "pid"} < {tool.name for tool in played.requests[0].tools}
        assert played.requests[1].messages[-1].content == "from afar"
        assert len(played.requests) == 2
        assert children() == before
