"""`Firing`: what node code can know about its own execution, and its spans, pieces and warnings."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, overload

from dataflow.base.logs import masked_logger
from dataflow.diagnostics.runs import OPENER_INVALID
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

__all__ = [
    "CURRENT",
    "NO_SPAN",
    "Firing",
    "FiringSource",
    "Span",
    "ThreadSource",
    "manager_of",
    "no_span",
    "this_firing",
]

LOG: Final = masked_logger("dataflow.current")
T = TypeVar("T")


class Span:
    """A span in the trace of a run, to which a node can add attributes; without telemetry it does nothing."""

    __slots__ = ()

    #: The name with which it was opened; empty without telemetry.
    name: str = ""
    #: Whether content may be recorded: prompts, answers, the arguments of tools.
    tells_content: bool = False

    def note(self, attributes: Mapping[str, object]) -> None:
        """Set attributes: strings, numbers, booleans, and lists of these; None is left out."""

    def rename(self, name: str) -> None:
        """Change the name of the span."""


class OpenSpan(Protocol):
    """Opens a span that ends with the block."""

    def __call__(
        self, name: str, attributes: Mapping[str, object], *, is_client: bool = False
    ) -> AbstractContextManager[Span]: ...


NO_SPAN: Final = Span()
_NOT_OPENED: Final = nullcontext(NO_SPAN)


def no_span(
    name: str,  # noqa: ARG001 - nothing is recorded
    attributes: Mapping[str, object],  # noqa: ARG001 - as above
    *,
    is_client: bool = False,  # noqa: ARG001 - as above
) -> AbstractContextManager[Span]:
    """Return a span that does nothing, for runs without telemetry."""
    return _NOT_OPENED


def no_flow_span() -> Span:
    """Return a span that does nothing, in place of that of a subflow node."""
    return NO_SPAN


def _drop(piece: object, port: str) -> None:
    """Drop a piece: outside a run there are no listeners."""


def _log(code: str, text: str) -> None:
    """Log a warning, as outside a run there is no result or event for it."""
    LOG.warning("%s (%s)", text, code)


def _never() -> bool:
    """Return False: outside a run nothing is cancelled."""
    return False


class Sharing(Protocol):
    """Resources that all firings of an execution session share by key."""

    def opened(
        self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AbstractAsyncContextManager[T]:
        """Return the resource of a key; it is opened if it is not open yet."""


class _NoSession:
    """A substitute for the execution session, outside a run."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing, that is, one execution of a node: the run, its path in the run, and the attempt, from 1.

    `sitting` identifies the execution session (from start or resume to pause or end) or the live session: one
    object for all its firings, which ends with it; use it as a key of a `WeakKeyDictionary`. Outside a run
    the strings are empty, nothing is cancelled, pieces are dropped, and each firing has its own `sitting`.
    """

    run_id: str
    path: str
    attempt: int = 1
    _emit: Callable[[object, str], None] = _drop
    _is_cancelled: Callable[[], bool] = _never
    sitting: object = field(default_factory=_NoSession, compare=False, repr=False)
    _open_span: OpenSpan = no_span
    _flow_span: Callable[[], Span] = no_flow_span
    _shared: Sharing | None = field(default=None, compare=False, repr=False)
    _warn: Callable[[str, str], None] = field(default=_log, compare=False, repr=False)

    @property
    def key(self) -> str:
        """The firing's name, the same in every attempt: an idempotency key for servers."""
        return f"{self.run_id}/{self.path}" if self.run_id else ""

    def cancelled(self) -> bool:
        """Return whether this firing was cancelled; blocking code can check it to stop early."""
        return self._is_cancelled()

    def emit(self, piece: object, *, port: str = "out") -> None:
        """Stream a piece of a port's value while the node runs; the value itself is what the node returns.

        May be called from any thread.
        """
        self._emit(piece, port)

    def warn(self, code: str, text: str) -> None:
        """Report a warning, in the result of the run and as an event of this firing.

        The code identifies the warning for programs. The run reports each text once, however many firings
        report it. Outside a run the warning is logged. May be called from any thread.
        """
        self._warn(code, text)

    def span(
        self, name: str, attributes: Mapping[str, object] | None = None, *, is_client: bool = False
    ) -> AbstractContextManager[Span]:
        """Open a span for a part of the node's work, inside the node's span, until the block ends.

        `is_client` marks calls of a service. Attributes are as in `Span.note`. An error that leaves the
        block is recorded by its class. Without `using(telemetry=)` it does nothing.
        """
        return self._open_span(name, attributes or {}, is_client=is_client)

    @property
    def flow_span(self) -> Span:
        """The span of the subflow node around this firing, through loops and maps; else that of the run.

        Nodes inside a subflow use it to add attributes that describe the subflow.
        """
        return self._flow_span()

    @overload
    def opened(
        self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AbstractAsyncContextManager[T]: ...
    @overload
    def opened(
        self, key: Hashable, open_it: Callable[[], AbstractContextManager[T]]
    ) -> AbstractContextManager[T]: ...
    def opened(self, key: Hashable, open_it: Callable[[], Any]) -> Any:
        """Open a resource, such as a connection, that all firings of the execution session share by its key.

        It remains open, also when a firing is cancelled, until the run ends or pauses, or the live session
        ends; one task of the run opens and closes it. Outside a run it is closed with the block. Raises what
        opening it raises, and DataflowError after the session has ended. Threads share nothing.

        Raises ArgumentInvalid if `open_it` does not return a context manager that the block can enter: an
        async one for `async with`. A thread may use `with` and a sync one.
        """
        return _Unshared(open_it) if self._shared is None else self._shared.opened(key, open_it)


class _Unshared:
    """Opens a resource for one block, outside a run and in threads."""

    def __init__(self, open_it: Callable[[], Any]) -> None:
        self._open_it = open_it
        self._made: Any = None

    async def __aenter__(self) -> Any:
        self._made = manager_of(self._open_it)
        return await self._made.__aenter__()

    async def __aexit__(self, *error: object) -> Any:
        return await self._made.__aexit__(*error)

    def __enter__(self) -> Any:
        self._made = manager_of(self._open_it, is_async=False)
        return self._made.__enter__()

    def __exit__(self, *error: object) -> Any:
        return self._made.__exit__(*error)


def manager_of(open_it: Any, *, is_async: bool = True) -> Any:
    """Call a function that returns a context manager; raises ArgumentInvalid if it does not."""
    entering, which = ("__aenter__", "an async") if is_async else ("__enter__", "a sync")
    is_function = callable(open_it) and (isinstance(open_it, type) or not hasattr(open_it, entering))
    made = open_it() if is_function else open_it
    if is_function and hasattr(type(made), entering):
        return made
    if iscoroutine(made):
        made.close()  # else it would be reported as never awaited
    found = f"{'one that returns ' if is_function else ''}{type(made).__name__}"
    expected = f"a function that returns {which} context manager"
    raise ArgumentInvalid(OPENER_INVALID(expected=expected, found=found))


class FiringSource(Protocol):
    """Provides the firing that runs now."""

    def this_firing(self) -> Firing: ...

    def in_thread(self) -> ThreadSource:
        """Return the source for a thread of the firing."""


class ThreadSource(FiringSource, Protocol):
    """The source for a thread of a firing; the thread may be abandoned while the firing continues."""

    def abandon(self) -> Callable[[], None]:
        """Note that the thread continues without a waiter; return the function to call at its end."""


CURRENT: Final[ContextVar[FiringSource]] = ContextVar("dataflow firing")


def this_firing() -> Firing:
    """Return the firing that runs this code, also in a thread of it; outside a run a substitute."""
    source = CURRENT.get(None)
    return source.this_firing() if source is not None else Firing("", "")
