# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, attr-defined, list-item, dict-item"
"""Problems of models, tools and conversations, and of tool servers."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import anyio

from dataflow import ExecutionContext, Flow, Image, Message, Secret, ToolCall, Tools, merged_context
from dataflow_agent import (
    Agent,
    AgentConfig,
    Chat,
    ModelRequest,
    Options,
    Prior,
    PriorStep,
    Prompt,
    Router,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    Toolbox,
    agent,
    call_server_tool,
    chat,
    fill_prompt,
    intent_router,
    listed,
    mcp,
    merge_conversations,
    scripted,
    tools,
)
from dataflow_agent.models.providers import litellm as litellm_provider
from dataflow_agent.models.providers.litellm import (
    check_event_loop,
    check_options,
    check_provider,
    key_of,
    missing_key,
    translated,
)
from dataflow_agent.models.providers.litellm_answers import Gathered
from dataflow_agent.models.providers.litellm_requests import arguments_of
from dataflow_agent.models.providers.scripted import ERRORS, read_script
from dataflow_agent.models.request import ModelName, model_of
from dataflow_agent.servers import connection
from dataflow_agent.servers import offers as offering
from dataflow_agent.servers.offers import Offer
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.servers.sessions import unmet_of
from dataflow_agent.toolkit.policies import Policy
from dataflow_agent.toolkit.toolboxes import Listed, _tools_of
from tests.messages.telling import Row, Stimulus, configuring, later, wired
from tests.nodes.agent import agent_tools, far_server
from tests.nodes.agent.far_server import serving_far

NOW: Final = datetime(2026, 1, 2, tzinfo=UTC)
NAME: Final = ModelName("openai", "gpt")
ASKING: Final = ModelRequest("openai/gpt", (Message("user", "hi"),))
SCHEMA: Final = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "integer"}},
}
DEEP: Final = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}}},
}


class MidStreamFallbackError(Exception):
    """As litellm's."""


class RateLimitError(Exception):
    """As litellm's."""


def litellm(*missing: str, params: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(
        provider_list=["openai", "anthropic"],
        validate_environment=lambda **_: {"missing_keys": [*missing]},
        get_supported_openai_params=lambda **_: [*params],
    )


def without_key(*missing: str) -> Stimulus:
    return lambda: str(missing_key(litellm(*missing), ASKING, ValueError("Missing credentials.")))


@later
def answering(message: dict[str, Any], reason: str = "stop") -> object:
    choice = SimpleNamespace(message=SimpleNamespace(**message), finish_reason=reason)
    gathered = Gathered()
    gathered.add_whole(SimpleNamespace(choices=[choice], model="gpt"))
    return gathered.answer(ASKING, "openai", lambda _: None)


@later
def chatting(given: Any, **config: Any) -> object:
    with scripted(given):
        return anyio.run(chat, {"prompt": "hi"}, None, Chat(**{"model": "openai/gpt", **config}))


@later
def routing(routes: dict[str, str], given: Any) -> object:
    with scripted(given):
        config = Router(model="openai/gpt", routes=routes)
        return anyio.run(intent_router, {"prompt": "hi"}, None, config)


def filling(prompt: str, **values: Any) -> Stimulus:
    return lambda: anyio.run(partial(fill_prompt, Prompt(prompt=prompt), **values))


@later
def reading(text: str) -> object:
    with TemporaryDirectory() as folder:
        file = Path(folder, "answers.yaml")
        file.write_text(text, encoding="utf-8")
        return read_script(str(file))


def in_file(name: str, text: str) -> Row:
    return Row(name, reading(text), hide=r"\S*/(?=answers)")


def without_litellm() -> object:
    with patch.dict(sys.modules, {"litellm": None}), patch.object(litellm_provider, "_loaded", []):
        return anyio.run(litellm_provider.loaded, "openai/gpt")


MODELS: Final = [
    Row("litellm is not installed", without_litellm, hide=r"import of .*(?=; pip)"),
    *(Row(f"a script fails with {name}", chatting(ScriptedAnswer(error=name))) for name in ERRORS),
    Row("no model", lambda: model_of("", ExecutionContext("c"))),
    Row("no provider", lambda: model_of("", ExecutionContext("c", model="gpt"))),
    Row("no provider in a config", configuring(Chat, model="gpt")),
    Row("unknown provider", lambda: check_provider(litellm(), ModelName("opnai", "gpt"))),
    Row("not on asyncio", lambda: check_event_loop("openai/gpt")),
    Row("no key", without_key("OPENAI_API_KEY")),
    Row("either key", without_key("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    Row("a key among other variables", without_key("AZURE_API_BASE", "AZURE_API_VERSION", "AZURE_API_KEY")),
    Row("a key of unknown name", without_key()),
    Row("refuses to answer", answering({"refusal": "I will not help."})),
    Row("answers with nothing", answering({"content": " "})),
    Row("announces calls", answering({"content": "I ask."}, "tool_calls")),
    Row("is cut", answering({"content": "half of it"}, "length")),
    Row(
        "unknown option",
        lambda: check_options(
            litellm(params=("tools",)),
            ModelRequest("openai/gpt", (), schema={}, options=Options(temperature=1)),
            NAME,
        ),
    ),
    Row(
        "refused",
        lambda: str(
            translated(
                "openai/gpt",
                RateLimitError("litellm.RateLimitError: RateLimitError: OpenAIException - slow down"),
                has_begun=False,
                now=NOW,
            )
        ),
    ),
    Row(
        "broke off",
        lambda: str(
            translated(
                "openai/gpt",
                MidStreamFallbackError(
                    "litellm.MidStreamFallbackError: litellm.APIConnectionError: gone Original exception: x"
                ),
                has_begun=True,
                now=NOW,
            )
        ),
    ),
    Row(
        "no part", lambda: arguments_of(ModelRequest("a/b", (Message("user", [Image("image/png", b""), 3]),)))
    ),
    Row("no secret", lambda: key_of(replace(ASKING, options=Options(key=Secret("NO_SUCH_KEY"))))),
    Row("a call of a tool", chatting(ScriptedAnswer(tool_calls=(ScriptedCall(name="add"),)))),
    Row("no JSON", chatting("yes", answer=int)),
    Row("does not fit", chatting('{"answer": "3"}', answer=int)),
    Row("a long one", chatting('"' + "x" * 300 + '"', answer=int)),
    Row("a reference", chatting('{"a": "3"}', answer=SCHEMA)),
    Row("nests too deep", chatting('{"a":' * 900 + "1" + "}" * 900, answer=DEEP)),
    Row("no mapping", configuring(Chat, answer={**SCHEMA, "properties": []})),
    Row("no schema", configuring(Chat, answer={"type": "object", "not": 1})),
    Row("what nobody checks", configuring(Chat, answer={"type": "object", "minimun": 1})),
    Row(
        "leads elsewhere", configuring(Chat, answer={**SCHEMA, "properties": {"a": {"$ref": "#/$defs/none"}}})
    ),
    Row("leads to itself", configuring(Chat, answer={**SCHEMA, "$defs": {"n": {"$ref": "#/$defs/n"}}})),
    Row("a route that is none", routing({"x": "", "y": ""}, ScriptedAnswer.model_validate({"value": "z"}))),
    Row("a call for a route", routing({"x": ""}, ScriptedAnswer(tool_calls=(ScriptedCall(name="add"),)))),
    Row("a key in clear", configuring(Chat, key=Secret("sk-live-abcdefgh"))),
    Row("a route called context", configuring(Router, routes={"context": ""})),
    Row("no placeholder", configuring(Prompt, prompt="{{ $steps.a }}")),
    Row("a placeholder of a taken name", configuring(Prompt, prompt="{{ $steps.previous.output }}")),
    Row("no key for a placeholder", filling("{{ $steps.a.output.k }}", a={"l": 1})),
    Row("no JSON for a placeholder", filling("{{ $steps.a.output.k }}", a="yes")),
    Row("a prompt that grows", filling("{{PREVIOUS_OUTPUT}}!", previous="x" * 1_000_000)),
    Row("a step of a taken name", configuring(Prior, steps=[PriorStep(name="prompt")])),
    Row("two ports of a name", configuring(Router, routes={"a": "", "a_context": ""})),
    Row("the script is over", lambda: anyio.run(Script([]).answer, ASKING, len)),
    Row(
        "the function of a script fails",
        lambda: anyio.run(Script(lambda request: str(request.number)).answer, ASKING, len),
    ),
    Row("no answer", lambda: Script([3])),
    in_file("no YAML", "{"),
    in_file("no such error", "- {error: rate_limit}"),
    in_file("no list", "{}"),
    in_file("no such field", "- {texts: a}"),
    in_file("no such field of a call", "- tool_calls: [{tool: a}]"),
    in_file("a call without a name", "- tool_calls: [{}]"),
]


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


TOOLING: Final = [
    Row("a lambda", describing(lambda: 1)),
    Row("no function", describing(3)),
    Row("tools of another kind", describing(Tools())),
    Row("tools of another kind for a call", lambda: anyio.run(call_server_tool, Tools(), "echo", {})),
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
    Row("an unknown setting of an agent", lambda: Agent("lead", modle="a/b")),
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


ODD: Final = str(Path(far_server.__file__).with_name("odd_server.py"))
RAW: Final = str(Path(far_server.__file__).with_name("raw_server.py"))
DENYING: Final = Server(("serve",), name="shelf", policy=Policy(deny=("burn(titel=*)", "brun")))


def listing(**server: Any) -> Stimulus:
    return lambda: anyio.run(listed, mcp(*server.pop("command", ()), **server))


@later
def calling_server(tool: str, arguments: dict[str, Any], *options: str, **server: Any) -> object:
    box = mcp(sys.executable, *(options or (ODD,)), name="odd", **server)
    return anyio.run(call_server_tool, box, tool, arguments)


def endless() -> object:
    page = SimpleNamespace(tools=[], next_cursor="again")

    async def list_tools(cursor: str | None) -> object:
        return page

    return anyio.run(connection.ToolList(DENYING).asked, SimpleNamespace(list_tools=list_tools))


def packed() -> object:
    """Call a tool of a server whose answer is compressed although that was not asked for."""
    with serving_far() as server:
        return anyio.run(call_server_tool, mcp(url=server.url, name="far"), "is_packed", {})


def nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


def unchecked() -> object:
    """Read the arguments for a tool whose schema has a format that is not known."""
    schema = '{"type": "object", "properties": {"n": {"type": "string", "format": "iban"}}}'
    [tool] = _tools_of((Listed(DENYING, (ServerTool(DENYING, "pay", "", schema),)),)).values()

    async def read() -> str:
        return str(tool.read({}))

    with Flow("f") as flow:
        flow.output("read", flow.add(read).out)
    [warning] = flow.run_sync().warnings
    return str(warning)


def without_mcp() -> object:
    with patch.dict(sys.modules, {"mcp": None}), patch.object(connection, "_loaded", []):
        return anyio.run(connection.loaded, "files")


def refused() -> None:
    with serving_far("Bearer right") as server:
        listing(url=server.url, name="far", headers={"X-Reader": "me"})()


TOOL_SERVERS: Final = [
    Row("a server of nothing", lambda: mcp()),
    Row(
        "a server with all that it may not have",
        lambda: mcp("serve", url="ftp://here", env={"KEY": "sk-12"}, deadline=0),
    ),
    Row("a server whose command is one list", lambda: mcp(["serve", "here"])),
    Row("an address without a protocol", lambda: mcp(url="127.0.0.1:8765/mcp")),
    Row("an address without a host", lambda: mcp(url="http:///mcp")),
    Row("an address with a user", lambda: mcp(url="http://me:sk-12@here/mcp")),
    Row("an address with a mark in its password", lambda: mcp(url="http://me:sk/12@here/mcp")),
    Row("an address in place of a command", lambda: mcp("https://here/mcp?key=sk-12")),
    Row("an address that is none", lambda: mcp(url="http://[::1")),
    Row(
        "a value in place of a variable", listing(command=("serve",), name="files", env={"TOKEN": "sk_live"})
    ),
    Row("a server that is not there", listing(url="http://127.0.0.1:9/mcp", name="far")),
    Row("variables in a text", lambda: mcp("serve", env="HOME")),
    Row(
        "headers that cannot be",
        lambda: mcp(
            "serve",
            headers={
                "Authorization": "Bearer sk-12",
                "X Y": "a",
                "X-A": "a\nb",
                "x-a": "${a-b}",
                "Accept": "a",
            },
        ),
    ),
    Row("a header that is no text", lambda: mcp(url="http://here", headers={"X-A": 3})),
    Row("headers in a text", lambda: mcp(url="http://here", headers="X-A: a")),
    Row(
        "a header without a value",
        listing(url="http://127.0.0.1:9/mcp", name="far", headers={"X-Key": "${NOT_SET_AT_ALL}"}),
    ),
    Row(
        "a header whose value has lines",
        listing(
            url="http://127.0.0.1:9/mcp", name="far", headers={"X-Key": Secret("LINES", "two of\nthe lines")}
        ),
    ),
    Row("a server that lets nobody in", refused, hide=r"(?<=127.0.0.1:)\d+"),
    Row(
        "patterns that fit no call of a server",
        lambda: unmet_of(DENYING, (ServerTool(DENYING, "burn", "", '{"type": "object", "properties": {}}'),)),
    ),
    Row("a server whose command is not there", listing(command=("no-such-command",), name="files")),
    Row(
        "a server that ends at once",
        listing(command=(sys.executable, "-c", "import sys; sys.exit('no library')"), name="files"),
    ),
    Row(
        "a server that does not answer", listing(command=("sleep", "60"), name="files", connect_deadline=0.2)
    ),
    Row("a server without its library", without_mcp, hide=r"import of .*(?=; pip)"),
    Row("a server of an old protocol", calling_server("pid", {}, ODD, "--old"), hide=r"(?<=; )exit.*"),
    Row("a tool that fails", calling_server("is_full", {})),
    Row("a tool that does not answer", calling_server("is_silent", {}, deadline=0.2)),
    Row("a value with a blank for a variable", lambda: mcp("serve", env={"KEY": "sk 12"})),
    Row("an image without data", calling_server("pictures", {"data": "", "mimeType": "image/png"})),
    Row("an image of another type", calling_server("pictures", {"data": "", "mimeType": "text/plain"})),
    Row(
        "an image that is not base64",
        calling_server("pictures", {"data": "?", "mimeType": "image/png"}),
        hide=r"(?<=base64: ).*",
    ),
    Row("a server that ends during a call", calling_server("dies", {"ahead": 3})),
    Row(
        "arguments that are nested too deep",
        calling_server("echo", {"text": nested(252)}),
        hide=r"(?<=ValueError: ).*",
    ),
    Row("arguments that the schema does not take", calling_server("echo", {"text": nested(300)})),
    Row("arguments whose schema cannot be checked", unchecked),
    Row("a call that needs an approval", calling_server("echo", {"text": "a"}, ask=["echo"])),
    Row("a tool that does not exist", calling_server("sing", {}), hide=r"_[0-9a-f]{8}"),
    Row("a server that does not list its tools", calling_server("sing", {}, RAW, "--no-tools")),
    Row("a server whose list does not end", endless),
    Row("a server whose answer is compressed", packed),
    Row("a server whose line does not end", listing(command=("cat", "/dev/zero"), name="zeros")),
]


def asks(*calls: str) -> Message:
    return Message("assistant", "", tuple(ToolCall(call, "look", "{}") for call in calls))


def result(call: str) -> Message:
    return Message("tool", "found", tool_call_id=call)


USER: Final = Message("user", "u")


def checked(*messages: Message) -> Stimulus:
    return ExecutionContext("c", message_history=messages).check


def turn(*messages: Message) -> Stimulus:
    return lambda: ExecutionContext("c").append_turn(*messages)


@later
def merging(config: Any) -> object:
    flow = Flow("f")
    flow.add(merge_conversations, config=config)
    return flow.check()


# fmt: off
CONVERSING: Final = [
    Row("a question over the budget", lambda: ExecutionContext("c", message_history=[Message("user", "long" * 99)]).trimmed(9)),
    Row("a result without a call", checked(USER, result("t1"))),
    Row("a second result", checked(asks("t1"), result("t1"), result("t1"))),
    Row("a call without a result", checked(USER, asks("t1"))),
    Row("a late result", checked(asks("t1"), USER, result("t1"))),
    Row("equal ids", checked(asks("t1", "t1"))),
    Row("a user who calls", checked(Message("user", "u", asks("t1").tool_calls))),
    Row("a user who answers a call", checked(Message("user", "u", tool_call_id="t1"))),
    Row("a role that is none", checked(Message("usr", "u"))),
    Row("a pin in a turn", turn(Message("user", "u", pin="p"))),
    Row("no turn", turn()),
    Row("a turn without its user message", turn(asks())),
    Row("a turn without an answer", turn(USER)),
    Row("nothing to merge", lambda: merged_context([], "append")),
    Row("a branch without a name", merging({"how": "append", "branches": ["a b"]})),
    Row("a branch twice", merging({"how": "append", "branches": ["a", "a"]})),
]
# fmt: on

TABLES: Final = {"models": MODELS, "tooling": TOOLING, "tool_servers": TOOL_SERVERS, "conversing": CONVERSING}
