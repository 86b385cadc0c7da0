"""The litellm provider: loading, checks before a call, the call, and its errors."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Any, Final

from anyio import move_on_after, to_thread

from dataflow import Secret, SecretFilter, SecretMissing
from dataflow.authoring import shortened
from dataflow_agent.diagnostics.models import (
    ASYNCIO_REQUIRED,
    KEY_MISSING,
    LIBRARY_MISSING,
    OPTION_UNSUPPORTED,
    PROVIDER_UNKNOWN,
    STREAM_INTERRUPTED,
)
from dataflow_agent.models.errors import (
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelFailed,
    ModelTimeout,
    ModelUnavailable,
    ModelUnknown,
    OptionUnsupported,
    RateLimited,
    RequestRefused,
    StreamInterrupted,
)
from dataflow_agent.models.providers.litellm_answers import WHOLE, Gathered, Watched, watched_call
from dataflow_agent.models.providers.litellm_requests import (
    arguments_of,
    options_of,
    service_of,
    session_of,
)
from dataflow_agent.models.request import Emit, ModelAnswer, ModelName, ModelRequest, model_name

__all__ = [
    "LITELLM",
    "check_event_loop",
    "check_options",
    "check_provider",
    "key_of",
    "key_variables",
    "load",
    "loaded",
    "missing_key",
    "note_keys",
    "retry_after",
    "translated",
]

#: How long closing a connection may take, in seconds.
CLOSING: Final = 2.0
LOG: Final = logging.getLogger("dataflow.agent.litellm")
LOG.addFilter(SecretFilter())
#: Our errors by the classes of litellm; the first class that an error is an instance of counts.
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
#: Variables that litellm reads on import, so that it neither fetches prices nor reads `.env`.
ENVIRONMENT: Final = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
LOGGERS: Final = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")
_loading: Final = threading.Lock()  # of two concurrent calls the first imports it
_loaded: Final[list[Any]] = []


class Litellm:
    """The provider that calls services through litellm, which is imported with the first call."""

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        """Call the model; raises ModelFailed, before the call for an unsupported option."""
        check_event_loop(request.model)
        litellm, name = await loaded(request.model), model_name(request.model)
        check_provider(litellm, name)
        check_options(litellm, request, name)
        note_keys(keys_of_process())
        session = session_of(request, name, os.environ)
        arguments = {**arguments_of(request), **session, "api_key": key_of(request)}
        has_begun = False
        gathered = Gathered()
        try:
            response = await litellm.acompletion(**arguments)
            has_begun = True
            if request.options.stream:
                await _read(request, response, gathered, emit)
            else:
                gathered.add_whole(response)
        except Exception as error:
            ours = missing_key(litellm, request, error) or translated(
                request.model, error, has_begun=has_begun, now=datetime.now(UTC)
            )
            if ours is error:
                raise
            raise ours from error
        answer = gathered.answer(request, service_of(request), partial(_cost, litellm, request, response))
        if not request.options.stream and answer.text:
            emit(answer.text)
        return answer


LITELLM: Final = Litellm()


async def _read(request: ModelRequest, response: Any, gathered: Gathered, emit: Emit) -> None:
    """Read a stream to its end, and always close its connection."""
    below = getattr(response, "completion_stream", None)
    if hasattr(below, "__aiter__"):
        response.completion_stream = Watched(below, gathered.dropped)
    if (make_call := getattr(response, "make_call", None)) is not None:
        response.make_call = partial(watched_call, make_call, gathered.dropped)
    try:
        async for chunk in response:
            if text := gathered.add_chunk(chunk):
                emit(text)
    finally:
        with move_on_after(CLOSING, shield=True):
            await response.aclose()
    if gathered.finish_reason is None or (gathered.finish_reason in WHOLE and not gathered.dropped.has_ended):
        raise StreamInterrupted(request.model, STREAM_INTERRUPTED(error="it ended without a finish reason"))


def _cost(litellm: Any, request: ModelRequest, response: Any, used: Any) -> float | None:
    hidden = {} if request.options.stream else getattr(response, "_hidden_params", {})
    for computed in (hidden.get("response_cost"), getattr(used, "cost", None)):
        if isinstance(computed, float):  # computing it again is slow
            return computed
    try:
        whole = litellm.ModelResponse(model=request.model, usage=used)
        return float(litellm.completion_cost(whole, model=request.model))
    except Exception as error:  # noqa: BLE001 - it raises any error for a model without a price
        LOG.debug("%s has no price: %s", request.model, error)
        return None


def check_event_loop(model: str) -> None:
    """Raise ModelUnknown where litellm cannot run."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise ModelUnknown(model, ASYNCIO_REQUIRED()) from None


def check_provider(litellm: Any, name: ModelName) -> None:
    """Raise ModelUnknown for a provider that litellm does not know."""
    if name.provider in litellm.provider_list:  # mostly an enum of strings
        return
    known = sorted({str(getattr(one, "value", one)) for one in litellm.provider_list})
    if name.provider not in known:
        problem = PROVIDER_UNKNOWN(provider=name.provider, available=known, near=name.provider)
        raise ModelUnknown(str(name), problem)


def missing_key(litellm: Any, request: ModelRequest, error: BaseException) -> MissingKey | None:
    """Return the error of a call that failed because litellm has sent no key, None for another failure.

    Before the call nobody knows: litellm forecasts which variables it reads, and reads others as well.
    """
    if request.options.key is not None or not _had_no_key(error):
        return None
    found = litellm.validate_environment(model=request.model, api_base=request.options.base_url or None)
    missing = [variable for variable in found["missing_keys"] if variable.endswith(_ENDS)]
    named = f"set {' or '.join(missing)} in the environment" if missing else "set its variable"
    return MissingKey(request.model, KEY_MISSING(error=f"{named}, or name a secret in `key`"))


#: How the names of variables end that litellm reports as missing for want of a key.
_ENDS: Final = ("KEY", "KEY_ID", "TOKEN")
#: The headers that have a key.
_WITH_KEY: Final = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
#: What libraries say that find no key to send.
_NO_KEY: Final = re.compile(
    r"missing credentials|missing [\w ]*key|no key is set|key (is )?not set|unable to locate credentials",
    re.IGNORECASE,
)


def _had_no_key(error: BaseException) -> bool:
    """Return whether a request without a key was refused, or was not sent for want of one."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for one in reversed(causes):  # litellm makes up the responses of its own errors
        response = getattr(one, "response", None)
        if type(one).__module__.partition(".")[0] in ("httpx", "openai") and response is not None:
            sent = {name.lower() for name, value in response.request.headers.items() if value}
            return response.status_code == 401 and not sent.intersection(_WITH_KEY)
    return not any(type(one).__module__.startswith("httpx") for one in causes) and any(
        _NO_KEY.search(str(one)) for one in causes
    )


def key_of(request: ModelRequest) -> str | None:
    """Return the key of a request, None for that of the environment; raises MissingKey."""
    if request.options.key is None:
        return None
    try:
        return request.options.key.reveal()
    except SecretMissing as error:
        raise MissingKey(request.model, error.diagnostics[0]) from error


#: The names of variables that contain keys. Which of them litellm reads is defined only in its code, and most
#: providers have several, as TOGETHERAI_API_KEY and TOGETHER_AI_TOKEN.
_KEY: Final = re.compile(r"[A-Z][A-Z0-9_]*(?:(?:_|API)KEY|_TOKEN|_SECRET|_JWT|_TOKEN_BEDROCK)")


def key_variables(environment: Iterable[str]) -> list[str]:
    """Return the names of variables that contain keys."""
    return [name for name in environment if _KEY.fullmatch(name)]


def keys_of_process() -> Sequence[str]:
    """Return the current variables of this process that contain keys."""
    return _keys_among(tuple(os.environb if os.supports_bytes_environ else os.environ))


@lru_cache(maxsize=8)  # each call looks at the same names, which need not be decoded again
def _keys_among(names: tuple[str | bytes, ...]) -> Sequence[str]:
    return (*key_variables(map(os.fsdecode, names)),)


def note_keys(variables: Iterable[str]) -> None:
    """Register keys of the environment as secrets to be masked (S12.4)."""
    for name in variables:
        with suppress(SecretMissing, UserWarning):  # empty, or not text; weak where warnings are errors
            Secret(name).reveal()


def check_options(litellm: Any, request: ModelRequest, name: ModelName) -> None:
    """Raise OptionUnsupported for an option that the model does not support, if litellm knows the model."""
    asked = options_of(request)
    if not asked:  # most calls; the query takes longer than all other checks
        return
    known = litellm.get_supported_openai_params(model=name.model, custom_llm_provider=name.provider)
    if known is None:
        return
    unknown = [option for option in asked if option not in known]
    if request.options.web_search and not unknown and not _may_search(litellm, name):
        unknown = ["web_search_options"]
    if unknown:
        names = [_NAMES.get(option, option) for option in unknown]
        raise OptionUnsupported(request.model, OPTION_UNSUPPORTED(error=", ".join(names)))


_NAMES = {"web_search_options": "web_search", "response_format": "answer"}


def _may_search(litellm: Any, name: ModelName) -> bool:
    """Return whether a model searches the web; True for one that litellm does not know."""
    is_known = str(name) in litellm.model_cost or name.model in litellm.model_cost
    return not is_known or litellm.supports_web_search(name.model, custom_llm_provider=name.provider) is True


def translated(model: str, error: Exception, *, has_begun: bool, now: datetime) -> Exception:
    """Return the error of this pack for an error of litellm; any other error is returned unchanged.

    `has_begun` says that the answer had begun, so that a failure is not a refusal. The time in a Retry-After
    header is relative to `now`.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    kind = next((KINDS[name] for name in KINDS if name in names), None)
    if kind is None:
        return error
    if has_begun and kind in (ModelUnavailable, ModelFailed):
        kind = StreamInterrupted
    text = _PREFIX.sub("", " ".join(str(getattr(error, "message", error)).split()))
    if kind is StreamInterrupted:
        text = _PREFIX.sub("", text.partition(" Original exception: ")[0])
    return kind(model, shortened(text, MOST_SHOWN), retry_after(_headers(error), now))


def retry_after(headers: Mapping[str, Any], now: datetime) -> float | None:
    """Return the seconds of a Retry-After header: given in milliseconds, in seconds, or as a time."""
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


async def loaded(model: str) -> Any:
    """Return litellm, imported in a thread on first use; raises ModelUnknown if it is not installed."""
    if not _loaded:
        await to_thread.run_sync(load, model, abandon_on_cancel=True)
    return _loaded[0]


def load(model: str) -> Any:
    """Import litellm on first use; raises ModelUnknown if it is not installed."""
    with _loading:
        if not _loaded:
            with _environment(), _without_handlers():
                try:
                    import litellm
                except ImportError as error:
                    raise ModelUnknown(model, LIBRARY_MISSING(library="litellm", error=error)) from error
            litellm.suppress_debug_info = True  # else it prints to stdout, which may be a protocol
            _loaded.append(litellm)
        return _loaded[0]


@contextmanager
def _environment() -> Iterator[None]:
    """Set the variables that litellm reads on import, and restore the previous ones."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_handlers() -> Iterator[None]:
    """Remove the log handlers that are added in the block: showing logs is up to the program."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [[*logger.handlers] for logger in loggers]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, before, strict=True):
            logger.handlers[:] = handlers or [logging.NullHandler()]
