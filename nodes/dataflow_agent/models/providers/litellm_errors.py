"""What litellm raises, as errors of this pack. Nothing here calls it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from dataflow.authoring import shortened
from dataflow_agent.models.errors import (
    ContextWindowExceeded,
    KeyRefused,
    ModelFailed,
    ModelTimeout,
    ModelUnavailable,
    OptionUnsupported,
    RateLimited,
    RequestRefused,
    StreamInterrupted,
)

__all__ = ["retry_after", "translated"]

#: By the name of a class of litellm, the first that is among those of an error.
KINDS: Final[Mapping[str, type[ModelFailed]]] = {
    "ContextWindowExceededError": ContextWindowExceeded,
    "UnsupportedParamsError": OptionUnsupported,
    "MidStreamFallbackError": StreamInterrupted,
    "AuthenticationError": KeyRefused,
    "PermissionDeniedError": KeyRefused,
    "RateLimitError": RateLimited,
    "Timeout": ModelTimeout,
    "BadRequestError": RequestRefused,
    "NotFoundError": RequestRefused,
    "UnprocessableEntityError": RequestRefused,
    "APIConnectionError": ModelUnavailable,
    "InternalServerError": ModelUnavailable,
    "ServiceUnavailableError": ModelUnavailable,
    "BadGatewayError": ModelUnavailable,
    "OpenAIError": ModelFailed,  # the base of all of them
}
MOST_SHOWN: Final = 500
_PREFIX: Final = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout): |\w+Exception - )+")


def translated(model: str, error: Exception, *, has_begun: bool, now: datetime) -> Exception:
    """Return an error of this pack for one of litellm, any other as it is.

    `has_begun` says that the answer had begun: what breaks then is no refusal. `now` is what a time to come
    again is counted from.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    kind = next((KINDS[name] for name in KINDS if name in names), None)
    if kind is None:
        return error
    if has_begun and kind in (ModelUnavailable, ModelFailed):
        kind = StreamInterrupted
    told = _PREFIX.sub("", " ".join(str(getattr(error, "message", error)).split()))
    if kind is StreamInterrupted:
        told = f"the answer broke off: {_PREFIX.sub('', told.partition(' Original exception: ')[0])}"
    return kind(model, shortened(told, MOST_SHOWN), retry_after(_headers(error), now))


def retry_after(headers: Mapping[str, Any], now: datetime) -> float | None:
    """Return the seconds that the headers of an answer ask for: milliseconds, seconds, or up to a time."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name))
        if seconds is not None:
            return seconds * factor
    try:
        until = parsedate_to_datetime(str(headers.get("retry-after")))
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _headers(error: Exception) -> Mapping[str, Any]:
    response = getattr(error, "response", None)
    found = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None) or {}
    return {str(name).lower(): value for name, value in dict(found).items()}
