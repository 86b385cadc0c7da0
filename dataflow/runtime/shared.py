"""Resources that firings share: each is open in its own task until the execution session ends (S9.6)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio

from dataflow.base.backend import Nursery, cancellation_types, current_task, cut_short, new_event
from dataflow.base.failure import line_of_error
from dataflow.base.logs import masked_logger
from dataflow.base.wording import short_repr
from dataflow.core.firing import manager_of
from dataflow.core.policy import CLEANUP
from dataflow.diagnostics.runs import RESOURCE_FAILED, RESOURCES_CLOSED
from dataflow.errors import DataflowError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
    from contextlib import AbstractAsyncContextManager

    from dataflow.base.backend import Cancellable

__all__ = ["Shared", "sharing"]

LOG: Final = masked_logger("dataflow.shared")

T = TypeVar("T")


class Shared:
    """Resources by key, open in tasks that `spawn` starts; they belong to one event loop.

    `note` is called with failures while a resource is open or closed, which are not reported otherwise. Each
    has `cleanup` seconds to be closed, and on asyncio to stop opening; then it is cancelled.
    """

    __slots__ = ("_by_key", "_cleanup", "_context", "_is_over", "_note", "_spawn")

    def __init__(
        self,
        spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], object],
        note: Callable[[str], object],
        cleanup: float,
    ) -> None:
        self._cleanup = cleanup
        self._spawn = spawn
        self._note = note
        self._by_key: dict[Hashable, _Owned] = {}
        self._is_over = False
        self._context = copy_context()  # not that of the firing that happens to be first

    @property
    def are_open(self) -> bool:
        """Whether anything is open, or being opened or closed."""
        return bool(self._by_key)

    @asynccontextmanager
    async def opened(
        self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AsyncIterator[T]:
        """Yield the resource of a key, opening it if necessary; the end of the block does not close it.

        Raises the error of opening it, to all waiters, and ArgumentInvalid if `open_it` does not return an
        async context manager; the next call opens it again. Raises DataflowError once everything is closed.
        """
        if self._is_over:
            raise _over()
        owned = self._by_key.get(key)
        if owned is None:
            owned = self._by_key[key] = _Owned()
            self._context.run(self._spawn, partial(self._own, key, owned, open_it))
        await owned.has_opened.wait()
        if owned.error is not None:
            raise owned.error
        yield owned.value

    async def close(self) -> None:
        """Close all resources in reverse order, and return when they are closed, even if cancelled."""
        self._is_over = True
        for owned in reversed([*self._by_key.values()]):
            owned.close(self._cleanup)
            with anyio.CancelScope(shield=True):
                await owned.has_closed.wait()

    def hurry(self) -> None:
        """Allow no more seconds: a second cancellation does not wait for them."""
        self._cleanup = 0
        for owned in self._by_key.values():
            owned.scope.cancel()

    async def _own(
        self, key: Hashable, owned: _Owned, open_it: Callable[[], AbstractAsyncContextManager[Any]]
    ) -> None:
        """Open a resource and close it, in one task as cancel scopes require."""
        owned.error, owned.task = _over(), current_task()  # if opening it is cancelled
        try:
            with owned.scope:
                async with manager_of(open_it) as owned.value:
                    owned.is_open, owned.error = True, None
                    owned.has_opened.set()
                    await owned.to_close.wait()
            if owned.is_open and owned.scope.cancelled_caught:
                LOG.warning("resource %s took too long to close", short_repr(key))
                cut = f"closing it took longer than {self._cleanup:g} s, so it was cancelled"
                self._note(str(RESOURCE_FAILED(f"resource {short_repr(key)}", error=cut)))
        except Exception as error:
            if owned.is_open:
                LOG.warning("resource %s, which firings share, has failed", short_repr(key), exc_info=error)
                failure = RESOURCE_FAILED(f"resource {short_repr(key)}", error=line_of_error(error))
                self._note(str(failure))
            else:
                owned.error = error
        finally:
            del self._by_key[key]
            owned.has_opened.set()
            owned.has_closed.set()


@asynccontextmanager
async def sharing() -> AsyncIterator[Shared]:
    """Keep resources open for the code in the block, and close them at its end.

    An error in the block is raised as it is, not in a group.
    """
    raised: BaseException | None = None
    async with Nursery() as spawn:
        shared = Shared(spawn, lambda _: None, CLEANUP)  # failures are logged
        try:
            yield shared
        except cancellation_types():
            raise
        except BaseException as error:  # noqa: BLE001 - raised again below, not wrapped in a group
            raised = error
        finally:
            await shared.close()
    if raised is not None:
        raise raised


class _Owned:
    """A resource that is being opened, is open or is closed, with the events of its task."""

    __slots__ = ("error", "has_closed", "has_opened", "is_open", "scope", "task", "to_close", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None  # what kept it from being opened
        self.is_open = False
        self.has_opened = new_event()  # or failed to
        self.to_close = new_event()
        self.has_closed = new_event()
        self.task: Cancellable | None = None  # once it has begun
        # it is closed in order, also during a cancellation
        self.scope = anyio.CancelScope(shield=True)

    def close(self, cleanup: float) -> None:
        """Have its task close it, or stop opening it, with so many seconds for that."""
        self.to_close.set()
        if self.task is None:
            self.scope.cancel()
        elif self.is_open:
            self.scope.deadline = anyio.current_time() + cleanup
        else:
            cut_short(self.scope, self.task, cleanup)


def _over() -> DataflowError:
    return DataflowError(RESOURCES_CLOSED())
