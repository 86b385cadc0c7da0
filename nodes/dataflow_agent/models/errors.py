"""Why a model gave no answer.

ModelFailed                the base of all of them; alone, a failure that nothing more is known of
├── ModelUnknown           no model is named, or nobody answers for the provider
├── MissingKey             the provider needs a key that is not there; told before the call
├── KeyRefused             the provider does not take the key
├── OptionUnsupported      the model does not know an option; told before the call
├── RequestRefused         the provider does not take the request
│   └── ContextWindowExceeded   the conversation is longer than the model can read
├── RateLimited            there were too many requests; `retry_after` says when to come again
├── ModelUnavailable       the provider cannot be reached, or has failed itself
├── ModelTimeout           the provider took too long; also a TimeoutError
├── StreamInterrupted      an answer broke off
├── AnswerCut              an answer ended before it was whole
└── AnswerUnfit            an answer is not what was asked for

Those of which another attempt would meet the same are lasting: no retry repeats them unless it names them
(S9.1).
"""

from __future__ import annotations

from dataflow import DataflowError

__all__ = [
    "AnswerCut",
    "AnswerUnfit",
    "ContextWindowExceeded",
    "KeyRefused",
    "MissingKey",
    "ModelFailed",
    "ModelTimeout",
    "ModelUnavailable",
    "ModelUnknown",
    "OptionUnsupported",
    "RateLimited",
    "RequestRefused",
    "StreamInterrupted",
]


class ModelFailed(DataflowError):
    """Raised when a model gives no answer; `retry_after` are seconds that the provider asks for, or None."""

    is_lasting = False

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        self.model = model
        self.reason = reason
        self.retry_after = retry_after
        super().__init__(f"model {model!r}: {reason}" if model else reason)


class ModelUnknown(ModelFailed):
    """Raised when no model is named, or there is nobody who answers for its provider."""

    is_lasting = True


class MissingKey(ModelFailed):
    """Raised before a call that needs a key which is not there."""

    is_lasting = True


class KeyRefused(ModelFailed):
    """Raised when a provider does not take the key, or lets nobody with it use the model."""

    is_lasting = True


class OptionUnsupported(ModelFailed):
    """Raised before a call with an option that the model does not know."""

    is_lasting = True


class RequestRefused(ModelFailed):
    """Raised when a provider does not take a request."""

    is_lasting = True


class ContextWindowExceeded(RequestRefused):
    """Raised when a conversation is longer than the model can read."""


class RateLimited(ModelFailed):
    """Raised when a provider has had too many requests."""


class ModelUnavailable(ModelFailed):
    """Raised when a provider cannot be reached, or has failed itself."""


class ModelTimeout(ModelFailed, TimeoutError):
    """Raised when a provider says that it took too long."""


class StreamInterrupted(ModelFailed):
    """Raised when an answer broke off: nothing of it counts."""


class AnswerCut(ModelFailed):
    """Raised when an answer ended before it was whole: at its longest length, or by a filter."""


class AnswerUnfit(ModelFailed):
    """Raised when an answer is not of the type that was asked for."""
