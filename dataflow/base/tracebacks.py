"""Keep the frames of the engine out of the tracebacks that its callers see."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractAsyncContextManager
from itertools import groupby
from types import TracebackType
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["FULL_TRACEBACKS", "USER_FRAMES", "UserBlock", "hide_engine", "is_cancellation"]

T = TypeVar("T")
#: The environment variable that keeps the engine's frames, if it is not empty.
FULL_TRACEBACKS: Final = "DATAFLOW_FULL_TRACEBACKS"
_PACKAGE: Final = __name__.partition(".")[0]
#: The folders of the engine's top-level package.
_ENGINE: Final = tuple(f"{folder}{os.sep}" for folder in sys.modules[_PACKAGE].__path__)
#: The packages whose frames belong to the engine where they are called by it, or call it.
_AROUND: Final = frozenset({"anyio", "asyncio", "concurrent", "contextlib", "outcome", "threading", "trio"})


def hide_engine(error: BaseException) -> None:
    """Drop the engine's frames from the tracebacks of an exception, and of its causes, contexts and members.

    The innermost frames are kept, also of the engine, unless the engine raises such errors on purpose.
    """
    if os.environ.get(FULL_TRACEBACKS):
        return
    todo, seen = [error], {id(error)}
    for one in todo:  # grows while it is walked
        if one.__traceback__ is not None:
            one.__traceback__ = _shortened(one)
        context = one.__context__
        if context is not None and is_cancellation(context) and _shortened(context) is None:
            one.__context__ = None  # how Ctrl-C reached the caller
        members = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        for other in (one.__cause__, one.__context__, *members):
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                todo.append(other)


def _shortened(error: BaseException) -> TracebackType | None:
    """Return the traceback of an exception without runs of frames that the engine is part of."""
    entries: list[TracebackType] = []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    runs = [
        (is_around, list(run)) for is_around, run in groupby(entries, lambda one: _is_around(one.tb_frame))
    ]
    kept: list[TracebackType] = []
    for is_around, run in runs:
        is_innermost = run[-1] is entries[-1] and not _is_raised_on_purpose(error)
        if not is_around or is_innermost or not any(_is_engine(one.tb_frame) for one in run):
            kept += run
    if len(kept) == len(entries):
        return error.__traceback__
    trace: TracebackType | None = None
    for one in reversed(kept):
        trace = TracebackType(trace, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return trace


def _is_around(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return _is_engine(frame) or (isinstance(name, str) and name.partition(".")[0] in _AROUND)


def _is_engine(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_ENGINE)


def _is_raised_on_purpose(error: BaseException) -> bool:
    is_own = type(error).__module__.partition(".")[0] == _PACKAGE
    return is_own or isinstance(error, KeyboardInterrupt) or is_cancellation(error)


def is_cancellation(error: BaseException) -> bool:
    """Return whether this is a cancellation of asyncio or trio, without importing either."""
    return any(
        kind is not None and isinstance(error, kind)
        for kind in (
            getattr(sys.modules.get("asyncio"), "CancelledError", None),
            getattr(sys.modules.get("trio"), "Cancelled", None),
        )
    )


class _UserFrames:
    """A context manager that hides the engine's frames in what leaves it, also the frame that uses it."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            hide_engine(error)


#: Around the code of a public function.
USER_FRAMES: Final = _UserFrames()


class UserBlock(AbstractAsyncContextManager[T]):
    """A block of the engine that the user enters; its exceptions have no frames of the engine."""

    __slots__ = ("_inner",)

    def __init__(self, inner: AbstractAsyncContextManager[T]) -> None:
        self._inner = inner

    async def __aenter__(self) -> T:
        with USER_FRAMES:
            return await self._inner.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        with USER_FRAMES:
            return await self._inner.__aexit__(kind, error, trace)
