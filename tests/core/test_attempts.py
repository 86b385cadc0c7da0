"""Whether a failed firing is attempted again, and when: a pure function, as tables (S9.1)."""

from __future__ import annotations

import math
from typing import Any

from dataflow import ArgumentInvalid, NodeTimeout, Retry
from dataflow.core.attempts import Bounds, wait_before_next
from dataflow.diagnostics.conversations import NOTHING_TO_MERGE


class RateLimitError(Exception):
    """As clients of web services name theirs."""


class Answered(Exception):
    """Carries an HTTP status, as such clients' errors do."""

    def __init__(self, status: int) -> None:
        super().__init__("the service said no")
        self.status_code = status


class AnsweredWithin(Exception):
    """Carries the status in its response."""

    def __init__(self, status: int) -> None:
        super().__init__("the service said no")
        self.response = Answered(status)


def waits(retry: Retry, error: BaseException | None = None) -> list[float]:
    """List the waits of a firing that never succeeds."""
    found: list[float] = []
    while (wait := wait_before_next(retry, len(found) + 1, error or ValueError("no"))) is not None:
        found.append(wait)
    return found


def test_retries_are_extra_attempts_and_the_backoff_gives_the_waits() -> None:
    cases: list[tuple[Retry, list[float]]] = [
        (Retry(0), []),
        (Retry(2), [0, 0]),
        (Retry(2, backoff="exponential"), [1, 2]),
        (Retry(3, backoff="exponential"), [1, 2, 4]),
        (Retry(3, backoff="exponential", first=0.5), [0.5, 1, 2]),
        (Retry(3, backoff="fixed"), [1, 1, 1]),
        (Retry(2, backoff="fixed", first=0.25), [0.25, 0.25]),
    ]
    assert [waits(retry) for retry, _ in cases] == [expected for _, expected in cases]
    assert wait_before_next(None, 1, ValueError("no")) is None
    assert wait_before_next(Retry(5_000, backoff="exponential"), 5_000, ValueError("no")) == 2.0**60


class Busy(Exception):
    """Says when to come again."""

    def __init__(self, retry_after: object = None, is_lasting: object = False) -> None:
        super().__init__("busy")
        self.retry_after = retry_after
        self.is_lasting = is_lasting


def test_no_attempt_begins_before_the_error_allows_it() -> None:
    times: list[tuple[object, list[float]]] = [(0.5, [1, 2]), (1.5, [1.5, 2]), (7, [7, 7])]
    times += [(1e300, [1e8, 1e8]), (10**400, [1e8, 1e8])]
    times += [(odd, [1, 2]) for odd in (None, "7", True, -7, 0, math.nan, math.inf, -(10**400))]
    for retry_after, expected in times:
        assert waits(Retry(2, backoff="exponential"), Busy(retry_after)) == expected
        assert waits(Retry(2, backoff="exponential", on=("busy",)), Busy(retry_after)) == expected


def test_what_lasts_is_repeated_only_where_it_is_named() -> None:
    assert waits(Retry(2), Busy(is_lasting=True)) == []
    assert waits(Retry(2, on=("rate_limit",)), Busy(is_lasting=True)) == []
    assert waits(Retry(2, on=(Busy,)), Busy(is_lasting=True)) == [0, 0]
    assert waits(Retry(2), Busy(is_lasting="perhaps")) == [0, 0]


MATCHES: list[tuple[Any, BaseException]] = [
    (ValueError, ValueError("no")),
    (LookupError, KeyError("no")),
    ("ValueError", ValueError("no")),
    ("value_error", ValueError("no")),
    ("value error", ValueError("no")),
    ("ValueError", ArgumentInvalid(NOTHING_TO_MERGE())),
    (TypeError, ArgumentInvalid(NOTHING_TO_MERGE())),
    ("LookupError", KeyError("no")),
    ("Connection reset", OSError("CONNECTION_RESET by peer")),
    ("timeout", TimeoutError()),
    ("timeout", NodeTimeout("a", 1.0)),
    ("time_out", TimeoutError()),
    ("timeout", OSError("the read timed out")),
    ("timeout", OSError("a Time-out? no: a Timeout")),
    ("timeout", Answered(504)),
    ("timeout", Answered(408)),
    ("rate_limit", RateLimitError()),
    ("rate_limit", Answered(429)),
    ("Rate Limit", AnsweredWithin(429)),
    ("rate_limit", OSError("429 Too Many Requests")),
]

DIFFERS: list[tuple[Any, BaseException]] = [
    (ValueError, KeyError("no")),
    ("ValueError", KeyError("no")),
    ("timeout", ValueError("no")),
    ("timeout", Answered(429)),
    ("rate_limit", Answered(500)),
    ("rate_limit", TimeoutError()),
]


def test_only_an_error_that_on_names_is_repeated() -> None:
    def repeats(on: Any, error: BaseException) -> bool:
        return waits(Retry(1, on=(ZeroDivisionError, on)), error) == [0]

    assert [pair for pair in MATCHES if not repeats(*pair)] == []
    assert [pair for pair in DIFFERS if repeats(*pair)] == []


def test_an_attempt_ends_by_the_limit_that_comes_first_and_its_error_names_it() -> None:
    cases: list[tuple[Bounds, float, tuple[str, float]]] = [
        (Bounds(timeout=2), 12, ("timeout", 2)),
        (Bounds(deadline=5), 9, ("deadline", 5)),
        (Bounds(timeout=2, deadline=5), 9, ("deadline", 5)),
        (Bounds(timeout=0.5, deadline=50), 10.5, ("timeout", 0.5)),
    ]
    for bounds, ends_by, limit in cases:
        assert bounds.ends_by(begun=4, now=10) == ends_by
        error = bounds.timed_out("a", begun=4, now=ends_by)
        assert (error.node, (error.bound, error.seconds)) == ("a", limit)
