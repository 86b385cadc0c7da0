"""The errors of calls of models.

ModelFailed                the base of all of them; alone, an unknown failure
├── ModelUnknown           no model is named, or the provider is unknown
├── MissingKey             the provider needs a key, and none was sent
├── KeyRefused             the provider refuses the key
├── OptionUnsupported      the model does not support an option; raised before the call
├── RequestRefused         the provider refuses the request
│   └── ContextWindowExceeded   the conversation is longer than the model can read
├── RateLimited            there were too many requests; `retry_after` says when to retry
├── ModelUnavailable       the provider cannot be reached, or has failed itself
├── ModelTimeout           the provider took too long; also a TimeoutError
├── StreamInterrupted      the stream of an answer ended early
├── AnswerCut              an answer is incomplete: it reached a limit or a filter
├── ModelRefused           the model refuses to answer
├── AnswerEmpty            an answer has neither text nor calls
└── AnswerUnfit            an answer is not of the requested type

An error that another attempt would meet again is lasting: no retry repeats it unless it names it (S9.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from dataflow import DataflowError, Diagnostic
from dataflow_agent.diagnostics.models import (
    ANSWER_CUT,
    ANSWER_EMPTY,
    CONTEXT_TOO_LONG,
    KEY_MISSING,
    KEY_REFUSED,
    MODEL_FAILED,
    MODEL_REFUSED,
    MODEL_TIMED_OUT,
    MODEL_UNAVAILABLE,
    OPTION_UNSUPPORTED,
    RATE_LIMITED,
    REQUEST_REFUSED,
    STREAM_INTERRUPTED,
)

if TYPE_CHECKING:
    from dataflow.authoring import Kind

__all__ = [
    "AnswerCut",
    "AnswerEmpty",
    "AnswerUnfit",
    "ContextWindowExceeded",
    "KeyRefused",
    "MissingKey",
    "ModelFailed",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "ModelUnknown",
    "OptionUnsupported",
    "RateLimited",
    "RequestRefused",
    "StreamInterrupted",
]


class ModelFailed(DataflowError):
    """Raised when a model does not answer; `retry_after` are seconds that the provider asks for, or None.

    A problem that is given as a string, such as the message of a provider, gets the kind of the class.
    """

    is_lasting = False
    kind: ClassVar[Kind | None] = MODEL_FAILED

    def __init__(self, model: str, problem: Diagnostic | str, retry_after: float | None = None) -> None:
        self.model = model
        self.retry_after = retry_after
        if isinstance(problem, str) and self.kind is not None:
            problem = self.kind(error=problem)
        super().__init__(
            problem.within(f"model {model!r}" if model else "")
            if isinstance(problem, Diagnostic)
            else problem
        )
        if isinstance(problem, Diagnostic):
            self.problem = problem


class ModelUnknown(ModelFailed):
    """Raised when no model is named, or its provider is unknown."""

    is_lasting = True


class MissingKey(ModelFailed):
    """Raised when a provider needs a key and none was sent."""

    is_lasting = True
    kind = KEY_MISSING


class KeyRefused(ModelFailed):
    """Raised when a provider refuses the key, or the key does not permit the model."""

    is_lasting = True
    kind = KEY_REFUSED


class OptionUnsupported(ModelFailed):
    """Raised before a call with an option that the model does not support."""

    is_lasting = True
    kind = OPTION_UNSUPPORTED


class RequestRefused(ModelFailed):
    """Raised when a provider refuses a request."""

    is_lasting = True
    kind = REQUEST_REFUSED


class ContextWindowExceeded(RequestRefused):
    """Raised when a conversation is longer than the model can read."""

    kind = CONTEXT_TOO_LONG


class RateLimited(ModelFailed):
    """Raised when a provider has received too many requests."""

    kind = RATE_LIMITED


class ModelUnavailable(ModelFailed):
    """Raised when a provider cannot be reached, or has failed itself."""

    kind = MODEL_UNAVAILABLE


class ModelTimeout(ModelFailed, TimeoutError):
    """Raised when a provider reports a timeout."""

    kind = MODEL_TIMED_OUT


class StreamInterrupted(ModelFailed):
    """Raised when the stream of an answer ends early: nothing of it is used."""

    kind = STREAM_INTERRUPTED


class AnswerCut(ModelFailed):
    """Raised when an answer is incomplete: it reached the maximum length, or a filter ended it.

    `text` is what there is of it, and `finish_reason` is `length`, `content_filter`, or another of the
    provider's. The same request would be cut again.
    """

    is_lasting = True
    kind = ANSWER_CUT

    def __init__(
        self,
        model: str,
        problem: Diagnostic | str,
        retry_after: float | None = None,
        *,
        text: str = "",
        finish_reason: str = "length",
    ) -> None:
        super().__init__(model, problem, retry_after)
        self.text = text
        self.finish_reason = finish_reason


class ModelRefused(ModelFailed):
    """Raised when a model refuses to answer; `text` is its reason, in its own words."""

    is_lasting = True
    kind = MODEL_REFUSED

    def __init__(
        self, model: str, problem: Diagnostic | str, retry_after: float | None = None, *, text: str = ""
    ) -> None:
        super().__init__(model, problem, retry_after)
        self.text = text


class AnswerEmpty(ModelFailed):
    """Raised when an answer has neither text nor calls of tools, or not the calls that it announces."""

    kind = ANSWER_EMPTY


class AnswerUnfit(ModelFailed):
    """Raised when an answer is not of the requested type."""
