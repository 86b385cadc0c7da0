"""Run blocking calls in daemon threads, which never keep the process alive (S9.2)."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import current_default_thread_limiter

from dataflow.base.backend import forget_event_loop, threadsafe_callback
from dataflow.core.firing import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dataflow.core.firing import ThreadSource

__all__ = ["call_in_thread"]


class _Call:
    """One blocking call, and its result for the waiting task."""

    __slots__ = ("_has_returned", "_lock", "_then", "error", "result")

    def __init__(self) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._lock = threading.Lock()
        self._has_returned = False
        self._then: Callable[[], None] | None = None  # set when the call was abandoned

    def returned(self) -> None:
        """Note, in the thread, that the function has returned."""
        with self._lock:
            self._has_returned = True
        if self._then is not None:
            self._then()

    def abandon(self, source: ThreadSource | None) -> None:
        """Notify the firing that its thread continues, unless the function has just returned."""
        with self._lock:
            if source is not None and not self._has_returned:
                self._then = source.abandon()


async def call_in_thread(
    function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Call a blocking function in a daemon thread that sees the caller's contextvars.

    The concurrency is limited by anyio's default thread limiter. If the caller is cancelled, the thread
    continues, its result is dropped, and it counts towards the limit until its function returns.
    """
    call = _Call()
    context = contextvars.copy_context()
    forget_event_loop(context)
    firing = CURRENT.get(None)
    source = None if firing is None else firing.in_thread()
    if source is not None:
        context.run(CURRENT.set, source)
    finished = anyio.Event()
    limiter = current_default_thread_limiter()

    def end() -> None:
        limiter.release_on_behalf_of(call)
        finished.set()

    wake = threadsafe_callback(end)

    def work() -> None:
        try:
            call.result = context.run(function, *args, **(kwargs or {}))
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting task
            call.error = error
        wake()
        call.returned()

    await limiter.acquire_on_behalf_of(call)
    try:
        name = f"dataflow {getattr(function, '__name__', '')}"
        threading.Thread(target=work, daemon=True, name=name).start()
    except BaseException:  # no thread has started that would release it
        limiter.release_on_behalf_of(call)
        raise
    try:
        await finished.wait()
    finally:
        if not finished.is_set():
            call.abandon(source)
    if call.error is not None:
        raise call.error
    return call.result
