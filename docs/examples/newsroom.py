"""A newsroom: an editor has a researcher look things up, writes a story, and asks before it is saved.

The archive is a tool server of its own, a process that speaks MCP. With OPENAI_API_KEY set a model answers;
without it a script does, and nothing is sent anywhere. Run it in a terminal, or with `y` as its input.
"""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import anyio

from dataflow import Ask, Flow, Result
from dataflow_agent import Agent, Prompt, ScriptedAnswer, ScriptedCall, fill_prompt, mcp, scripted, tools

MODEL = "openai/gpt-5-mini"
SERVER = Path(__file__).with_name("newsroom_server.py")
TASK = Prompt(prompt="Write two sentences about {{ $steps.topic.output }}, and save them under its name.")

archive = mcp(sys.executable, str(SERVER), "stories", name="archive", allow=["read_*"], ask=["write_*"])
researcher = Agent(
    "researcher", model=MODEL, system="Find facts.", tools=archive, allowed_tools=["read_archive"]
)
editor = Agent("editor", model=MODEL, system="You write for a small paper. Use plain words.")

with Flow("newsroom") as newsroom:
    task = newsroom.add(fill_prompt, topic=newsroom.input("topic", str), config=TASK)
    house = newsroom.context("house")
    helpers = tools(archive, researcher.as_tool("Looks facts up in the archive of the paper."))
    story = newsroom.add(editor, prompt=task.out, context=house, tools=helpers)
    check = newsroom.add(editor, prompt="List the claims you made.", context=story.out.context)
    newsroom.output("story", story.out.text)
    newsroom.output("claims", check.out.text)


def asks_for(tool: str, **arguments: str) -> ScriptedAnswer:
    return ScriptedAnswer(tool_calls=(ScriptedCall(name=tool, arguments={**arguments}),))


STORY = "In 1931 the harbour froze over. The ferry was moved on sledges."
SCRIPT = (
    asks_for("researcher", prompt="What has happened in the harbour?"),
    asks_for("read_archive", word="harbour"),
    "In 1931 it froze over; the ferry was moved on sledges.",
    asks_for("write_story", name="harbour", text=STORY),
    f"Done. {STORY}",
    "The harbour froze over in 1931. The ferry was moved on sledges.",
)


def decided(ask: Ask) -> str:
    print(ask.prompt)
    return "allow" if sys.stdin.readline().strip() == "y" else "deny"


async def written(topic: str) -> Result:
    """Run the flow, and have each ask decided on before it goes on."""
    result = await newsroom.run(topic=topic)
    while result.asks:
        result = await newsroom.resume(result, {ask.id: decided(ask) for ask in result.asks})
    return result


def main() -> None:
    topic = sys.argv[1] if len(sys.argv) > 1 else "the harbour"
    with nullcontext() if os.environ.get("OPENAI_API_KEY") else scripted(*SCRIPT):
        result = anyio.run(written, topic)
    print(result["story"])
    print(f"claims: {result['claims']}")


if __name__ == "__main__":
    main()
