"""Scripted answers in place of a model: no network, no key, the same answers each time."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from inspect import isawaitable
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, assert_never
from weakref import WeakKeyDictionary

from anyio import to_thread
from anyio.lowlevel import checkpoint
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from dataflow import ArgumentInvalid, Diagnostic, Failure, FormatError, Message, ToolCall, this_firing
from dataflow.authoring import read_data, shortened
from dataflow_agent.diagnostics.models import (
    SCRIPT_ENDED,
    SCRIPT_ERROR_UNKNOWN,
    SCRIPT_FIELD_INVALID,
    SCRIPT_FIELD_UNKNOWN,
    SCRIPT_FUNCTION_FAILED,
    SCRIPT_NOT_A_LIST,
    SCRIPTED_ANSWER_INVALID,
)
from dataflow_agent.models.calls import FIELD
from dataflow_agent.models.errors import (
    AnswerCut,
    AnswerEmpty,
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelFailed,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    RequestRefused,
    StreamInterrupted,
)
from dataflow_agent.models.request import Emit, ModelAnswer, ModelRequest, Provider, Usage

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = [
    "AnswerFunction",
    "Given",
    "Script",
    "ScriptEnded",
    "ScriptFailed",
    "ScriptedAnswer",
    "ScriptedCall",
    "answered_by",
    "provider_for_all",
    "read_script",
    "script_failure",
    "script_of_file",
    "scripted",
]

#: How many characters an error quotes of a request without an answer.
MOST_SHOWN: Final = 100
#: The errors that a script may name, by the names of their classes.
ERRORS: Final[Mapping[str, type[ModelFailed]]] = {
    "answer_cut": AnswerCut,
    "answer_empty": AnswerEmpty,
    "model_refused": ModelRefused,
    "context_window_exceeded": ContextWindowExceeded,
    "key_refused": KeyRefused,
    "missing_key": MissingKey,
    "model_failed": ModelFailed,
    "model_timeout": ModelTimeout,
    "model_unavailable": ModelUnavailable,
    "rate_limited": RateLimited,
    "request_refused": RequestRefused,
    "stream_interrupted": StreamInterrupted,
}
_provider: Final[ContextVar[Provider | None]] = ContextVar("who answers for every model", default=None)


def _check_error(name: str) -> str:
    if name not in ERRORS:
        raise ArgumentInvalid(SCRIPT_ERROR_UNKNOWN(name=name, available=ERRORS, near=name))
    return name


class ScriptedCall(BaseModel):
    """A call of a tool in a scripted answer; `arguments` is a mapping, or a literal string of JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict)
    id: str = ""


class ScriptedAnswer(BaseModel):
    """One answer of a script: a text, a JSON `value`, `pieces` of a text, calls of tools, or an error.

    `error` is the name of a class in snake case, as `rate_limited`; it is raised after the pieces. With `to`
    it answers only requests whose last message contains this text, and with `repeat` any number of them. An
    `answer_cut` is the answer where cut answers are accepted, and it has the text, as has `model_refused`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = ""
    value: JsonValue = None
    pieces: tuple[str, ...] = ()
    tool_calls: tuple[ScriptedCall, ...] = ()
    error: Annotated[str, AfterValidator(_check_error)] | None = None
    retry_after: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    to: str = ""
    repeat: bool = False

    def written(self, request: ModelRequest) -> str:
        """Return the answer as a string; a value in the form that the request expects."""
        if "value" not in self.model_fields_set:
            return self.text or "".join(self.pieces)
        return json.dumps({FIELD: self.value} if request.is_wrapped else self.value, ensure_ascii=False)


Given: TypeAlias = str | BaseModel | ModelAnswer | Exception | Mapping[str, Any] | list[Any]
"""An answer of a script; a pydantic model, a mapping and a list are values, written as JSON."""

AnswerFunction: TypeAlias = Callable[[ModelRequest], Given | Awaitable[Given]]
"""Returns the answer to each request, and may be async."""


class Script:
    """A provider that answers from a list, in order, or by a function; `requests` are those it has received.

    An answer is a string, a `ScriptedAnswer`, a `ModelAnswer`, an exception to be raised, or a value that is
    written as JSON: a pydantic model, a mapping or a list. Usage counts words.
    """

    def __init__(self, answers: Iterable[Given] | AnswerFunction) -> None:
        self.requests: list[ModelRequest] = []
        self._make = answers if callable(answers) else None
        self._left = [] if callable(answers) else [*map(_scripted, answers)]
        self._taking = threading.Lock()  # runs in several threads may share a script

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        """Return the next answer to this request.

        Raises ScriptEnded if there is none, and ScriptFailed for an error of the function other than
        ModelFailed.
        """
        await checkpoint()
        self.requests.append(request)
        given = self._next(request) if self._make is None else await _made(self._make, request)
        match given:
            case ScriptedAnswer():
                return await _play(given, request, emit)
            case ModelAnswer():
                emit(given.text)
                return replace(given, model=given.model or request.model, is_scripted=True)
            case Exception():
                raise given
            case _:
                assert_never(given)

    def _next(self, request: ModelRequest) -> ScriptedAnswer | ModelAnswer | Exception:
        asked = _last_text(request)
        with self._taking:
            for position, one in enumerate(self._left):
                if not isinstance(one, ScriptedAnswer) or one.to in asked:
                    if not (isinstance(one, ScriptedAnswer) and one.repeat):
                        del self._left[position]
                    return one
        raise ScriptEnded(request.model, SCRIPT_ENDED(request=repr(shortened(asked, MOST_SHOWN))))


@contextmanager
def scripted(*answers: Given | AnswerFunction) -> Iterator[Script]:
    """Let a script answer for every model, whatever its name, in the runs that are started in the block.

    Pass the answers, in order, or one function of the request that returns each answer and may be async.
    """
    function = answers[0] if len(answers) == 1 and callable(answers[0]) else None
    script = Script(answers if function is None else function)  # type: ignore[arg-type]  # no answer is a function
    with answered_by(script):
        yield script


async def _made(make: AnswerFunction, request: ModelRequest) -> ScriptedAnswer | ModelAnswer | Exception:
    try:
        made = make(request)
        return _scripted(await made if isawaitable(made) else made)
    except ModelFailed:
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise ScriptFailed(request.model, SCRIPT_FUNCTION_FAILED(error=text)) from error


def _scripted(given: Any) -> ScriptedAnswer | ModelAnswer | Exception:
    match given:
        case ScriptedAnswer() | ModelAnswer() | Exception():
            return given
        case str():
            return ScriptedAnswer(text=given)
        case BaseModel():
            return ScriptedAnswer(value=given.model_dump(mode="json"))
        case Mapping():
            return ScriptedAnswer(value=dict(given))
        case list():
            return ScriptedAnswer(value=given)
        case _:
            raise ArgumentInvalid(SCRIPTED_ANSWER_INVALID(found=type(given).__name__))


async def _play(given: ScriptedAnswer, request: ModelRequest, emit: Emit) -> ModelAnswer:
    text = given.written(request)
    pieces = given.pieces if request.options.stream and given.pieces else (text,)
    for one in filter(None, pieces):
        emit(one)
        await checkpoint()
    asked = sum(len(_text(message).split()) for message in request.messages)
    usage = Usage(asked, len(text.split()), 0.0)
    if given.error is not None:
        error = _error(given.error, request.model, given.retry_after, text)
        if isinstance(error, AnswerCut) and request.options.accept_cut and text and request.schema is None:
            return ModelAnswer(text, (), usage, "length", request.model, is_scripted=True)
        raise error
    calls = tuple(_call(one, number) for number, one in enumerate(given.tool_calls, start=1))
    return ModelAnswer(text, calls, usage, "tool_calls" if calls else "stop", request.model, is_scripted=True)


def _error(name: str, model: str, retry_after: float | None, text: str) -> ModelFailed:
    kind, why = ERRORS[name], "the script says so"
    if issubclass(kind, AnswerCut | ModelRefused):
        return kind(model, why, retry_after, text=text)
    return kind(model, why, retry_after)


def _call(given: ScriptedCall, number: int) -> ToolCall:
    arguments = given.arguments if isinstance(given.arguments, str) else json.dumps(given.arguments)
    return ToolCall(given.id or f"call_{number}", given.name, arguments)


def _last_text(request: ModelRequest) -> str:
    return _text(request.messages[-1]) if request.messages else ""


def _text(message: Message) -> str:
    """Return the texts of a message, without its images."""
    content = message.content
    parts = [content] if isinstance(content, str) else content
    return "\n".join(part for part in parts if isinstance(part, str))


@contextmanager
def answered_by(provider: Provider) -> Iterator[None]:
    """Let a provider answer for every model in the runs that are started in the block."""
    token = _provider.set(provider)
    try:
        yield
    finally:
        _provider.reset(token)


def provider_for_all() -> Provider | None:
    """Return the provider that answers for every model, None if each model has its own."""
    return _provider.get()


async def script_of_file(path: str) -> Script:
    """Return the script of a file, one for each execution session of a run (S11.3); raises FormatError."""
    return await to_thread.run_sync(_opened, this_firing().sitting, path)


_opening: Final = threading.Lock()  # of two concurrent firings the first opens the shared script
_scripts: Final[WeakKeyDictionary[object, dict[str, Script]]] = WeakKeyDictionary()


def _opened(sitting: object, path: str) -> Script:
    with _opening:
        opened = _scripts.setdefault(sitting, {})
        if path not in opened:
            opened[path] = Script(read_script(path))
        return opened[path]


def read_script(path: str) -> tuple[ScriptedAnswer, ...]:
    """Read a list of answers in YAML or JSON, each a text or the fields of a `ScriptedAnswer`."""
    found = read_data(path)
    if not isinstance(found, list):
        raise FormatError(path, SCRIPT_NOT_A_LIST(found=type(found).__name__))
    return tuple(_read(path, number, one) for number, one in enumerate(found, start=1))


def _read(path: str, number: int, given: object) -> ScriptedAnswer:
    fields = {"text": given} if isinstance(given, str) else given
    try:
        return ScriptedAnswer.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first = min(faults, key=lambda fault: fault["type"] == "missing")  # an unknown field may be misspelt
        raise FormatError(path, _problem(first).within(f"scripted answer {number}")) from None


def _problem(fault: ErrorDetails) -> Diagnostic:
    """Return the problem of a field of an answer, or of one of its calls."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault["loc"])
    match fault["type"]:
        case "extra_forbidden":
            known = ScriptedAnswer if len(fault["loc"]) == 1 else ScriptedCall
            return SCRIPT_FIELD_UNKNOWN(place, available=known.model_fields)
        case "value_error":
            problem: Diagnostic = fault["ctx"]["error"].problem
            return problem.within(place)
        case "missing":
            return SCRIPT_FIELD_INVALID(place, problem="is missing")
        case _:
            return SCRIPT_FIELD_INVALID(place, problem=fault["msg"])


class ScriptFailed(ModelFailed):
    """Raised when the function of a script has raised another error than ModelFailed, which is its cause."""

    is_lasting = True
    kind = None


class ScriptEnded(ScriptFailed):
    """Raised when a script has no answer to a request."""


def script_failure(failure: Failure) -> ScriptFailed | None:
    """Return the error of a script that a failure was made of, None for another failure."""
    for kind in (ScriptFailed, ScriptEnded):
        if failure.type == kind.__name__:
            return kind("", failure.message)
    return None
