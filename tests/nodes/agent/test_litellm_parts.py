"""litellm is loaded on first use; the pure parts of calling it: what is sent, and what its errors mean."""

from __future__ import annotations

import logging
import os
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import pytest

from dataflow import Image, Message, ToolCall
from dataflow_agent import (
    ModelRequest,
    ModelUnavailable,
    ModelUnknown,
    Options,
    RateLimited,
    StreamInterrupted,
)
from dataflow_agent.models.providers import litellm
from dataflow_agent.models.providers.litellm import key_variables, retry_after, translated
from dataflow_agent.models.providers.litellm_requests import arguments_of, options_of, session_of
from dataflow_agent.models.request import model_name
from tests.support.processes import modules_after, printed_with
from tests.support.source import modules_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_when_to_come_again_is_read_from_the_headers() -> None:
    cases: list[Any] = [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
    ]
    until = format_datetime(NOW + timedelta(hours=1), usegmt=True)
    for headers, seconds in [*cases, ({"retry-after": until}, 3600)]:
        assert retry_after(headers, NOW) == seconds


def test_a_session_is_told_to_providers_that_know_sessions() -> None:
    cases: list[Any] = [
        ("openai/gpt", "run/main", "", {}, "run/main"),
        ("mistral/large", "run/main", "", {"OPENAI_API_BASE": "http://other"}, "run/main"),
        ("fireworks_ai/x", "s" * 64, "", {}, "s" * 64),
        ("openai/gpt", "s" * 65, "", {}, sha256(b"s" * 65).hexdigest()),
        ("mistral/large", "é\ud800", "", {}, sha256("é\ud800".encode("utf-8", "surrogatepass")).hexdigest()),
        ("openai/gpt", "", "", {}, None),
        ("openai/gpt", "run/main", "http://127.0.0.1/v1", {}, None),
        ("openai/gpt", "run/main", "", {"OPENAI_BASE_URL": "http://other"}, None),
        ("anthropic/claude", "run/main", "", {}, None),
        ("groq/llama", "run/main", "", {}, None),
    ]
    for model, session, url, environment, sent in cases:
        request = ModelRequest(model, (), options=Options(base_url=url), session_id=session)
        told = session_of(request, model_name(model), environment)
        assert told == ({} if sent is None else {"prompt_cache_key": sent})


class RateLimitError(Exception):
    """As litellm's, which may have no response."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.litellm_response_headers = {"Retry-After": "2"}


class APIConnectionError(Exception):
    """As litellm's."""


def test_what_breaks_after_the_answer_began_is_an_interruption_and_headers_may_stand_elsewhere() -> None:
    cases: list[Any] = [
        (False, APIConnectionError("AException - gone"), ModelUnavailable, None),
        (True, APIConnectionError("AException - gone"), StreamInterrupted, None),
        (False, RateLimitError("litellm.RateLimitError: AException - gone"), RateLimited, 2.0),
    ]
    for has_begun, error, kind, seconds in cases:
        found = translated("a/b", error, has_begun=has_begun, now=NOW)
        assert isinstance(found, kind)
        assert (found.retry_after, found.reason[-6:]) == (seconds, ": gone")
    plain = ValueError("no")  # is not of litellm
    assert translated("a/b", plain, has_begun=True, now=NOW) is plain


def test_images_of_tools_follow_their_results_as_of_a_user() -> None:
    calls = (ToolCall("c1", "look", "{}"), ToolCall("c2", "look", "{}"))
    request = ModelRequest(
        "openai/gpt",
        (
            Message("user", ["look twice", Image("image/png", b"abc")]),
            Message("assistant", "", calls),
            Message("tool", ("a fox", Image("image/png", b"1")), tool_call_id="c1"),
            Message("tool", ("nothing",), tool_call_id="c2"),
            Message("assistant", "A fox."),
            Message("tool", (Image("image/png", b"2"),), tool_call_id="c3"),
        ),
    )
    sent = arguments_of(request)["messages"]
    assert [one["role"] for one in sent] == [
        "user", "assistant", "tool", "tool", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert sent[0]["content"] == [
        {"type": "text", "text": "look twice"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}},
    ]
    assert [sent[2]["content"], sent[3]["content"]] == ["a fox\n[its images follow the results]", "nothing"]
    assert sent[4]["content"] == [
        {"type": "text", "text": "The images of call c1:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,MQ=="}},
    ]
    assert sent[6]["content"] == "[its images follow the results]"
    assert [part["type"] for part in sent[7]["content"]] == ["text", "image_url"]


def test_only_what_is_asked_for_is_sent() -> None:
    assert options_of(ModelRequest("a/b", ())) == {}
    assert options_of(ModelRequest("a/b", (), options=Options(web_search=True))) == {"web_search_options": {}}
    plain = arguments_of(ModelRequest("a/b", (), options=Options(stream=False)))
    assert not plain.keys() & {"stream", "api_base", "temperature"}
    assert (plain["max_retries"], plain["num_retries"]) == (0, 0)


def test_the_variables_that_hold_keys_are_known_by_how_they_end() -> None:
    keys = ["TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN", "GOOGLE_API_KEY", "WATSONX_APIKEY"]
    keys += ["AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_CLIENT_SECRET", "SNOWFLAKE_JWT"]
    others = ["AWS_REGION_NAME", "AZURE_API_BASE", "MONKEY", "MAX_TOKENS", "TOKEN_DIR", "PATH", "odd_token"]
    assert key_variables([*others, *keys]) == keys


def test_arguments_that_are_none_are_sent_as_such_as_providers_read_them() -> None:
    cases: list[Any] = [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        ('{"a": 1, ', r'{"unreadable": "{\"a\": 1, "}'),
        ("[1]", '{"unreadable": "[1]"}'),
    ]
    for written, sent in cases:
        message = Message("assistant", "", (ToolCall("c", "add", written),))
        (given,) = arguments_of(ModelRequest("a/b", (message,)))["messages"]
        assert given["tool_calls"][0]["function"]["arguments"] == sent


IMPORTING_TOOLS = [
    f"import {module.name}"
    for module in modules_of("dataflow_agent")
    if module.name.startswith(("dataflow_agent.servers", "dataflow_agent.toolkit"))
]

LOADING = """
import logging, os, socket, sys

def refuse(*args):
    raise AssertionError("it calls somebody")

socket.socket.connect = socket.getaddrinfo = refuse
with open(".env", "w") as file:
    file.write("READ_FROM_DOT_ENV=1")
os.environ["LITELLM_MODE"] = "DEV"
from dataflow_agent.models.providers.litellm import load
load("a/b")
print(os.environ["LITELLM_MODE"])
print(os.environ.keys() & {"LITELLM_LOCAL_MODEL_COST_MAP", "READ_FROM_DOT_ENV"})
print({type(one).__name__ for name in ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")
       for one in logging.getLogger(name).handlers})
import litellm
print(litellm.suppress_debug_info)
"""


def test_loading_it_calls_nobody_reads_no_file_and_leaves_the_process_as_it_was(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert printed_with("0", LOADING).split("\n") == ["DEV", "set()", "{'NullHandler'}", "True"]


ANSWERING = """
import anyio
from dataflow_agent import Chat, chat, scripted
with scripted("hello"):
    anyio.run(chat, {"prompt": "hi"}, None, Chat(model="openai/gpt"))
"""


def test_what_needs_no_model_of_a_provider_loads_neither_it_nor_mcp() -> None:
    for code in (
        "import dataflow_agent; dataflow_agent.pack",
        "from dataflow_agent import Chat, chat; chat.type.configured(Chat(model='openai/gpt'))",
        ANSWERING,
        "from dataflow_agent import call_server_tool, mcp, tools, sessions, listed; tools(mcp('serve'))",
        "\n".join(IMPORTING_TOOLS),
    ):
        assert not {"litellm", "mcp", "mcp_types"}.intersection(modules_after(code))


class Refusing:
    """Finds litellm, does what its import may do, and fails."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "litellm":
            for variable in litellm.ENVIRONMENT:
                del os.environ[variable]
            logging.getLogger("LiteLLM").addHandler(logging.StreamHandler())
            raise ImportError("broken")


def test_an_import_that_fails_leaves_the_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm, "_loaded", [])
    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.setenv("LITELLM_MODE", "DEV")
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP", raising=False)
    with pytest.raises(ModelUnknown, match=r"^DF2104 "):
        litellm.load("openai/gpt")
    assert os.environ["LITELLM_MODE"] == "DEV"
    assert "LITELLM_LOCAL_MODEL_COST_MAP" not in os.environ
    assert [type(one) for one in logging.getLogger("LiteLLM").handlers] == [logging.NullHandler]
