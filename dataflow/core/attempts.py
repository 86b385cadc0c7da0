"""Attempts: whether a failed firing is attempted again, and after which wait (S9.1). Nothing here acts."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.markers import MISSING
from dataflow.errors import NodeTimeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.core.policy import Policy, Retry

__all__ = ["Bounds", "bounds_of", "wait_before_next"]

#: No wait is doubled more often than this: it is longer than any run.
MOST_DOUBLINGS: Final = 60

#: No wait is longer than this, whatever a server asks for: three years, so that a clock can tell its end.
LONGEST: Final = 1e8

#: HTTP statuses of the kinds of errors that `on=` knows by name (S9.1).
STATUSES: Final = {"timeout": (408, 504), "ratelimit": (429,)}
#: Words of a class or message that tell the kind, as `_plain` gives them.
SIGNS: Final = {"timeout": ("timedout", "tooslow"), "ratelimit": ("toomanyrequests",)}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What bounds the attempts at a node: how many follow a failure, and seconds (S9.1, S9.2)."""

    retry: Retry | None = None
    timeout: float | None = None  # of one attempt
    deadline: float | None = None  # of all, from the beginning of the first

    def ends_by(self, begun: float, now: float) -> float:
        """Return the time by which an attempt that begins now must have ended."""
        attempt = math.inf if self.timeout is None else now + self.timeout
        return attempt if self.deadline is None else min(attempt, begun + self.deadline)

    def timed_out(self, node: str, begun: float, now: float) -> NodeTimeout:
        """Return the error of an attempt that took too long: it names the bound that it ran into."""
        if self.deadline is not None and (self.timeout is None or now >= begun + self.deadline):
            return NodeTimeout(node, self.deadline, "deadline")
        assert self.timeout is not None, "what has neither bound does not time out"
        return NodeTimeout(node, self.timeout)


def bounds_of(policy: Policy) -> Bounds | None:
    """Return what bounds the attempts at a node of this policy, None if nothing does."""
    retry = None if policy.retry is MISSING or not policy.retry.retries else policy.retry
    timeout, deadline = (None if one is MISSING else one for one in (policy.timeout, policy.deadline))
    if retry is None and timeout is None and deadline is None:
        return None
    return Bounds(retry, timeout, deadline)


def wait_before_next(
    retry: Retry | None, attempt: int, error: BaseException, chance: Callable[[], float] = random.random
) -> float | None:
    """Return the seconds between a failed attempt, counted from 1, and the next; None if none follows.

    What is no Exception is never repeated: it is a cancellation, or is meant for the whole process. An error
    that calls itself lasting is repeated only where `on` names it, and none before its `retry_after`.
    """
    if retry is None or attempt > retry.retries or not isinstance(error, Exception):
        return None
    if not (any(_is_match(one, error) for one in retry.on) if retry.on else _may_pass(error)):
        return None
    return max(_backoff(retry, attempt, chance), _asked_for(error))


def _backoff(retry: Retry, attempt: int, chance: Callable[[], float]) -> float:
    match retry.backoff:
        case "none":
            return 0.0
        case "fixed":
            wait = float(retry.first)
        case "exponential":
            wait = retry.first * 2.0 ** min(attempt - 1, MOST_DOUBLINGS)
    return wait * (1 + chance()) / 2 if retry.jitter else wait


def _may_pass(error: Exception) -> bool:
    """Tell whether an error does not say that it comes again whenever the call is repeated."""
    return _attribute(error, "is_lasting") is not True


def _asked_for(error: Exception) -> float:
    """Return the seconds that whoever was called asks to be left alone; what is no such number counts not."""
    given = _attribute(error, "retry_after")
    if isinstance(given, bool) or not isinstance(given, int | float):
        return 0.0
    try:
        seconds = float(given)
    except OverflowError:
        return LONGEST if type(given) is int and given > 0 else 0.0
    except Exception:  # noqa: BLE001 - somebody's class of numbers may raise anything
        return 0.0
    return min(seconds, LONGEST) if 0 < seconds < math.inf else 0.0


def _attribute(error: Exception, name: str) -> Any:
    """Return what an error has of a name; one that cannot be asked has nothing."""
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a property of somebody's error may raise anything
        return None


def _is_match(one: type[BaseException] | str, error: Exception) -> bool:
    try:
        return _matches(one, error)
    except Exception:  # noqa: BLE001 - classes, texts and attributes of errors are the user's code
        return False


def _matches(one: type[BaseException] | str, error: Exception) -> bool:
    if not isinstance(one, str):
        return isinstance(error, one)
    wanted = _plain(one)
    classes = [_plain(kind.__name__) for kind in type(error).__mro__]
    told = (classes[0], _plain(_text(error)))
    if wanted in classes or any(wanted in text for text in told):
        return True
    if wanted == "timeout" and isinstance(error, TimeoutError):
        return True
    return _status(error) in STATUSES.get(wanted, ()) or any(
        sign in text for sign in SIGNS.get(wanted, ()) for text in told
    )


def _plain(text: str) -> str:
    """Leave out what does not count in a comparison: case, `_` and blanks."""
    return "".join(text.lower().replace("_", "").split())


def _text(error: Exception) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - an error whose text cannot be made has none that matches
        return ""


def _status(error: Exception) -> Any:
    """Return the HTTP status that clients of web services keep with their errors."""
    try:
        response = getattr(error, "response", None)
        return getattr(error, "status_code", None) or getattr(response, "status_code", None)
    except Exception:  # noqa: BLE001 - a property that raises tells no status
        return None
