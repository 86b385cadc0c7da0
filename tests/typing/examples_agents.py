"""Contract example for agents."""

from __future__ import annotations

from dataflow import ExecutionContext, Flow
from dataflow_agent import Agent, Reply, Toolbox, tools


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
    story = newsroom.add(
        lead, prompt=topic, context=main, tools=tools(files, researcher.as_tool("look facts up"))
    )
    # the same conversation goes on
    check = newsroom.add(lead, prompt="List the claims you made.", context=story.out.context)
    newsroom.output("story", story.out.text)
    newsroom.output("claims", check.out.text)


async def called() -> tuple[str, ExecutionContext]:
    reply: Reply = await lead("Write about rain.", context=ExecutionContext("c"), tools=files)
    text: str = reply.text
    return text, reply.context
