"""litellm is loaded on first use, and does nothing besides."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import pytest

from dataflow_agent import ModelUnknown
from dataflow_agent.models.providers import litellm
from tests.support.processes import modules_after, printed_with
from tests.support.source import modules_of

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
