"""Blocking calls in daemon threads of our own, which never keep the process alive (S9.2)."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import current_default_thread_limiter

from dataflow.backend import forget_event_loop, waker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["call_in_thread"]


class _Call:
    """One blocking call and where its outcome is left for the task that waits."""

    __slots__ = ("error", "result")

    def __init__(self) -> None:
        self.result: Any = None
        self.error: BaseException | None = None


async def call_in_thread(
    function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Call a blocking function in a daemon thread that sees the caller's contextvars.

    As many run at once as anyio's default limiter of threads allows. When the caller is cancelled the
    thread runs on and its outcome is dropped.
    """
    call = _Call()
    context = contextvars.copy_context()
    forget_event_loop(context)
    finished = anyio.Event()
    wake = waker(finished.set)

    def work() -> None:
        try:
            call.result = context.run(function, *args, **(kwargs or {}))
        except BaseException as error:  # noqa: BLE001 - it is handed to the waiting task, whatever it is
            call.error = error
        wake()

    limiter = current_default_thread_limiter()
    await limiter.acquire_on_behalf_of(call)
    try:
        name = f"dataflow {getattr(function, '__name__', '')}"
        threading.Thread(target=work, daemon=True, name=name).start()
        await finished.wait()
    finally:
        limiter.release_on_behalf_of(call)
    if call.error is not None:
        raise call.error
    return call.result
