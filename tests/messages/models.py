# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, list-item"
"""What is said of models: of their names, of keys and options before a call, and of answers that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final

import anyio

from dataflow import ExecutionContext, Image, Message, Secret
from dataflow_agent import (
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
    chat,
    fill_prompt,
    intent_router,
    scripted,
)
from dataflow_agent.models.providers.litellm import (
    check_event_loop,
    check_key,
    check_options,
    check_provider,
    key_of,
    translated,
)
from dataflow_agent.models.providers.litellm_requests import arguments_of
from dataflow_agent.models.providers.scripted import read_script
from dataflow_agent.models.request import ModelName, model_of
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]

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
    """Stand in for litellm, in what it tells of a model."""
    return SimpleNamespace(
        provider_list=["openai", "anthropic"],
        validate_environment=lambda **_: {"missing_keys": [*missing]},
        get_supported_openai_params=lambda **_: [*params],
    )


def chatting(given: Any, **config: Any) -> Stimulus:
    """Chat with a script that gives one answer."""

    def stimulus() -> object:
        with scripted(given):
            return anyio.run(chat, {"prompt": "hi"}, None, Chat(**{"model": "openai/gpt", **config}))

    return stimulus


def routing(routes: dict[str, str], given: Any) -> Stimulus:
    """Route by a script that gives one answer."""

    def stimulus() -> object:
        with scripted(given):
            config = Router(model="openai/gpt", routes=routes)
            return anyio.run(intent_router, {"prompt": "hi"}, None, config)

    return stimulus


def filling(prompt: str, **values: Any) -> Stimulus:
    """Fill a prompt with values."""
    return lambda: anyio.run(partial(fill_prompt, Prompt(prompt=prompt), **values))


def reading(text: str) -> Callable[[], object]:
    """Read a file of answers."""

    def stimulus() -> object:
        with TemporaryDirectory() as folder:
            file = Path(folder, "answers.yaml")
            file.write_text(text, encoding="utf-8")
            return read_script(str(file))

    return stimulus


def with_key(name: str) -> ModelRequest:
    return ModelRequest("openai/gpt", (), options=Options(key=Secret(name)))


ROWS: Final = [
    Row(
        "no model",
        lambda: model_of("", ExecutionContext("c")),
        "no model is named: expected one in the config `model` or in the context",
    ),
    Row(
        "no provider",
        lambda: model_of("", ExecutionContext("c", model="gpt")),
        "model 'gpt': expected a model, written provider/model, found 'gpt'",
    ),
    Row(
        "no provider in a config",
        lambda: Chat(model="gpt"),
        "…expected a model, written provider/model, found 'gpt'…",
    ),
    Row(
        "unknown provider",
        lambda: check_provider(litellm(), ModelName("opnai", "gpt")),
        "model 'opnai/gpt': litellm knows no provider 'opnai'; choices near it: openai",
    ),
    Row(
        "a provider like no other",
        lambda: check_provider(litellm(), ModelName("xyz", "gpt")),
        "model 'xyz/gpt': litellm knows no provider 'xyz'",
    ),
    Row(
        "not on asyncio",
        lambda: check_event_loop("openai/gpt"),
        "model 'openai/gpt': litellm runs on asyncio only; run the flow there, or have a script answer",
    ),
    Row(
        "no key",
        lambda: check_key(litellm("OPENAI_API_KEY"), ASKING),
        "model 'openai/gpt': there is no key: set OPENAI_API_KEY in the environment, or name a secret in `key`",
    ),
    Row(
        "either key",
        lambda: check_key(litellm("GOOGLE_API_KEY", "GEMINI_API_KEY"), ASKING),
        "model 'openai/gpt': there is no key: set GOOGLE_API_KEY or GEMINI_API_KEY in the environment, or name a secret in `key`",
    ),
    Row(
        "all of these",
        lambda: check_key(litellm("AZURE_API_BASE", "AZURE_API_VERSION", "AZURE_API_KEY"), ASKING),
        "model 'openai/gpt': there is no key: set AZURE_API_VERSION, AZURE_API_KEY in the environment, or name a secret in `key`",
    ),
    Row(
        "no secret",
        lambda: key_of(with_key("NO_SUCH_KEY")),
        "model 'openai/gpt': secret 'NO_SUCH_KEY' is missing: set the environment variable of that name",
    ),
    Row(
        "unknown option",
        lambda: check_options(
            litellm(params=("tools",)),
            ModelRequest("openai/gpt", (), schema={}, options=Options(temperature=1)),
            NAME,
        ),
        "model 'openai/gpt': it does not know the option temperature, answer",
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
        "model 'openai/gpt': slow down",
    ),
    Row(
        "broke off",
        lambda: str(
            translated(
                "openai/gpt",
                MidStreamFallbackError(
                    "litellm.MidStreamFallbackError: litellm.APIConnectionError: gone Original exception: more"
                ),
                has_begun=True,
                now=NOW,
            )
        ),
        "model 'openai/gpt': the answer broke off: gone",
    ),
    Row(
        "no part",
        lambda: arguments_of(ModelRequest("a/b", (Message("user", [Image("image/png", b""), 3]),))),
        "a message consists of texts and images, found int",
    ),
    Row(
        "a call of a tool",
        chatting(ScriptedAnswer(tool_calls=(ScriptedCall(name="add"),))),
        "model 'openai/gpt': expected an answer, found a call of 'add'",
    ),
    Row(
        "no JSON",
        chatting("yes", answer=int),
        "model 'openai/gpt': expected an answer in JSON, found 'yes': Expecting value: line 1 column 1 (char 0)",
    ),
    Row(
        "does not fit",
        chatting('{"answer": "3"}', answer=int),
        "model 'openai/gpt': the answer does not fit: .answer: expected int, found str '3'; it was '{\"answer\": \"3\"}'",
    ),
    Row(
        "a long one",
        chatting('"' + "x" * 300 + '"', answer=int),
        "model 'openai/gpt': the answer does not fit: expected dict[str, Any], found str …; it was '\""
        + "x" * 88
        + "... 124 characters ..."
        + "x" * 88
        + "\"'",
    ),
    Row(
        "a reference",
        chatting('{"a": "3"}', answer=SCHEMA),
        "model 'openai/gpt': the answer does not fit: .a: expected integer, found str '3'; it was '{\"a\": \"3\"}'",
    ),
    Row(
        "nests too deep",
        chatting('{"a":' * 900 + "1" + "}" * 900, answer=DEEP),
        "model 'openai/gpt': the answer nests too deep: it was '…... 5,225 characters ...…'",
    ),
    Row(
        "no mapping",
        lambda: Chat(answer={**SCHEMA, "properties": []}),
        "…properties: expected a mapping, found []…",
    ),
    Row(
        "no schema",
        lambda: Chat(answer={"type": "object", "not": 1}),
        "…not: expected a JSON Schema, found 1…",
    ),
    Row(
        "what nobody checks",
        lambda: Chat(answer={"type": "object", "if": {}}),
        "…if: answers cannot be checked by 'if'…",
    ),
    Row(
        "leads elsewhere",
        lambda: Chat(answer={**SCHEMA, "properties": {"a": {"$ref": "#"}}}),
        "…$ref '#' cannot be followed; expected #/$defs/NAME…",
    ),
    Row(
        "leads to nothing",
        lambda: Chat(answer={**SCHEMA, "$defs": {}}),
        "…$ref '#/$defs/n' leads to nothing in this schema…",
    ),
    Row(
        "leads to itself",
        lambda: Chat(answer={**SCHEMA, "$defs": {"n": {"$ref": "#/$defs/n"}}}),
        "…definitions that lead to each other: #/$defs/n -> #/$defs/n…",
    ),
    Row(
        "a route that is none",
        routing({"x": "", "y": ""}, ScriptedAnswer.model_validate({"value": "z"})),
        "model 'openai/gpt': the answer does not fit: .answer: expected Literal['x', 'y'], found str 'z'; it was '{\"answer\": \"z\"}'",
    ),
    Row(
        "a call for a route",
        routing({"x": ""}, ScriptedAnswer(tool_calls=(ScriptedCall(name="add"),))),
        "model 'openai/gpt': expected a route, found a call of 'add'",
    ),
    Row(
        "a key in clear",
        lambda: Chat(key=Secret("sk-live-abcdefgh")),
        "…expected the name of an environment variable, not a key itself…",
    ),
    Row(
        "no name of a route",
        lambda: Router(routes={"a b": ""}),
        "…'a b' is no name of a route; expected letters, digits and _, and not context…",
    ),
    Row(
        "no placeholder",
        lambda: Prompt(prompt="{{ $steps.a }}"),
        "…'{{ $steps.a }}' is no placeholder; expected {{PREVIOUS_OUTPUT}}, or {{ $steps.NAME.output }} with .KEY behind output for a part…",
    ),
    Row(
        "a placeholder of a taken name",
        lambda: Prompt(prompt="{{ $steps.previous.output }}"),
        "…the name 'previous' is taken by the node itself; use another…",
    ),
    Row(
        "no key for a placeholder",
        filling("{{ $steps.a.output.k }}", a={"l": 1}),
        "placeholder '{{ $steps.a.output.k }}': no key 'k'; choices: l",
    ),
    Row(
        "no JSON for a placeholder",
        filling("{{ $steps.a.output.k }}", a="yes"),
        "placeholder '{{ $steps.a.output.k }}': the output of 'a' is a text that is no JSON: Expecting value: line 1 column 1 (char 0)",
    ),
    Row(
        "a prompt that grows",
        filling("{{PREVIOUS_OUTPUT}}!", previous="x" * 1_000_000),
        "prompt '{{PREVIOUS_OUTPUT}}!': fills to more than 1,000,000 characters",
    ),
    Row(
        "a step of a taken name",
        lambda: Prior(steps=[PriorStep(name="prompt")]),
        "…'prompt' is no name of an input; expected letters, digits and _, and not config or prompt…",
    ),
    Row(
        "two ports of a name",
        lambda: Router(routes={"a": "", "a_context": ""}),
        "…the port 'a_context' is of the route 'a' already; call the other route otherwise…",
    ),
    Row(
        "scripted error",
        chatting(ScriptedAnswer(error="model_timeout")),
        "model 'openai/gpt': the script says so",
    ),
    Row(
        "the script is over",
        lambda: anyio.run(Script([]).answer, ASKING, len),
        "model 'openai/gpt': the script has no answer left to 'hi'",
    ),
    Row(
        "the function of a script fails",
        lambda: anyio.run(Script(lambda request: str(request.number)).answer, ASKING, len),  # type: ignore[attr-defined]
        "model 'openai/gpt': the function of the script has raised AttributeError: 'ModelRequest' object has no attribute 'number'",
    ),
    Row(
        "no answer",
        lambda: Script([3]),
        "a scripted answer cannot be of type int; it is a text, a ScriptedAnswer, a ModelAnswer, an exception, a model, a mapping or a list",
    ),
    Row(
        "no file of answers",
        lambda: read_script("no.yaml"),
        "no.yaml: cannot be read: No such file or directory",
    ),
    Row(
        "no YAML",
        reading("{"),
        "…answers.yaml:2:1: is no YAML: did not find expected node content while parsing a flow node",
    ),
    Row(
        "no such error",
        reading("- {error: rate_limit}"),
        "…answers.yaml: scripted answer 1: error: expected one of answer_cut, context_window_exceeded, key_refused, missing_key, model_failed, model_timeout, model_unavailable, rate_limited, request_refused, stream_interrupted, found 'rate_limit'",
    ),
    Row("no list", reading("{}"), "…answers.yaml: expected a list of scripted answers, found dict"),
    Row(
        "no such field",
        reading("- {texts: a}"),
        "…answers.yaml: scripted answer 1: texts: is not known here; choices: text, value, pieces, tool_calls, error, retry_after, to, repeat",
    ),
    Row(
        "no such field of a call",
        reading("- tool_calls: [{tool: a}]"),
        "…answers.yaml: scripted answer 1: tool_calls.0.tool: is not known here; choices: name, arguments, id",
    ),
    Row(
        "a call without a name",
        reading("- tool_calls: [{}]"),
        "…answers.yaml: scripted answer 1: tool_calls.0.name: is missing",
    ),
]
