"""What is checked before a call: that somebody answers, that there is a key, that the options are known."""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from dataflow import Secret, SecretMissing
from dataflow_agent.models.errors import MissingKey, ModelUnknown, OptionUnsupported
from dataflow_agent.models.model_names import ModelName
from dataflow_agent.models.providers.litellm_requests import options_of
from dataflow_agent.models.requests import ModelRequest

__all__ = [
    "check_event_loop",
    "check_key",
    "check_options",
    "check_provider",
    "key_of",
    "key_variables",
    "keys_of_process",
    "note_keys",
]


def check_event_loop(model: str) -> None:
    """Raise ModelUnknown where litellm cannot run."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        told = "litellm runs on asyncio only; run the flow there, or have a script answer"
        raise ModelUnknown(model, told) from None


def check_provider(litellm: Any, name: ModelName) -> None:
    """Raise ModelUnknown for a provider that litellm does not know."""
    if name.provider in litellm.provider_list:  # an enum of texts, for the most part
        return
    known = sorted({str(getattr(one, "value", one)) for one in litellm.provider_list})
    if name.provider not in known:
        near = difflib.get_close_matches(name.provider, known, cutoff=0.5)
        hint = f"; choices near it: {', '.join(near)}" if near else ""
        raise ModelUnknown(str(name), f"litellm knows no provider {name.provider!r}{hint}")


def check_key(litellm: Any, request: ModelRequest) -> None:
    """Raise MissingKey where the request has no key of its own, and the environment has none."""
    options = request.options
    if options.key is not None:
        return
    found = litellm.validate_environment(model=request.model, api_base=options.base_url or None)
    missing = [variable for variable in found["missing_keys"] if not variable.endswith("_API_BASE")]
    if missing:
        among = " or " if all(one.endswith("_API_KEY") for one in missing) else ", "
        told = f"there is no key: set {among.join(missing)} in the environment, or name a secret in `key`"
        raise MissingKey(request.model, told)


def key_of(request: ModelRequest) -> str | None:
    """Return the key of a request, None for that of the environment; raises MissingKey if it cannot."""
    if request.options.key is None:
        return None
    try:
        return request.options.key.reveal()
    except SecretMissing as error:
        raise MissingKey(request.model, str(error)) from error


#: How the variables end that hold keys. Which of them litellm reads for a provider stands in its code only,
#: and there are several for most, as TOGETHERAI_API_KEY and TOGETHER_AI_TOKEN.
_KEY: Final = re.compile(r"[A-Z][A-Z0-9_]*(?:(?:_|API)KEY|_TOKEN|_SECRET|_JWT|_TOKEN_BEDROCK)")


def key_variables(environment: Iterable[str]) -> list[str]:
    """Return which names of variables are those of keys."""
    return [name for name in environment if _KEY.fullmatch(name)]


def keys_of_process() -> Sequence[str]:
    """Return which variables of this process are those of keys, as they are now."""
    return _keys_among(tuple(os.environb if os.supports_bytes_environ else os.environ))


@lru_cache(maxsize=8)  # before each call the same names are looked at, which need not be decoded again
def _keys_among(names: tuple[str | bytes, ...]) -> Sequence[str]:
    return (*key_variables(map(os.fsdecode, names)),)


def note_keys(variables: Iterable[str]) -> None:
    """Have keys of the environment kept out of all that is told (S12.4)."""
    for name in variables:
        with suppress(SecretMissing):  # it is too short, and stands in any text, or is no text itself
            Secret(name).reveal()


def check_options(litellm: Any, request: ModelRequest, name: ModelName) -> None:
    """Raise OptionUnsupported for what the model does not know, as far as litellm knows the model."""
    asked = options_of(request)
    if not asked:  # most calls: to ask what is known would take longer than all other checks
        return
    known = litellm.get_supported_openai_params(model=name.model, custom_llm_provider=name.provider)
    if known is None:
        return
    unknown = [option for option in asked if option not in known]
    if request.options.web_search and not unknown and not _may_search(litellm, name):
        unknown = ["web_search_options"]
    if unknown:
        names = [_NAMES.get(option, option) for option in unknown]
        raise OptionUnsupported(request.model, f"it does not know the option {', '.join(names)}")


_NAMES = {"web_search_options": "web_search", "response_format": "answer"}


def _may_search(litellm: Any, name: ModelName) -> bool:
    """Tell whether a model searches the web; of one that litellm does not know the provider decides."""
    is_known = str(name) in litellm.model_cost or name.model in litellm.model_cost
    return not is_known or litellm.supports_web_search(name.model, custom_llm_provider=name.provider) is True
