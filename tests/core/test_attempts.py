"""Policies, which failed firing is attempted again, and gates: slots and starts (S9.1, S15.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from dataflow import SKIP, ArgumentInvalid, Limit, Memo, NodeTimeout, Retry
from dataflow.core.attempts import Bounds, wait_before_next
from dataflow.core.limits import TAKEN, Gate
from dataflow.core.policy import EachOptions, Policy, Settings, policy_of
from dataflow.diagnostics.conversations import NOTHING_TO_MERGE


class RateLimitError(Exception):
    """As clients of web services name theirs."""


class Answered(Exception):
    def __init__(self, status: int) -> None:
        super().__init__("the service said no")
        self.status_code = status


class AnsweredWithin(Exception):
    def __init__(self, status: int) -> None:
        super().__init__("the service said no")
        self.response = Answered(status)


def waits(retry: Retry, error: BaseException | None = None) -> list[float]:
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
    (ValueError, ValueError("no")), (LookupError, KeyError("no")), ("ValueError", ValueError("no")),
    ("value_error", ValueError("no")), ("value error", ValueError("no")),
    ("ValueError", ArgumentInvalid(NOTHING_TO_MERGE())),
    (TypeError, ArgumentInvalid(NOTHING_TO_MERGE())),
    ("LookupError", KeyError("no")),
    ("Connection reset", OSError("CONNECTION_RESET by peer")),
    ("timeout", TimeoutError()),
    ("timeout", NodeTimeout("a", 1.0)),
    ("time_out", TimeoutError()),
    ("timeout", OSError("the read timed out")),
    ("timeout", OSError("a Time-out? no: a Timeout")),
    ("timeout", Answered(504)), ("timeout", Answered(408)), ("rate_limit", RateLimitError()),
    ("rate_limit", Answered(429)), ("Rate Limit", AnsweredWithin(429)),
    ("rate_limit", OSError("429 Too Many Requests")),
]  # fmt: skip

DIFFERS: list[tuple[Any, BaseException]] = [
    (ValueError, KeyError("no")), ("ValueError", KeyError("no")), ("timeout", ValueError("no")),
    ("timeout", Answered(429)), ("rate_limit", Answered(500)), ("rate_limit", TimeoutError()),
]  # fmt: skip


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


async def decide(item: object) -> str:
    return "a"


def with_each(of: Any, name: str, *values: Any) -> list[Callable[[], object]]:
    return [partial(of, **{name: value}) for value in values]


#: Calls with an invalid setting, by the code of the problem and the name of the setting.
INVALID: Final[dict[tuple[str, str], list[Callable[[], object]]]] = {
    ("DF0501", "retries"): [
        *with_each(Retry, "retries", -1, True, "3", 1.5),
        *with_each(policy_of, "retries", -1, None, 1.5),
    ],
    ("DF0501", "on"): with_each(Retry, "on", "timeout", (3,)),
    ("DF0501", "first"): with_each(Retry, "first", 0, None, math.nan),
    ("DF0501", "slots"): with_each(Limit, "slots", 0, -2, 1.5, True),
    ("DF0501", "per_second"): with_each(Limit, "per_second", 0.0, math.inf),
    ("DF0501", "timeout"): [
        *with_each(policy_of, "timeout", 0, -1.5, "x"),
        *with_each(Settings, "timeout", 0),
    ],
    ("DF0501", "deadline"): with_each(policy_of, "deadline", math.inf),
    ("DF0501", "limit"): with_each(policy_of, "limit", 0, True),
    ("DF0501", "limit 'web'"): with_each(Settings, "limits", {"web": 0}),
    ("DF0501", "default"): with_each(policy_of, "default", SKIP),
    ("DF0501", "max_concurrency"): [
        *with_each(Settings, "max_concurrency", 0),
        *with_each(EachOptions, "max_concurrency", 0),
    ],
    ("DF0502", "backoff"): with_each(Retry, "backoff", "linear"),
    ("DF0502", "memo"): with_each(policy_of, "memo", "ever"),
    ("DF0502", "on_error"): [
        *with_each(policy_of, "on_error", "stop"),
        *with_each(EachOptions, "on_error", "stop"),
    ],
    ("DF0502", "errors"): with_each(Settings, "errors", "failfast"),
    ("DF0503", ""): [
        *with_each(EachOptions, "key", decide, lambda: "a"),
        *with_each(Retry, "before", decide, 5, "text", lambda: None),
        *with_each(policy_of, "cutoff", decide, 5, lambda _: True),
    ],
    ("DF0504", ""): [Limit],
}


def test_an_invalid_setting_is_refused() -> None:
    for (code, name), calls in INVALID.items():
        for call in calls:
            with pytest.raises(ValueError, match=code) as caught:
                call()
            assert isinstance(caught.value, ArgumentInvalid)
            assert dict(caught.value.diagnostics[0].details).get("name", "") == name


def test_a_policy_is_made_of_the_settings_given() -> None:
    cases: list[tuple[dict[str, Any], Policy]] = [
        ({}, Policy()),
        ({"retries": 2}, Policy(retry=Retry(2))),
        ({"retries": Retry(1, backoff="fixed")}, Policy(retry=Retry(1, backoff="fixed"))),
        ({"timeout": None, "deadline": 2.5}, Policy(timeout=None, deadline=2.5)),
        ({"memo": "store", "on_error": "route"}, Policy(memo="store", on_error="route")),
        ({"memo": Memo("run", ttl=3)}, Policy(memo=Memo("run", ttl=3))),
        ({"default": None}, Policy(default=None)),
        ({"limit": "web", "effect": True}, Policy(limit="web", effect=True)),
        ({"enabled": False}, Policy(enabled=False)),
    ]
    assert [policy_of(**given) for given, _ in cases] == [policy for _, policy in cases]


class Waiting:
    def __init__(self) -> None:
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def full(slots: int) -> tuple[Gate, Waiting, Waiting]:
    """Return a gate without a free slot, and two that wait in its queue."""
    gate, first, second = Gate(slots), Waiting(), Waiting()
    assert [gate.take(Waiting()) for _ in range(slots)] == [TAKEN] * slots
    assert [gate.take(one) for one in (first, second)] == [math.inf] * 2
    return gate, first, second


def test_a_released_slot_wakes_the_first_of_the_queue_alone_and_is_for_it() -> None:
    gate, first, second = full(1)
    gate.release()
    assert (first.woken, second.woken) == (1, 0)
    assert gate.take(Waiting()) == math.inf
    assert gate.take(first) == TAKEN


def test_one_that_leaves_the_queue_lets_the_next_one_take() -> None:
    gate, first, second = full(1)
    gate.leave(Waiting())
    assert first.woken == 0
    gate.release()
    gate.leave(first)
    assert second.woken == 1
    assert gate.take(second) == TAKEN


def test_starts_are_apart_counted_from_when_one_has_begun() -> None:
    clock = Clock()
    gate, first, second = Gate(None, 2, clock), Waiting(), Waiting()
    assert gate.take(first) == TAKEN
    assert gate.take(second) == math.inf  # the first has not begun yet
    clock.now = 3.0
    gate.started()
    assert second.woken == 1
    assert gate.take(second) == 0.5
    clock.now = 3.4
    assert gate.take(second) == 3.5 - 3.4
    clock.now = 3.5
    assert gate.take(second) == TAKEN


def test_another_slot_given_back_does_not_end_the_wait_for_a_start() -> None:
    clock = Clock()
    gate, third = Gate(2, 2, clock), Waiting()
    gate.take(Waiting())
    gate.started()
    clock.now = 1.0
    gate.take(Waiting())
    gate.take(third)
    gate.release()
    assert (third.woken, gate.take(third)) == (0, math.inf)
