# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type"
"""What is said of tools: of functions that no model can call, and of calls to the model that asks for them."""

from __future__ import annotations

from typing import Any, Final

import anyio

from dataflow import ToolCall, Tools
from dataflow_agent import Toolbox, offering, tools
from dataflow_agent.offering import Offer
from dataflow_agent.policies import Policy
from dataflow_agent.tool_calls import result_of
from tests.agent import agent_tools
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]

BOX: Final = tools(agent_tools.add, agent_tools.weather, agent_tools.fails, agent_tools.odd)


class Hammer(Tools):
    """Tools of another kind."""


def describing(item: Any) -> Stimulus:
    return lambda: tools(item)


def calling(name: str, arguments: str, box: Toolbox = BOX) -> Stimulus:
    return lambda: anyio.run(result_of, ToolCall("c", name, arguments), box, None)


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
        "no tool has the name 'sub'; those that there are: add, weather, fails, odd",
    ),
    Row(
        "no such tool",
        calling("sub", "{}"),
        "error: there is no tool 'sub'; those that there are: add, weather, fails, odd",
    ),
    Row(
        "no tools at all",
        calling("sub", "{}", tools()),
        "error: there is no tool 'sub'; those that there are: none",
    ),
    Row(
        "cut arguments",
        calling("add", '{"a": 1, '),
        "error: the arguments are not valid JSON: …; add was not called",
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
        "the pattern 'weahter' means none of the functions; those that there are: add, weather",
    ),
]
