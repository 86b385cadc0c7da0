"""What a node may know about its own firing."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

__all__ = [
    "CURRENT",
    "NO_SPAN",
    "Firing",
    "FiringSource",
    "OpenSpan",
    "Sharing",
    "Span",
    "ThreadSource",
    "no_flow_span",
    "no_span",
    "this_firing",
]  # fmt: skip

LOG: Final = logging.getLogger("dataflow.current")

T = TypeVar("T")


class Span:
    """A span in the trace of a run that a node may tell of; without telemetry it does nothing (S19)."""

    __slots__ = ()

    #: What it was called when it began; empty without telemetry.
    name: str = ""
    #: Whether content may be told: prompts, answers, the arguments of tools.
    tells_content: bool = False

    def note(self, attributes: Mapping[str, object]) -> None:
        """Tell more by attributes: texts, numbers, booleans, and lists of these; None is left out."""

    def rename(self, name: str) -> None:
        """Call the span otherwise from now on."""


class OpenSpan(Protocol):
    """Opens spans, which end with the block."""

    def __call__(
        self, name: str, attributes: Mapping[str, object], *, is_client: bool = False
    ) -> AbstractContextManager[Span]: ...


NO_SPAN: Final = Span()
_NOT_OPENED: Final = nullcontext(NO_SPAN)


def no_span(
    name: str,  # noqa: ARG001 - nobody is told
    attributes: Mapping[str, object],  # noqa: ARG001 - as above
    *,
    is_client: bool = False,  # noqa: ARG001 - as above
) -> AbstractContextManager[Span]:
    """Give what takes the place of a span without telemetry."""
    return _NOT_OPENED


def no_flow_span() -> Span:
    """Give what takes the place of the span of a flow node without telemetry."""
    return NO_SPAN


def _drop(piece: object, port: str) -> None:
    """Outside a run nobody listens to pieces."""


def _log(code: str, text: str) -> None:
    """Outside a run there is only the log."""
    LOG.warning("%s (%s)", text, code)


def _never() -> bool:
    """Outside a run nothing is cancelled."""
    return False


class Sharing(Protocol):
    """Things that are open for all firings of a sitting, each by its key."""

    def opened(
        self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AbstractAsyncContextManager[T]:
        """Give the thing of a key, which is opened if it is not yet."""


class _NoSitting:
    """Stands where a sitting would, outside a run."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing: the run, its path in it (S2.2) and which attempt this is, from 1.

    `sitting` is one object for all firings of a sitting (S11.3) or of a live session, and ends with it: a key
    for a `WeakKeyDictionary`. Outside a run the texts are empty, nothing is cancelled, pieces are dropped,
    and each firing has a sitting of its own.
    """

    run_id: str
    path: str
    attempt: int = 1
    _emit: Callable[[object, str], None] = _drop
    _is_cancelled: Callable[[], bool] = _never
    sitting: object = field(default_factory=_NoSitting, compare=False, repr=False)
    _open_span: OpenSpan = no_span
    _flow_span: Callable[[], Span] = no_flow_span
    _shared: Sharing | None = field(default=None, compare=False, repr=False)
    _warn: Callable[[str, str], None] = field(default=_log, compare=False, repr=False)

    @property
    def key(self) -> str:
        """Name the firing, the same in every attempt: an idempotency key for servers (S9.1)."""
        return f"{self.run_id}/{self.path}" if self.run_id else ""

    def cancelled(self) -> bool:
        """Tell whether what this firing does is no longer wanted; blocking code asks, to stop early."""
        return self._is_cancelled()

    def emit(self, piece: object, *, port: str = "out") -> None:
        """Give out a piece of a port while the node runs; its value is what the node returns (S3.5).

        Any thread may call it.
        """
        self._emit(piece, port)

    def warn(self, code: str, text: str) -> None:
        """Warn of something, in the result of the run and as an event of this firing (S19).

        The code tells programs what it is. A text that the run has warned of already is not repeated, so that
        all firings may tell the same. Outside a run it is logged. Any thread may call it.
        """
        self._warn(code, text)

    def span(
        self, name: str, attributes: Mapping[str, object] | None = None, *, is_client: bool = False
    ) -> AbstractContextManager[Span]:
        """Open a span for a part of what the node does, inside the node's own, till the block ends (S19).

        `is_client` is for calls of a service. Attributes are as in `Span.note`. An error that leaves the
        block is noted by its class. Without `using(telemetry=)` it does nothing.
        """
        return self._open_span(name, attributes or {}, is_client=is_client)

    @property
    def flow_span(self) -> Span:
        """The span of the flow node that this firing is in, through loops and maps; else of the run (S19).

        What a flow node is about is known inside of it, so it is told from there.
        """
        return self._flow_span()

    def opened(
        self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AbstractAsyncContextManager[T]:
        """Open something that all firings of the sitting share by its key, as a connection (S9.6).

        It stays open, whoever is cancelled, until the sitting ends or pauses, or the live session ends; one
        task of the run's own opens and closes it. Outside a run it is closed with the block. Raises what
        opening it raises, and DataflowError when the sitting is over. Threads share nothing.
        """
        return open_it() if self._shared is None else self._shared.opened(key, open_it)


class FiringSource(Protocol):
    """Whoever runs firings and can tell which one runs now."""

    def this_firing(self) -> Firing: ...

    def in_thread(self) -> ThreadSource:
        """Return what a thread of the firing finds in its place."""


class ThreadSource(FiringSource, Protocol):
    """What a thread of a firing finds; the thread may be given up while the firing goes on."""

    def abandon(self) -> Callable[[], None]:
        """Note that the thread runs on, though nobody waits for it; returns what to call at its end."""


CURRENT: Final[ContextVar[FiringSource]] = ContextVar("dataflow firing")


def this_firing() -> Firing:
    """Return the firing that runs this code, also in a thread of it; outside a run a stand-in."""
    source = CURRENT.get(None)
    return source.this_firing() if source is not None else Firing("", "")
