"""Models get their provider, called as here."""

from __future__ import annotations

import pytest

from dataflow.formats.models import with_provider


@pytest.mark.parametrize(
    ("written", "default", "model"),
    [
        ("openai/gpt-5", None, "openai/gpt-5"),
        ("ollama:llama3", None, "ollama/llama3"),
        ("azure/team/gpt-5", None, "azure/team/gpt-5"),
        ("gpt-5", None, "openai/gpt-5"),
        ("chatgpt-4o-latest", None, "openai/chatgpt-4o-latest"),
        ("o3", None, "openai/o3"),
        ("claude-sonnet-4-5", None, "anthropic/claude-sonnet-4-5"),
        ("gemini-2.5-pro", None, "gemini/gemini-2.5-pro"),
        ("mistral-large", None, "mistral/mistral-large"),
        ("deepseek-chat", None, "deepseek/deepseek-chat"),
        ("grok-4", None, "xai/grok-4"),
        ("olive", None, None),
        ("house", None, None),
        ("", None, None),
        ("gpt 5", None, None),
        ("/x", None, None),
        ("google/gemini-2.5-pro", None, "gemini/gemini-2.5-pro"),
        ("google:gemini-2.5-pro", None, "gemini/gemini-2.5-pro"),
        ("amazon-bedrock/nova", None, "bedrock/nova"),
        ("house", "openai", "openai/house"),
        ("claude-sonnet-4-5", "openai", "anthropic/claude-sonnet-4-5"),
        ("openai:gpt-5", "azure", "openai/gpt-5"),
        ("", "openai", None),
        ("gpt 5", "openai", None),
        ("/x", "openai", None),
        ("x/", "openai", None),
    ],
)
def test_a_model_is_named_with_its_provider(written: str, default: str | None, model: str | None) -> None:
    assert with_provider(written, default=default) == model
