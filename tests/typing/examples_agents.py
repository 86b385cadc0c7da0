"""Contract example for agents."""

from __future__ import annotations

from dataflow import ExecutionContext, Flow
from dataflow_agent import Agent, Reply, Toolbox, listed, mcp, sessions, tools


async def look_up(topic: str) -> list[str]:
    """Look facts up."""
    return [topic]


def write_file(name: str, text: str) -> None:
    """Write a file."""


lead = Agent("lead", model="anthropic:claude", system="You lead a small newsroom.")
researcher = Agent("researcher", model="openai:gpt", system="Find facts.", tools=tools(look_up))

with Flow("newsroom") as newsroom:
    topic = newsroom.input("topic", str)
    main = newsroom.context("main", system="House style: plain words.")
    files: Toolbox = tools(write_file, ask=["write_*"])
    desk: Toolbox = mcp("npx", "server-desk", allow=["read_*"], ask=["write_*"], deny=["delete_*"])
    helpers = researcher.as_tool("look facts up")
    story = newsroom.add(lead, prompt=topic, context=main, tools=tools(files, desk, helpers))
    # the same conversation goes on
    check = newsroom.add(lead, prompt="List the claims you made.", context=story.out.context)
    newsroom.output("story", story.out.text)
    newsroom.output("claims", check.out.text)


async def called() -> tuple[str, ExecutionContext]:
    reply: Reply = await lead("Write about rain.", context=ExecutionContext("c"), tools=files)
    text: str = reply.text
    return text, reply.context


async def shared() -> tuple[str, ...]:
    far = mcp(url="https://example.org/mcp", name="far")
    async with sessions(desk, far):
        await newsroom.run(topic="rain")
        found: Toolbox = await listed(far)
    return found.names
