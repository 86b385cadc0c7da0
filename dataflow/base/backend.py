"""Bridge asyncio and trio: cheap task groups and events, wake-ups from threads, cancellation types."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import types
from asyncio.tasks import (
    # The documentation of asyncio lists both under "Extending", in spite of their names. Nothing else makes a
    # task that exists the current one: `eager_task_factory` and `eager_start`, of 3.12, only run new tasks.
    _enter_task as enter_task,
)
from asyncio.tasks import _leave_task as leave_task
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Iterable
    from contextlib import AbstractAsyncContextManager
    from contextvars import Context

__all__ = [
    "Cancellable",
    "Event",
    "LoopTime",
    "Nursery",
    "cancellation_types",
    "current_task",
    "cut_short",
    "forget_cancellation",
    "forget_event_loop",
    "in_event_loop",
    "leaf_of",
    "new_event",
    "on_asyncio",
    "run_in_background",
    "scope_type",
    "split_cancellation",
    "threadsafe_call",
    "threadsafe_callback",
    "wait_for_tasks",
    "wait_through",
    "yield_once",
]


def on_asyncio() -> bool:
    """Return whether the running task belongs to asyncio."""
    return not _ask_trio("in_trio_task")


def in_event_loop() -> bool:
    """Return whether this thread is already running an event loop."""
    if _ask_trio("in_trio_run"):
        return True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _ask_trio(question: str) -> bool:
    """Call a predicate of `trio.lowlevel`; False if trio is not imported, or is being imported right now."""
    if (trio := sys.modules.get("trio")) is None:
        return False
    predicate = getattr(getattr(trio, "lowlevel", None), question, None)
    return predicate is not None and bool(predicate())


class LoopTime:
    """The clock of the running event loop, in seconds since an arbitrary start."""

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop() if on_asyncio() else None

    def __call__(self) -> float:
        # asked late: tests replace the clock of a loop
        return anyio.current_time() if self._loop is None else self._loop.time()


#: A deadline, in seconds from now, that is earlier than those of scopes, and has not passed yet.
_SOON: Final = 1e-3


class Event(Protocol):
    """An event that is set once; any number of tasks may wait for it."""

    def is_set(self) -> bool: ...
    def set(self) -> None: ...
    async def wait(self) -> object: ...


class Nursery:
    """A task group; entering it returns its spawn function. Spawning is four times as fast as in anyio."""

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
            # A task factory may start the task immediately, in the context of the caller.
            if asyncio.get_running_loop().get_task_factory() is not None:
                return partial(_spawn, group, None)
            # one for all tasks: each node runs in its own copy
            return partial(_spawn, group, contextvars.copy_context())
        start_soon: Callable[[Callable[[], Coroutine[Any, Any, None]]], object] = group.start_soon
        return start_soon

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> bool | None:
        return await self._group.__aexit__(kind, raised, traceback)


def _spawn(
    group: asyncio.TaskGroup, context: Context | None, function: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Start a task whose first step is always run; nothing is started in a group that is being cancelled."""
    begun = _from_first_step(function)
    begun.send(None)
    try:
        group.create_task(begun, context=context)
    except RuntimeError:
        begun.close()


async def _from_first_step(function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Call a function in a task; a cancellation before its first step arrives where it first waits.

    So does trio. asyncio would drop the function, and what counts on its end would wait for ever.
    """
    try:
        await yield_once()  # where the task finds it
    except asyncio.CancelledError as error:
        _put_off(error)
    await function()


def new_event() -> Event:
    """Return an event of the running async library, ten times as cheap as anyio's."""
    if on_asyncio():
        return asyncio.Event()
    import trio

    return trio.Event()


#: Tasks of asyncio without an owner: the event loop refers to its tasks only weakly.
_BACKGROUND: Final[set[asyncio.Task[None]]] = set()


def run_in_background(function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a function in a task without an owner, which is cancelled when the event loop ends.

    The function must not raise anything but a cancellation.
    """
    if on_asyncio():
        task = asyncio.get_running_loop().create_task(function())
        _BACKGROUND.add(task)
        task.add_done_callback(_BACKGROUND.discard)
    else:
        import trio

        trio.lowlevel.spawn_system_task(function, context=contextvars.copy_context())


def scope_type() -> Callable[[], anyio.CancelScope]:
    """Return the class of anyio's cancel scopes for the running library, looked up once per library."""
    return _scope_type(on_asyncio())


@cache
def _scope_type(_is_asyncio: bool) -> type[anyio.CancelScope]:
    return type(anyio.CancelScope())


def cancellation_types() -> tuple[type[BaseException], ...]:
    """Return the exception types that are raised in a cancelled task."""
    if on_asyncio():
        return (asyncio.CancelledError,)
    import trio

    return (trio.Cancelled,)


class Cancellable(Protocol):
    """A task that counts the requests to cancel it, as asyncio's tasks do."""

    def cancelling(self) -> int: ...


class _Uncounted:
    """A task of trio, which does not count cancel requests."""

    def cancelling(self) -> int:
        return 0


UNCOUNTED: Final = _Uncounted()


def current_task() -> Cancellable:
    """Return the running task, for the number of requests to cancel it."""
    task = asyncio.current_task() if on_asyncio() else None
    return UNCOUNTED if task is None else task


def cut_short(scope: anyio.CancelScope, task: Cancellable, grace: float, *, is_asked: bool = False) -> None:
    """Cancel what a task does in a scope: once, and after the grace, in seconds, for good.

    So its clean-up can wait. On asyncio only; on trio a scope remains cancelled, as it does on both for code
    that shields itself at this moment. With `is_asked` a cancel request that the task already has counts as
    the first.
    """
    if grace <= 0 or not isinstance(task, asyncio.Task) or _is_shielded(task, scope):
        scope.cancel()
        return
    scope.deadline = task.get_loop().time() + grace
    if not (is_asked and task.cancelling()):
        task.cancel()


def _is_shielded(task: asyncio.Task[Any], scope: anyio.CancelScope) -> bool:
    """Return whether what a task waits for is shielded from a scope; changes the deadline of the scope.

    anyio returns the effective deadline of the current task only.
    """
    loop = task.get_loop()
    soon = scope.deadline = loop.time() + _SOON
    running = asyncio.current_task(loop)
    if running is not None:
        leave_task(loop, running)
    enter_task(loop, task)
    try:
        return anyio.current_effective_deadline() > soon
    finally:
        leave_task(loop, task)
        if running is not None:
            enter_task(loop, running)


async def wait_for_tasks(tasks: Iterable[Cancellable]) -> None:
    """Wait until tasks of asyncio have ended; trio's nurseries wait for theirs. Scopes do not cancel it."""
    waiting = [task for task in tasks if isinstance(task, asyncio.Task)]
    if waiting:
        with anyio.CancelScope(shield=True):
            await asyncio.wait(waiting)


async def wait_through(event: Event) -> None:
    """Wait for an event that is sure to be set; a cancellation meanwhile arrives at the next wait."""
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not event.is_set():
            try:
                await event.wait()
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        _put_off(cancelled)


def _put_off(cancelled: asyncio.CancelledError) -> None:
    """Have a cancellation that has arrived arrive once more, at the next wait of this task."""
    task = asyncio.current_task()
    assert task is not None, "asyncio cancels tasks only"
    task.uncancel()
    task.cancel(*cancelled.args)


def split_cancellation(
    error: BaseException, cancellation: tuple[type[BaseException], ...]
) -> tuple[BaseException | None, BaseException | None]:
    """Split an exception group, as trio's nurseries raise it, into its cancellations and the rest."""
    if not isinstance(error, BaseExceptionGroup):
        return None, error
    cancelled, rest = error.split(cancellation)
    if rest is not None and len(rest.exceptions) == 1:
        return cancelled, rest.exceptions[0]
    return cancelled, rest


def leaf_of(error: BaseException) -> BaseException:
    """Return the first exception of a group of groups, or the exception itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def forget_event_loop(context: Context) -> None:
    """Let code that runs in the context in another thread start its own event loop."""
    sniffio = sys.modules.get("sniffio")  # where it is used, it keeps the running library in a contextvar
    if sniffio is not None:
        context.run(sniffio.current_async_library_cvar.set, None)


@types.coroutine
def yield_once() -> Generator[None, None, None]:
    """Yield to the asyncio event loop once; a pending cancel request is delivered here."""
    yield


def forget_cancellation() -> None:
    """Withdraw the cancel requests that this task made to itself; does nothing on trio."""
    task = asyncio.current_task() if on_asyncio() else None
    while task is not None and task.cancelling():
        task.uncancel()


def threadsafe_call() -> Callable[[Callable[[], object]], None]:
    """Return a function that schedules a callback in this event loop and may be called from any thread.

    After the event loop has ended the callback is dropped.
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


def threadsafe_callback(callback: Callable[[], object]) -> Callable[[], None]:
    """Return a function that any thread may call to run the callback in this event loop."""
    return partial(threadsafe_call(), callback)
