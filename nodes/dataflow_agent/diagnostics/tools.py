"""Problems of tools: functions that cannot be tools, policies, and calls (DF22, first part)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

NOT_A_TOOLBOX: Final = Kind(
    "DF2201",
    "",
    expected="a Toolbox",
    hint="make one with tools(...) of functions, mcp(...) of a server, or .as_tool(...) of an agent",
    meaning="The tools of an agent are given as a toolbox.",
    example='Agent("lead", tools=[add])',
    cure="Make a toolbox: `tools(add)`.",
)
NOT_A_FUNCTION: Final = Kind(
    "DF2202",
    "",
    expected="a function",
    hint="{advice}",
    meaning="A tool is a function of a module; in documents it is written `module:qualname`.",
    example="tools([add, weather])",
    cure="Pass the functions one by one; make a tool of an agent with `.as_tool(...)`.",
)
FUNCTION_NOT_FOUND_AGAIN: Final = Kind(
    "DF2203",
    "{name} is not found under its name",
    expected="a function of a module, which is found again when a run is resumed",
    meaning="Runs refer to tools by the names of functions, which lambdas and local functions do not have.",
    example="tools(lambda text: text.upper())",
    cure="Define the function at the top of a module.",
)
FUNCTION_NOT_IMPORTED: Final = Kind(
    "DF2204",
    "cannot be imported: {error}",
    meaning="A function that is given as `module:qualname` cannot be imported.",
    example='Offer(functions=["no_such_module:add"])',
    cure="Correct the name, or install the module.",
)
PARAMETER_UNFIT: Final = Kind(
    "DF2205",
    "a model cannot pass {what}",
    meaning="A model calls a tool with named arguments that JSON can represent.",
    example="async def total(*numbers: int) -> int: ...   # as a tool",
    cure="Give the function a named parameter with a JSON type for each argument.",
)
PARAMETERS_NOT_JSON: Final = Kind(
    "DF2206",
    "its parameters have no JSON Schema{reason}",
    meaning="A parameter of a tool has a type that JSON cannot represent, such as a lock or a function.",
    example="async def wait(lock: Lock) -> None: ...   # as a tool",
    cure="Annotate the parameters with strings, numbers, lists, mappings, dataclasses or pydantic models.",
)
TOOL_UNKNOWN: Final = Kind(
    "DF2207",
    "no tool has the name {name!r}",
    meaning="A setting or a call names a tool that the toolbox does not have, or that is always denied.",
    example='CallTool(tool="sub")   # of tools(add)',
    cure="Correct the name; tools of the same name have the name of their module or server in front.",
)
PATTERN_INVALID: Final = Kind(
    "DF2208",
    "the pattern {pattern!r} cannot be read{reason}",
    expected='`name` or `name(argument=glob, …)`, with globs that have any of , ( ) " in double quotes',
    meaning="A pattern of a policy is malformed.",
    example='tools(add, deny=["add(a=1"])',
    cure='Write `add(a=1)`; globs with special characters are quoted: `say(text="a, b")`.',
)
PATTERN_UNMATCHED: Final = Kind(
    "DF2209",
    "the pattern {pattern!r}{where} does not match the name of any tool{effect}",
    meaning="A pattern of a policy matches no tool, and may be misspelt.",
    example='tools(weather, deny=["weahter"])',
    cure="Correct the pattern; it matches the names of functions, or the names of tools at their server.",
)
PATTERN_ARGUMENTS_UNKNOWN: Final = Kind(
    "DF2210",
    "the pattern {pattern!r}{where} has arguments that no tool of its name has{effect}",
    meaning="A pattern of a policy names arguments that the tools it matches do not have.",
    example='tools(add, deny=["add(c=1)"])   # of add(a, b)',
    cure="Correct the names of the arguments.",
)
PATTERNS_NOT_A_LIST: Final = Kind(
    "DF2211",
    "",
    expected="a list of patterns",
    meaning="`allow`, `ask` and `deny` are lists of patterns, and a string was given.",
    example='mcp("serve", allow="add")',
    cure='Write a list: `allow=["add"]`.',
)
CALL_NOT_ALLOWED: Final = Kind(
    "DF2212",
    "was not called: its policy does not allow this call without an approval",
    meaning="`agent.call_tool` and `call_server_tool` make only calls that the policy of the tool allows.",
    example='call_server_tool(mcp("serve", deny=["burn"]), "burn", {})',
    cure="Allow the call in the policy, or let an agent make it, which asks for approval.",
)
CALL_TIMED_OUT: Final = Kind(
    "DF2213",
    "has not answered within {seconds} s; the call was cancelled",
    meaning="A tool of a server has taken longer than the `deadline` of the server.",
    example='mcp("serve", deadline=5)',
    cure="Raise `deadline`.",
)
CALL_FAILED: Final = Kind(
    "DF2214",
    "has failed: {error}",
    meaning="A tool of a server has answered with an error.",
    example='call_server_tool(mcp("serve"), "read", {"path": "missing"})',
    cure="Read the reason of the server.",
)
RESULT_INVALID: Final = Kind(
    "DF2215",
    "has answered with an invalid result: {error}",
    meaning="The result of a tool violates the protocol, or has an image that cannot be read.",
    example="a server that sends an image without data",
    cure="Report the problem to the author of the server.",
)
ARGUMENTS_NOT_JSON: Final = Kind(
    "DF2216",
    "cannot be sent its arguments: {error}",
    meaning="The arguments of a call have a value that JSON cannot represent, or are nested too deep.",
    example='call_server_tool(mcp("serve"), "add", {"a": object()})',
    cure="Pass strings, numbers, booleans, lists and mappings.",
)
