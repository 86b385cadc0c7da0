# mypy: disable-error-code="arg-type"
"""Problems of tools: functions that no model can call, and what a model reads of its calls."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import anyio

from dataflow import ExecutionContext, Flow, ToolCall
from dataflow_agent import Agent, AgentConfig, Toolbox, agent, mcp, tools
from dataflow_agent.servers import offers as offering
from dataflow_agent.servers.offers import Offer
from dataflow_agent.toolkit.policies import Policy
from tests.messages.telling import Row, Stimulus, configuring, wired
from tests.nodes.agent import agent_tools

__all__ = ["ROWS"]

NO_CONTEXT: Final = ExecutionContext("")
BOX: Final = tools(agent_tools.add, agent_tools.weather, agent_tools.fails, agent_tools.odd)
FORGETFUL: Final = tools(agent_tools.forgetful)
AGENT: Final = Agent("helper")


def describing(item: Any) -> Stimulus:
    return lambda: tools(item)


def calling(name: str, arguments: str, box: Toolbox = BOX) -> Stimulus:
    return lambda: anyio.run(agent_tools.told_of, ToolCall("c", name, arguments), box, None)


def having(given: Any, flow: Flow) -> None:
    flow.add(Agent("lead", model="openai/gpt"), prompt="hi", tools=given)


ROWS: Final = [
    Row("a lambda", describing(lambda: 1)),
    Row("no function", describing(3)),
    Row("takes a conversation", describing(agent_tools.with_context)),
    Row("any number of values", describing(agent_tools.with_many)),
    Row("a raw node", describing(agent_tools.raw)),
    Row("no JSON", describing(agent_tools.with_lock), hide=r"(?<=Schema: ).*"),
    Row("no schema", describing(agent_tools.with_function)),
    Row("not importable", lambda: anyio.run(offering.tools, Offer(functions=["no_such_module:add"]))),
    Row("no name of a function", configuring(Offer, functions=["add"])),
    Row("no such tool", calling("sub", "{}")),
    Row("no tools at all", calling("sub", "{}", tools())),
    Row("cut arguments", calling("add", '{"a": 1, '), hide=r"(?<=JSON: ).*(?=; add)"),
    Row("arguments that are nested too deep", calling("add", '{"a": ' + "[" * 100 + "]" * 100 + "}")),
    Row("a list of arguments", calling("add", "[1, 2]")),
    Row("an argument of another type", calling("add", '{"a": "x", "b": 2}')),
    Row("a tool that fails", calling("fails", '{"why": "no disk"}')),
    Row("a value of no form", calling("odd", "{}")),
    Row("a value that is to be awaited", calling("forgetful", "{}", FORGETFUL)),
    Row("functions in a list", describing([agent_tools.add, agent_tools.weather])),
    Row("an agent that is no description", describing(AGENT)),
    Row("an agent for a toolbox", lambda: Agent("lead", tools=AGENT)),
    *(
        Row(f"{name} for the tools of an agent in a flow", wired(partial(having, given)), hide="0x[0-9a-f]+")
        for name, given in (
            ("a function", agent_tools.weather),
            ("a list", [agent_tools.weather]),
            ("an agent", AGENT),
        )
    ),
    Row("a pattern that is not closed", lambda: Policy(deny=("add(a=1",))),
    Row("an argument twice in a pattern", lambda: Policy(deny=("add(a=1, a=2)",))),
    Row(
        "a pattern with an escape that there is not",
        lambda: Policy(deny=(r'add(a="\x")',)),
        hide=r"(?<=not JSON: ).*(?=; expected)",
    ),
    Row("a pattern of no function", lambda: tools(agent_tools.add, agent_tools.weather, deny=["weahter"])),
    Row(
        "a pattern of an argument that is not there in the config of a node",
        configuring(Offer, functions=[f"{agent_tools.__name__}:add"], deny=["add(c=1)"]),
    ),
    Row(
        "a pattern of an argument of a function that is not there",
        configuring(Offer, functions=["no_such_module:add"], deny=["add(c=1)"]),
    ),
    Row("patterns in a text", lambda: mcp("serve", allow="add")),
    Row(
        "two subagents of one name",
        configuring(Agent, name="lead", tools=tools(Agent("a").as_tool("x"), Agent("a").as_tool("y"))),
    ),
    Row("an agent below itself", configuring(Agent, name="lead", tools=Agent("lead").as_tool("x"))),
    Row("a name that is no name of a node", configuring(Agent("a b").as_tool, description="x")),
    Row(
        "a pattern of a subagent that does not mean it",
        configuring(Agent("reader").as_tool, description="x", deny=["raeder"]),
    ),
    Row("agents among the tools", configuring(AgentConfig, tools=Agent("a").as_tool("x"))),
    Row("an agent that comes by a port", lambda: anyio.run(agent, "hi", NO_CONTEXT, Agent("a").as_tool("x"))),
]
