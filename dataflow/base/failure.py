"""`Failure`, the storable record of an exception that a node raised, and exceptions that interrupt (S9.3)."""

from __future__ import annotations

import re
import traceback as traceback_module
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Union, get_args, get_origin

from dataflow.base.tracebacks import hide_engine, is_cancellation
from dataflow.base.wording import conceal, short_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

__all__ = [
    "Failure",
    "Interruption",
    "error_line",
    "failure_of",
    "is_interruption",
    "line_of_error",
    "takes_failure",
    "text_of_error",
    "traceback_of",
]

_CODE: Final = re.compile(r"[A-Z]{2}\d{4}(?= )")


class Failure(NamedTuple):
    """A storable record of a failed firing; the exception itself is kept in `RunFailed.__cause__`.

    `node` is the id of the node, `path` that of the firing with iterations and items, both "" for the run
    itself. `attempt` counts from 1. `type` is the name of the exception's class, `message` its text,
    `traceback` has the frames of the user.
    """

    node: str
    path: str
    attempt: int
    type: str
    message: str
    traceback: str

    def __repr__(self) -> str:
        """Return the fields, with a long message or traceback shortened."""
        fields = (f"{name}={short_repr(value)}" for name, value in zip(self._fields, self, strict=True))
        return f"Failure({', '.join(fields)})"

    @property
    def code(self) -> str:
        """The code that the message begins with, such as `DF0802`, empty if it has none."""
        found = _CODE.match(self.message)
        return found[0] if found is not None else ""


def error_line(failure: Failure) -> str:
    """Write the error of a failure on one line, as Python does: its class, and its message if it has one."""
    return f"{failure.type}: {failure.message}" if failure.message else failure.type


def failure_of(error: BaseException, node: str, path: str, attempt: int) -> Failure:
    """Return the record of an exception that the node at the path raised; hides the engine's frames in it."""
    hide_engine(error)
    message = text_of_error(error)
    text = _safe_text(lambda: traceback_of(error, error.__traceback__))
    return Failure(node, path, attempt, conceal(type(error).__name__), message, text)


def traceback_of(error: BaseException, trace: TracebackType | None) -> str:
    """Return what Python prints for an exception, with secrets masked.

    The text of each exception is masked before those of a group are indented: a secret of several lines would
    not be found between the margins.
    """
    whole = traceback_module.TracebackException(type(error), error, trace, compact=True)
    left, seen = [whole], {id(whole)}
    while left:
        one = left.pop()
        one.format_exception_only = partial(_concealed, one.format_exception_only)  # type: ignore[method-assign, assignment]
        linked = [
            part for part in (one.__cause__, one.__context__, *(one.exceptions or ())) if part is not None
        ]
        left += [part for part in linked if id(part) not in seen]
        seen.update(map(id, linked))
    return conceal("".join(whole.format()))


def _concealed(write: Callable[..., Iterable[str]], **options: Any) -> list[str]:
    return [conceal("".join(write(**options)))]


def text_of_error(error: BaseException) -> str:
    """Return the text of an exception with secrets masked (S12.4); never raises."""
    return _safe_text(lambda: str(error))


def line_of_error(error: BaseException) -> str:
    """Return the class of an exception, and its text if it has one; never raises."""
    text, name = text_of_error(error), conceal(type(error).__name__)
    return f"{name}: {text}" if text else name


def _safe_text(make: Callable[[], str]) -> str:
    """Format an exception of user code; where that raises, return a substitute text."""
    try:
        return conceal(make())
    except BaseException as broken:  # noqa: BLE001 - as the docstring says
        return f"(its text cannot be made: {type(broken).__name__})"


class Interruption(BaseException):
    """The base of exceptions that no caller of user code catches, as KeyboardInterrupt."""


def is_interruption(error: BaseException) -> bool:
    """Return whether an error, alone or in a group, is meant for the whole process.

    A cancellation is not: if the node was not cancelled, raising one fails the node.
    """
    if isinstance(error, BaseExceptionGroup):
        _, rest = error.split(lambda one: isinstance(one, Exception) or is_cancellation(one))
        return rest is not None
    return not isinstance(error, Exception) and not is_cancellation(error)


def takes_failure(annotation: object) -> bool:
    """Return whether a port of this type takes an error as its value (S4.2)."""
    if get_origin(annotation) in (Union, UnionType):
        return Failure in get_args(annotation)
    return annotation is Failure
