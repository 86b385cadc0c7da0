"""The names of models in files of other systems: those that their system knows get their provider."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["with_provider"]

_NAMED: Final = re.compile(r"[\w.-]+[/:]\S+")
#: How names begin that are known without a provider.
_KNOWN: Final = {
    r"gpt-|chatgpt|o\d": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
    "mistral|magistral|codestral": "mistral",
    "deepseek": "deepseek",
    "grok": "xai",
}


def with_provider(model: str) -> str | None:
    """Return a model as `provider/name`, `openai/gpt-5` for `gpt-5`; None for one that nobody knows."""
    if _NAMED.fullmatch(model):
        return model
    found = (provider for beginning, provider in _KNOWN.items() if re.match(beginning, model))
    provider = next(found, None)
    return f"{provider}/{model}" if provider and re.fullmatch(r"\S+", model) else None
