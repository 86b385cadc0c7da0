"""What asyncio and trio do not share: spawning cheaply, waking from a thread, telling a cancellation."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import types
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from contextlib import AbstractAsyncContextManager
    from contextvars import Context

__all__ = [
    "Event",
    "Nursery",
    "caller",
    "cancellation_types",
    "current_task",
    "forget_cancellation",
    "forget_event_loop",
    "in_event_loop",
    "new_event",
    "on_asyncio",
    "parted",
    "scope_type",
    "waker",
    "yield_once",
]


def on_asyncio() -> bool:
    """Tell whether the running task is asyncio's."""
    return not _trio_tells("in_trio_task")


def in_event_loop() -> bool:
    """Tell whether this thread is running an event loop already."""
    if _trio_tells("in_trio_run"):
        return True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _trio_tells(question: str) -> bool:
    """Ask trio; nobody is on it who has not imported it, or while another thread is just importing it."""
    tells = getattr(getattr(sys.modules.get("trio"), "lowlevel", None), question, None)
    return tells is not None and bool(tells())


class Event(Protocol):
    """Something that happens once; any number of tasks may wait for it."""

    def is_set(self) -> bool: ...
    def set(self) -> None: ...
    async def wait(self) -> object: ...


class Nursery:
    """A task group; entering it gives its spawn. A task costs a quarter of what anyio's start_soon does."""

    __slots__ = ("_group",)

    def __init__(self) -> None:
        self._group: AbstractAsyncContextManager[Any]
        if on_asyncio():
            self._group = asyncio.TaskGroup()
        else:
            import trio  # installed wherever it is running

            self._group = trio.open_nursery()

    async def __aenter__(self) -> Callable[[Callable[[], Coroutine[Any, Any, None]]], object]:
        group = await self._group.__aenter__()
        if isinstance(group, asyncio.TaskGroup):
            if (
                asyncio.get_running_loop().get_task_factory() is not None
            ):  # it may start a task at once, in here
                return lambda function: group.create_task(function())
            context = contextvars.copy_context()  # one for all tasks: each node runs in a copy of its own
            return lambda function: group.create_task(function(), context=context)
        start_soon: Callable[[Callable[[], Coroutine[Any, Any, None]]], object] = group.start_soon
        return start_soon

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> bool | None:
        return await self._group.__aexit__(kind, raised, traceback)


def new_event() -> Event:
    """Make an event of the running loop's own library, for a tenth of what anyio's costs."""
    if on_asyncio():
        return asyncio.Event()
    import trio

    return trio.Event()


def scope_type() -> Callable[[], anyio.CancelScope]:
    """Return what makes cancel scopes of anyio here, without finding out each time where that is."""
    return _scope_type(on_asyncio())


@cache
def _scope_type(_is_asyncio: bool) -> type[anyio.CancelScope]:
    return type(anyio.CancelScope())


def cancellation_types() -> tuple[type[BaseException], ...]:
    """Name what a cancelled task sees raised."""
    if on_asyncio():
        return (asyncio.CancelledError,)
    import trio

    return (trio.Cancelled,)


class Cancellable(Protocol):
    """What a task of asyncio tells of the requests to cancel it."""

    def cancelling(self) -> int: ...


class _Uncounted:
    """A task of trio, which is not cancelled by requests."""

    def cancelling(self) -> int:
        return 0


UNCOUNTED: Final = _Uncounted()


def current_task() -> Cancellable:
    """Return the running task, as far as the requests to cancel it are concerned."""
    task = asyncio.current_task() if on_asyncio() else None
    return UNCOUNTED if task is None else task


def parted(
    error: BaseException, cancellation: tuple[type[BaseException], ...]
) -> tuple[BaseException | None, BaseException | None]:
    """Part a group, as trio's nurseries raise it, into its cancellations and the rest."""
    if not isinstance(error, BaseExceptionGroup):
        return None, error
    cancelled, rest = error.split(cancellation)
    if rest is not None and len(rest.exceptions) == 1:
        return cancelled, rest.exceptions[0]
    return cancelled, rest


def forget_event_loop(context: Context) -> None:
    """Let code that runs in the context in another thread start an event loop of its own."""
    sniffio = sys.modules.get("sniffio")  # where it is used, it keeps the running library in a contextvar
    if sniffio is not None:
        context.run(sniffio.current_async_library_cvar.set, None)


@types.coroutine
def yield_once() -> Generator[None, None, None]:
    """Let the asyncio event loop go round once; a cancel request that is pending arrives here."""
    yield


def forget_cancellation() -> None:
    """Take back the cancel requests that this task made to itself; on trio there are none."""
    task = asyncio.current_task() if on_asyncio() else None
    while task is not None and task.cancelling():
        task.uncancel()


def caller() -> Callable[[Callable[[], object]], None]:
    """Return a function that has this event loop call something, from whatever thread it is called.

    A loop that has ended in the meantime is no longer there to call anything; the call is then dropped.
    """
    if on_asyncio():
        loop = asyncio.get_running_loop()
        own = contextvars.copy_context()  # else it would be called in the context of the other thread
        schedule: Callable[[Callable[[], object]], object] = partial(loop.call_soon_threadsafe, context=own)
        ended: type[BaseException] = RuntimeError
    else:
        import trio

        schedule = trio.lowlevel.current_trio_token().run_sync_soon
        ended = trio.RunFinishedError

    def call(callback: Callable[[], object]) -> None:
        try:
            schedule(callback)
        except ended:
            return

    return call


def waker(callback: Callable[[], object]) -> Callable[[], None]:
    """Return a function that any thread may call to run the callback in this event loop."""
    return partial(caller(), callback)
