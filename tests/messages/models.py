# mypy: disable-error-code="arg-type, attr-defined, list-item"
"""Problems of models: their names, keys and options before a call, and answers that do not fit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

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
from dataflow_agent.models.providers import litellm as litellm_provider
from dataflow_agent.models.providers.litellm import (
    check_event_loop,
    check_options,
    check_provider,
    missing_key,
    translated,
)
from dataflow_agent.models.providers.litellm_answers import Gathered
from dataflow_agent.models.providers.litellm_requests import arguments_of
from dataflow_agent.models.providers.scripted import ERRORS, read_script
from dataflow_agent.models.request import ModelName, model_of
from tests.messages.telling import Row, Stimulus, configuring

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


def without_key(*missing: str) -> Stimulus:
    """Call a provider without a key, as a library reports it."""
    return lambda: str(missing_key(litellm(*missing), ASKING, ValueError("Missing credentials.")))


def answering(message: dict[str, Any], reason: str = "stop") -> Stimulus:
    """Read an answer of litellm."""

    def stimulus() -> object:
        choice = SimpleNamespace(message=SimpleNamespace(**message), finish_reason=reason)
        gathered = Gathered()
        gathered.add_whole(SimpleNamespace(choices=[choice], model="gpt"))
        return gathered.answer(ASKING, "openai", lambda _: None)

    return stimulus


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


def in_file(name: str, text: str) -> Row:
    """Make a row of a file of answers, without its folder."""
    return Row(name, reading(text), hide=r"\S*/(?=answers)")


def without_litellm() -> object:
    """Call a model where the library is not installed."""
    with patch.dict(sys.modules, {"litellm": None}), patch.object(litellm_provider, "_loaded", []):
        return anyio.run(litellm_provider.loaded, "openai/gpt")


ROWS: Final = [
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
    Row("a call of a tool", chatting(ScriptedAnswer(tool_calls=(ScriptedCall(name="add"),)))),
    Row("no JSON", chatting("yes", answer=int)),
    Row("does not fit", chatting('{"answer": "3"}', answer=int)),
    Row("a long one", chatting('"' + "x" * 300 + '"', answer=int)),
    Row("a reference", chatting('{"a": "3"}', answer=SCHEMA)),
    Row("nests too deep", chatting('{"a":' * 900 + "1" + "}" * 900, answer=DEEP)),
    Row("no mapping", configuring(Chat, answer={**SCHEMA, "properties": []})),
    Row("no schema", configuring(Chat, answer={"type": "object", "not": 1})),
    Row("what nobody checks", configuring(Chat, answer={"type": "object", "if": {}})),
    Row("leads elsewhere", configuring(Chat, answer={**SCHEMA, "properties": {"a": {"$ref": "#"}}})),
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
