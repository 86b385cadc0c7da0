"""F-A05: a call is made with any key that the library finds, and MissingKey says that none was sent."""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from dataflow import Message, Secret
from dataflow_agent import KeyRefused, MissingKey, ModelFailed, ModelRequest, Options
from dataflow_agent.models.providers.litellm import LITELLM
from tests.support.model_wires import Asked, Said, wire_server

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

KEY: Final = "k-of-the-tests-1"
#: A model, the variables that its library reads, and the path of the server.
GOOD: Final[list[tuple[str, dict[str, str], str]]] = [
    ("azure/gpt-4o", {"AZURE_API_KEY": KEY, "AZURE_API_VERSION": "2024-10-21"}, ""),
    ("perplexity/sonar", {"PERPLEXITY_API_KEY": KEY}, ""),
    ("together_ai/x", {"TOGETHER_AI_TOKEN": KEY}, "/v1"),
    ("fireworks_ai/x", {"FIREWORKS_API_KEY": KEY}, "/v1"),
    ("huggingface/x/y", {"HF_TOKEN": KEY}, "/v1"),
    ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0",
     {"AWS_BEARER_TOKEN_BEDROCK": KEY, "AWS_REGION_NAME": "us-east-1"}, ""),
    ("hosted_vllm/m", {}, "/v1"),
    ("ollama_chat/m", {}, ""),
]  # fmt: skip
#: Without any variable no key is sent: some libraries say so, others send a request that is refused.
WITHOUT: Final = (
    "openai/m", "anthropic/claude", "gemini/gemini-2.5-flash", "deepseek/deepseek-chat", "groq/llama",
    "azure/gpt-4o", "perplexity/sonar", "together_ai/x", "mistral/x", "fireworks_ai/x", "snowflake/x",
    "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", "github/x", "zai/x",
)  # fmt: skip


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.endswith(("_KEY", "_TOKEN", "_BASE", "_BASE_URL")) or name.startswith(("AWS_", "AZURE_")):
            monkeypatch.delenv(name)


async def error_of(model: str, url: str, **options: Any) -> ModelFailed | None:
    """Return the error of a call, None where it is answered."""
    request = ModelRequest(model, (Message("user", "q"),), options=Options(base_url=url, **options))
    try:
        await LITELLM.answer(request, lambda _: None)
    except ModelFailed as error:
        return error
    return None


async def test_a_request_is_sent_with_each_key_that_the_library_finds(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for model, environment, path in GOOD:
        with subtests.test(model), monkeypatch.context() as here, wire_server(sunny) as server:
            for name, value in environment.items():
                here.setenv(name, value)
            error = await error_of(model, server.url + path, stream=False)
            assert not isinstance(error, MissingKey)
            assert len(server.asked) == 1
            assert (KEY in str(dict(server.asked[0].headers))) is bool(environment)


def sunny(_: Asked) -> Said:
    return Said(text=("Sunny.",))


def refusing(_: Asked) -> tuple[int, dict[str, Any]]:
    return 401, {"error": {"message": "no such key", "type": "auth", "code": "401"}}


async def test_where_no_key_is_sent_it_is_missing_and_not_tried_again(subtests: pytest.Subtests) -> None:
    for model in WITHOUT:
        with subtests.test(model), wire_server(refusing) as server:
            error = await error_of(model, server.url)
            assert isinstance(error, MissingKey)
            assert (error.problem.kind.code, error.is_lasting) == ("DF2106", True)


async def test_a_key_that_was_sent_is_refused_and_not_missing(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for model, name in (
        ("perplexity/sonar", "PERPLEXITY_API_KEY"),
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
    ):
        with subtests.test(model), monkeypatch.context() as here, wire_server(refusing) as server:
            here.setenv(name, KEY)
            assert type(await error_of(model, server.url)) is KeyRefused
    with wire_server(refusing) as server:
        assert type(await error_of("openai/m", server.url, key=Secret("K", KEY))) is KeyRefused


async def test_a_server_that_is_away_is_not_taken_for_a_missing_key() -> None:
    assert type(await error_of("hosted_vllm/m", "http://127.0.0.1:9/v1")) is not MissingKey
    assert type(await error_of("deepseek/deepseek-chat", "http://127.0.0.1:9/v1")) is not MissingKey
