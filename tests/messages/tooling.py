# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type"
"""What is said of tools: of functions that no model can call, and of calls to the model that asks for them."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import anyio

from dataflow import ExecutionContext, Flow, ToolCall, Tools
from dataflow_agent import Agent, AgentConfig, Toolbox, agent, mcp, tools
from dataflow_agent.servers import offers as offering
from dataflow_agent.servers.offers import Offer
from dataflow_agent.toolkit.policies import Policy
from tests.messages.telling import Row, Stimulus, wired
from tests.nodes.agent import agent_tools

__all__ = ["ROWS"]

NO_CONTEXT: Final = ExecutionContext("")
BOX: Final = tools(agent_tools.add, agent_tools.weather, agent_tools.fails, agent_tools.odd)
FORGETFUL: Final = tools(agent_tools.forgetful)
AGENT: Final = Agent("helper")


class Hammer(Tools):
    """Tools of another kind."""


def describing(item: Any) -> Stimulus:
    return lambda: tools(item)


def calling(name: str, arguments: str, box: Toolbox = BOX) -> Stimulus:
    return lambda: anyio.run(agent_tools.told_of, ToolCall("c", name, arguments), box, None)


def having(given: Any, flow: Flow) -> None:
    flow.add(Agent("lead", model="openai/gpt"), prompt="hi", tools=given)


ROWS: Final = [
    Row(
        "a lambda",
        describing(lambda: 1),
        "<lambda> is not there under its name; expected a function of a module, which is found again when a run goes on",
    ),
    Row("no function", describing(3), "expected a function, found 3"),
    Row(
        "tools of another kind",
        describing(Hammer()),
        "Hammer is no description of this pack; expected one of tools(...)",
    ),
    Row(
        "takes a conversation",
        describing(agent_tools.with_context),
        "parameter 'context' takes context; expected values that JSON can carry",
    ),
    Row(
        "any number of values",
        describing(agent_tools.with_many),
        "*numbers: 'int' is no parameter with a name; expected such as `numbers: str`",
    ),
    Row(
        "a raw node",
        describing(agent_tools.raw),
        "it is a raw node; expected a function with a parameter for each argument",
    ),
    Row(
        "no JSON",
        describing(agent_tools.with_lock),
        "JSON cannot carry its arguments: …",
    ),
    Row("no schema", describing(agent_tools.with_function), "its parameters have no JSON Schema"),
    Row(
        "not importable",
        lambda: anyio.run(offering.tools, Offer(functions=["no_such_module:add"])),
        "it cannot be imported: No module named 'no_such_module'",
    ),
    Row(
        "no name of a function",
        lambda: Offer(functions=["add"]),
        "…expected a function, written module:qualname, found 'add'…",
    ),
    Row(
        "not among them",
        lambda: BOX.specs(["sub"]),
        "no tool has the name 'sub'; choices: add, weather, fails, odd",
    ),
    Row(
        "no such tool",
        calling("sub", "{}"),
        "error: there is no tool 'sub'; choices: add, weather, fails, odd",
    ),
    Row(
        "no tools at all",
        calling("sub", "{}", tools()),
        "error: there is no tool 'sub'; there are none",
    ),
    Row(
        "cut arguments",
        calling("add", '{"a": 1, '),
        "error: the arguments are not valid JSON: …; add was not called",
    ),
    Row(
        "arguments that are nested too deep",
        calling("add", '{"a": ' + "[" * 100 + "]" * 100 + "}"),
        "error: the arguments are nested too deep; at most 100 levels are taken; add was not called",
    ),
    Row(
        "a list of arguments",
        calling("add", "[1, 2]"),
        "error: the arguments do not fit: expected an object, found list; add was not called",
    ),
    Row(
        "an argument of another type",
        calling("add", '{"a": "x", "b": 2}'),
        "error: the arguments do not fit: .a: expected a valid integer, found str 'x'; add was not called",
    ),
    Row("a tool that fails", calling("fails", '{"why": "no disk"}'), "error: OSError: no disk"),
    Row(
        "a value of no form",
        calling("odd", "{}"),
        "error: the tool gave a value of type lock, which JSON cannot carry",
    ),
    Row(
        "a value that is to be awaited",
        calling("forgetful", "{}", FORGETFUL),
        "error: the tool gave a coroutine; its function has an `await` too few",
    ),
    Row(
        "functions in a list",
        describing([agent_tools.add, agent_tools.weather]),
        "expected functions one by one, as in tools(*functions)",
    ),
    Row(
        "an agent that is no description",
        describing(AGENT),
        "expected a function, found an agent; make a tool of it with .as_tool(...)",
    ),
    Row(
        "an agent for a toolbox",
        lambda: Agent("lead", tools=AGENT),
        "expected a Toolbox, found Agent; make one with tools(...), or of an agent with .as_tool(...)",
    ),
    Row(
        "a list for a toolbox",
        lambda: Agent("lead", tools=[agent_tools.add]),
        "expected a Toolbox, found list; make one with tools(...), or of an agent with .as_tool(...)",
    ),
    *(
        Row(
            f"{name} for the tools of an agent in a flow",
            wired(partial(having, given)),
            f"port 'lead.tools': expected Toolbox (made by tools(...) of functions, mcp(...) of a server, as_tool(...) of an agent), found {found}",
        )
        for name, given, found in (
            ("a function", agent_tools.weather, "function …"),
            ("a list", [agent_tools.weather], "list …"),
            ("an agent", AGENT, "Agent <flow helper>"),
        )
    ),
    Row(
        "a pattern that is not closed",
        lambda: Policy(deny=("add(a=1",)),
        """the pattern 'add(a=1' cannot be read; expected `name` or `name(argument=glob, …)`, with globs that have any of , ( ) " in double quotes""",
    ),
    Row(
        "an argument twice in a pattern",
        lambda: Policy(deny=("add(a=1, a=2)",)),
        "the pattern 'add(a=1, a=2)' names the argument 'a' twice; expected it once",
    ),
    Row(
        "a pattern with an escape that there is not",
        lambda: Policy(deny=(r'add(a="\x")',)),
        "the pattern … has a text that JSON does not know: …",
    ),
    Row(
        "a pattern of no function",
        lambda: tools(agent_tools.add, agent_tools.weather, deny=["weahter"]),
        "the pattern 'weahter' means none of the functions; choices: add, weather",
    ),
    Row(
        "a pattern of no function in the config of a node",
        lambda: Offer(functions=[f"{agent_tools.__name__}:add"], deny=["weahter"]),
        "…the pattern 'weahter' means none of the functions; choices: add…",
    ),
    Row(
        "a pattern of an argument that is not there",
        lambda: tools(agent_tools.add, agent_tools.blocking, deny=["add(c=1)", "*(text=x)"]),
        "the pattern 'add(c=1)' has arguments that no function of its name has; those there are: add(a, b), blocking(text)",
    ),
    Row(
        "a pattern of an argument that is not there in the config of a node",
        lambda: Offer(functions=[f"{agent_tools.__name__}:add"], deny=["add(c=1)"]),
        "…the pattern 'add(c=1)' has arguments that no function of its name has; those there are: add(a, b)…",
    ),
    Row(
        "a pattern of an argument of a function that is not there",
        lambda: Offer(functions=["no_such_module:add"], deny=["add(c=1)"]),
        "…function no_such_module:add: it cannot be imported: No module named 'no_such_module'…",
    ),
    Row(
        "patterns in a text",
        lambda: mcp("serve", allow="add"),
        "`allow` is the text 'add'; expected a list of patterns",
    ),
    Row(
        "two subagents of one name",
        lambda: Agent("lead", tools=tools(Agent("a").as_tool("x"), Agent("a").as_tool("y"))),
        "…two subagents have the name 'a'; expected names that differ…",
    ),
    Row(
        "an agent below itself",
        lambda: Agent("lead", tools=Agent("lead").as_tool("x")),
        "…the agent 'lead' would have itself below itself: lead > lead…",
    ),
    Row(
        "a name that is no name of a node",
        lambda: Agent("a b").as_tool("x"),
        "…'a b' is no name of a subagent; expected letters, digits and _, and none of approve, context, describe, make, result…",
    ),
    Row(
        "a pattern of a subagent that does not mean it",
        lambda: Agent("reader").as_tool("x", deny=["raeder"]),
        "…the pattern 'raeder' does not mean the agent; expected 'reader', or a glob of it…",
    ),
    Row(
        "agents among the tools",
        lambda: AgentConfig(tools=Agent("a").as_tool("x")),
        "…the tools have agents: a; expected them in `subagents`…",
    ),
    Row(
        "an agent that comes by a port",
        lambda: anyio.run(agent, "hi", NO_CONTEXT, Agent("a").as_tool("x")),
        "…the agent 'a' is known only now; expected the toolbox itself, and no port, where an `Agent` is placed, or its setting `subagents`…",
    ),
]
