"""Model names are qualified with their provider."""

from __future__ import annotations

from typing import Final

from dataflow.authoring.writer import qualified_model

QUALIFIED: Final = {
    "openai/gpt-5": "openai/gpt-5", "ollama:llama3": "ollama/llama3", "azure/team/gpt-5": "azure/team/gpt-5",
    "gpt-5": "openai/gpt-5", "chatgpt-4o-latest": "openai/chatgpt-4o-latest", "o3": "openai/o3",
    "claude-sonnet-4-5": "anthropic/claude-sonnet-4-5", "gemini-2.5-pro": "gemini/gemini-2.5-pro",
    "mistral-large": "mistral/mistral-large", "deepseek-chat": "deepseek/deepseek-chat",
    "grok-4": "xai/grok-4", "olive": None, "house": None, "": None, "gpt 5": None, "/x": None, "x/": None,
    "openai:gpt-5": "openai/gpt-5", "google/gemini-2.5-pro": "gemini/gemini-2.5-pro",
    "google:gemini-2.5-pro": "gemini/gemini-2.5-pro", "amazon-bedrock/nova": "bedrock/nova",
}  # fmt: skip


def test_a_model_is_named_with_its_provider() -> None:
    assert {written: qualified_model(written) for written in QUALIFIED} == QUALIFIED
