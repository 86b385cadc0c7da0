"""The names of models in files of other systems: each gets its provider, called as here."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["qualified_model"]

_NAMED: Final = re.compile(r"([\w.-]+)[/:](\S+)")
#: What providers are called here, where other systems call them otherwise.
_PROVIDERS: Final = {"google": "gemini", "amazon-bedrock": "bedrock"}
#: How names begin that are known without a provider.
_KNOWN: Final = {
    r"gpt-|chatgpt|o\d": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
    "mistral|magistral|codestral": "mistral",
    "deepseek": "deepseek",
    "grok": "xai",
}


def qualified_model(model: str) -> str | None:
    """Return the name of a model as `provider/name`: `openai/gpt-5` for `gpt-5`; None if it is unknown."""
    if named := _NAMED.fullmatch(model):
        return f"{_PROVIDERS.get(named[1], named[1])}/{named[2]}"
    if re.fullmatch(r"[^\s/:]+", model) is None:
        return None
    found = (provider for beginning, provider in _KNOWN.items() if re.match(beginning, model))
    provider = next(found, None)
    return f"{provider}/{model}" if provider else None
