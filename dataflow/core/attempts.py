"""Decide whether a failed attempt is retried, and after which wait (S9.1). Pure: nothing here acts."""

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

#: The maximum number of times that a wait doubles: after that it is longer than any run.
MOST_DOUBLINGS: Final = 60
#: The maximum wait in seconds, whatever a server asks for: three years, which a clock can represent.
LONGEST: Final = 1e8
#: HTTP statuses of the kinds of errors that `on=` knows by name (S9.1).
STATUSES: Final = {"timeout": (408, 504), "ratelimit": (429,)}
#: Words in a class name or message that indicate the kind, as `_plain` returns them.
SIGNS: Final = {"timeout": ("timedout", "tooslow"), "ratelimit": ("toomanyrequests",)}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of the attempts at a node: its retries, and times in seconds (S9.1, S9.2)."""

    retry: Retry | None = None
    timeout: float | None = None  # of one attempt
    deadline: float | None = None  # of all attempts together, from the start of the first

    def ends_by(self, begun: float, now: float) -> float:
        """Return the time at which an attempt that begins now times out."""
        attempt = math.inf if self.timeout is None else now + self.timeout
        return attempt if self.deadline is None else min(attempt, begun + self.deadline)

    def timed_out(self, node: str, begun: float, now: float) -> NodeTimeout:
        """Return the error of an attempt that took too long; it names the limit that was exceeded."""
        if self.deadline is not None and (self.timeout is None or now >= begun + self.deadline):
            return NodeTimeout(node, self.deadline, "deadline")
        assert self.timeout is not None, "without limits nothing times out"
        return NodeTimeout(node, self.timeout)


def bounds_of(policy: Policy) -> Bounds | None:
    """Return the limits of the attempts at a node with this policy, None if there are none."""
    retry = None if policy.retry is MISSING or not policy.retry.retries else policy.retry
    timeout, deadline = (None if one is MISSING else one for one in (policy.timeout, policy.deadline))
    if retry is None and timeout is None and deadline is None:
        return None
    return Bounds(retry, timeout, deadline)


def wait_before_next(
    retry: Retry | None, attempt: int, error: BaseException, chance: Callable[[], float] = random.random
) -> float | None:
    """Return the seconds to wait after a failed attempt, counted from 1; None if it is not retried.

    Only an Exception is retried: others are cancellations, or meant for the whole process. An error with
    `is_lasting` is retried only if `on` matches it, and no error before its `retry_after`.
    """
    if retry is None or attempt > retry.retries or not isinstance(error, Exception):
        return None
    if not (any(_is_match(one, error) for one in retry.on) if retry.on else _is_temporary(error)):
        return None
    return max(_backoff(retry, attempt, chance), _retry_after(error))


def _backoff(retry: Retry, attempt: int, chance: Callable[[], float]) -> float:
    match retry.backoff:
        case "none":
            return 0.0
        case "fixed":
            wait = float(retry.first)
        case "exponential":
            wait = retry.first * 2.0 ** min(attempt - 1, MOST_DOUBLINGS)
    return wait * (1 + chance()) / 2 if retry.jitter else wait


def _is_temporary(error: Exception) -> bool:
    """Return whether an error does not mark itself as one that repeats with every call."""
    return _attribute(error, "is_lasting") is not True


def _retry_after(error: Exception) -> float:
    """Return the seconds to wait that an error has as `retry_after`; 0 if that is not a positive number."""
    given = _attribute(error, "retry_after")
    if isinstance(given, bool) or not isinstance(given, int | float):
        return 0.0
    try:
        seconds = float(given)
    except OverflowError:
        return LONGEST if type(given) is int and given > 0 else 0.0
    except Exception:  # noqa: BLE001 - a user's class of numbers may raise anything
        return 0.0
    return min(seconds, LONGEST) if 0 < seconds < math.inf else 0.0


def _attribute(error: Exception, name: str) -> Any:
    """Return an attribute of an error; None if it has none or raises."""
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a property of a user's error may raise anything
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
    texts = (classes[0], _plain(_text(error)))
    if wanted in classes or any(wanted in text for text in texts):
        return True
    if wanted == "timeout" and isinstance(error, TimeoutError):
        return True
    return _status(error) in STATUSES.get(wanted, ()) or any(
        sign in text for sign in SIGNS.get(wanted, ()) for text in texts
    )


def _plain(text: str) -> str:
    """Normalise a text for comparison: without case, `_` and white space."""
    return "".join(text.lower().replace("_", "").split())


def _text(error: Exception) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - an error whose text cannot be made has none that matches
        return ""


def _status(error: Exception) -> Any:
    """Return the HTTP status that clients of web services attach to their errors."""
    try:
        response = getattr(error, "response", None)
        return getattr(error, "status_code", None) or getattr(response, "status_code", None)
    except Exception:  # noqa: BLE001 - a property that raises gives no status
        return None
