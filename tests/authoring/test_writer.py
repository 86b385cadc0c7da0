"""Models get their provider, called as here."""

from __future__ import annotations

import pytest

from dataflow.authoring.writer import qualified_model


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("openai/gpt-5", "openai/gpt-5"),
        ("ollama:llama3", "ollama/llama3"),
        ("azure/team/gpt-5", "azure/team/gpt-5"),
        ("gpt-5", "openai/gpt-5"),
        ("chatgpt-4o-latest", "openai/chatgpt-4o-latest"),
        ("o3", "openai/o3"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("mistral-large", "mistral/mistral-large"),
        ("deepseek-chat", "deepseek/deepseek-chat"),
        ("grok-4", "xai/grok-4"),
        ("olive", None),
        ("house", None),
        ("", None),
        ("gpt 5", None),
        ("/x", None),
        ("x/", None),
        ("openai:gpt-5", "openai/gpt-5"),
        ("google/gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("google:gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("amazon-bedrock/nova", "bedrock/nova"),
    ],
)
def test_a_model_is_named_with_its_provider(written: str, model: str | None) -> None:
    assert qualified_model(written) == model
