"""An agent that calls a provider through litellm, which runs on asyncio only."""

from __future__ import annotations

import asyncio

from dataflow_agent import Agent, Reply, tools
from tests.nodes.agent.agent_tools import add
from tests.nodes.agent.fake_openai import FakeServer


def test_what_a_tool_gave_is_sent_to_the_provider(server: FakeServer) -> None:
    lead = Agent("lead", model="openai/tools", base_url=server.url, max_tool_calls=1)

    async def ask() -> Reply:
        return await lead("Add.", tools=tools(add))

    reply = asyncio.run(ask())
    assert (reply.text, reply.stopped_by) == ("", "max_tool_calls")
    first, second = server.asked
    assert first["tools"][0]["function"]["name"] == "add"
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool"]
    assert second["messages"][1]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert second["messages"][2]["tool_call_id"] == "call_1"
    assert second["messages"][2]["content"].startswith(
        "error: the arguments do not fit: .b: expected a value"
    )
