"""Policies are checked when they are made, and laid over one another."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest

from dataflow import SKIP, Limit, Memo, Retry, this_firing
from dataflow.core.policy import EachOptions, Policy, Settings, policy_of
from dataflow.core.ports import MISSING


async def decide(item: object) -> str:
    return "a"


DECIDES = "expected a plain function, found the async function decide; decide inside a node"


def noted(*_: object) -> None:
    """Take a firing."""


def test_a_retry_has_three_extra_attempts_without_waiting() -> None:
    retry = Retry()
    assert (retry.retries, retry.on, retry.backoff, retry.first, retry.jitter, retry.before) == (
        3,
        (),
        "none",
        1.0,
        False,
        None,
    )


def test_a_retry_keeps_what_it_was_given() -> None:
    retry = Retry(0, on=(OSError, "timeout"), backoff="exponential", first=0.5, jitter=True, before=noted)
    assert (retry.retries, retry.on, retry.backoff) == (0, (OSError, "timeout"), "exponential")
    assert (retry.first, retry.jitter, retry.before) == (0.5, True, noted)


def test_a_retry_is_frozen_and_equal_to_the_same_retry() -> None:
    assert Retry(2) == Retry(2) != Retry(3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Retry().retries = 3  # type: ignore[misc]


def test_a_limit_is_itself_only() -> None:
    slots, starts = Limit(2), Limit(per_second=0.5)
    assert (slots.slots, slots.per_second) == (2, None)
    assert (starts.slots, starts.per_second) == (None, 0.5)
    assert Limit(2) != slots


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Retry(-1), "retries must be a whole number of 0 or more, found -1"),
        (lambda: Retry(True), "retries must be a whole number of 0 or more, found True"),
        (lambda: Retry("3"), "retries must be a whole number of 0 or more, found '3'"),  # type: ignore[arg-type]
        (lambda: Retry(1.5), "retries must be a whole number of 0 or more, found 1.5"),  # type: ignore[arg-type]
        (
            lambda: Retry(backoff="linear"),  # type: ignore[arg-type]
            "backoff cannot be 'linear'; choices: none, fixed, exponential",
        ),
        (
            lambda: Retry(on="timeout"),  # type: ignore[arg-type]
            "on must be a tuple of exception types and texts, found 'timeout'",
        ),
        (
            lambda: Retry(on=(3,)),  # type: ignore[arg-type]
            "on must be a tuple of exception types and texts, found (3,)",
        ),
        (lambda: Retry(first=0), "first must be a positive number, found 0"),
        (lambda: Retry(first=None), "first must be a positive number, found None"),  # type: ignore[arg-type]
        (lambda: Retry(first=math.nan), "first must be a positive number, found nan"),
        (lambda: Limit(), "a limit needs slots, per_second or both"),
        (lambda: Limit(0), "slots must be a whole number of 1 or more, found 0"),
        (lambda: Limit(-2), "slots must be a whole number of 1 or more, found -2"),
        (lambda: Limit(1.5), "slots must be a whole number of 1 or more, found 1.5"),  # type: ignore[arg-type]
        (lambda: Limit(True), "slots must be a whole number of 1 or more, found True"),
        (lambda: Limit(per_second=0.0), "per_second must be a positive number, found 0.0"),
        (lambda: Limit(1, per_second=math.inf), "per_second must be a positive number, found inf"),
        (lambda: policy_of(timeout=0), "timeout must be a positive number, found 0"),
        (lambda: policy_of(timeout=-1.5), "timeout must be a positive number, found -1.5"),
        (lambda: policy_of(deadline=math.inf), "deadline must be a positive number, found inf"),
        (lambda: policy_of(timeout="x"), "timeout must be a positive number, found 'x'"),
        (lambda: policy_of(retries=1.5), "retries must be a whole number of 0 or more, found 1.5"),
        (lambda: policy_of(retries=None), "retries must be a whole number of 0 or more, found None"),
        (lambda: policy_of(limit=0), "limit must be a whole number of 1 or more, found 0"),
        (lambda: policy_of(limit=True), "limit must be a whole number of 1 or more, found True"),
        (lambda: policy_of(retries=-1), "retries must be a whole number of 0 or more, found -1"),
        (lambda: policy_of(memo="ever"), "memo cannot be 'ever'; choices: off, run, process, store"),
        (
            lambda: policy_of(default=SKIP),
            "default must be a value, found SKIP; say on_error='skip' to skip",
        ),
        (lambda: EachOptions(key=decide), DECIDES),  # type: ignore[arg-type]
        (
            lambda: EachOptions(key=lambda: "a"),  # type: ignore[misc, arg-type]
            "expected a function of the item, found <lambda>()",
        ),
        (
            lambda: Retry(before=lambda: None),  # type: ignore[misc, arg-type]
            "expected a function of the firing, found <lambda>()",
        ),
        (
            lambda: policy_of(cutoff=lambda _: True),
            "expected a function of the old and the new value, found <lambda>(_)",
        ),
        (lambda: policy_of(on_error="stop"), "on_error cannot be 'stop'; choices: fail, skip, route"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, Policy()),
        ({"retries": 2}, Policy(retry=Retry(2))),
        ({"retries": Retry(1, backoff="fixed")}, Policy(retry=Retry(1, backoff="fixed"))),
        ({"timeout": None, "deadline": 2.5}, Policy(timeout=None, deadline=2.5)),
        ({"memo": "store", "on_error": "route"}, Policy(memo="store", on_error="route")),
        ({"memo": Memo("run", ttl=3)}, Policy(memo=Memo("run", ttl=3))),
        ({"default": None}, Policy(default=None)),
        ({"limit": "web", "effect": True}, Policy(limit="web", effect=True)),
        ({"enabled": False}, Policy(enabled=False)),
    ],
)
def test_a_policy_is_made_of_the_settings_given(given: dict[str, Any], policy: Policy) -> None:
    assert policy_of(**given) == policy


def test_only_what_was_given_is_listed() -> None:
    assert Policy().given() == {}
    assert Policy(timeout=None, default=0).given() == {"timeout": None, "default": 0}


@pytest.mark.parametrize(
    ("upper", "lower", "both"),
    [
        (Policy(), Policy(timeout=1.0), Policy(timeout=1.0)),
        (Policy(timeout=None), Policy(timeout=1.0), Policy(timeout=None)),
        (Policy(memo="off"), Policy(timeout=1.0), Policy(timeout=1.0, memo="off")),
        (Policy(default=None), Policy(default=1), Policy(default=None)),
    ],
)
def test_what_was_given_wins_over_the_base(upper: Policy, lower: Policy, both: Policy) -> None:
    assert upper.over(lower) == both


def test_a_policy_without_settings_leaves_its_base_as_it_is() -> None:
    base = Policy(timeout=1.0)
    assert Policy().over(base) is base


@pytest.mark.parametrize(
    ("policy", "is_enabled", "is_sure"),
    [
        (Policy(), True, True),
        (Policy(enabled=True), True, True),
        (Policy(enabled=False), False, False),
        (Policy(on_error="fail"), True, True),
        (Policy(on_error="skip"), True, False),
        (Policy(on_error="route"), True, False),
        (Policy(default=1), True, True),
    ],
)
def test_a_node_is_sure_unless_it_may_turn_a_failure_into_a_skip(
    policy: Policy, is_enabled: bool, is_sure: bool
) -> None:
    assert (policy.is_enabled, policy.is_sure) == (is_enabled, is_sure)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Settings("failfast"), "errors cannot be 'failfast'; choices: fail_fast, continue"),  # type: ignore[arg-type]
        (lambda: Settings(max_concurrency=0), "max_concurrency must be a whole number of 1 or more, found 0"),
        (lambda: Settings(limits={"web": 0}), "limit 'web' must be a whole number of 1 or more, found 0"),
        (lambda: Settings(timeout=0), "timeout must be a positive number, found 0"),
        (
            lambda: EachOptions(on_error="stop"),  # type: ignore[arg-type]
            "on_error cannot be 'stop'; choices: fail, collect, skip",
        ),
        (
            lambda: EachOptions(max_concurrency=0),
            "max_concurrency must be a whole number of 1 or more, found 0",
        ),
    ],
)
def test_settings_of_flows_and_maps_are_checked_too(make: Callable[[], object], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == text


def test_a_flow_may_share_a_limit() -> None:
    limit = Limit(1)
    assert Settings(limits={"web": limit, "db": 2}).limits == {"web": limit, "db": 2}


def test_nothing_is_set_by_default() -> None:
    assert all(value is MISSING for value in dataclasses.astuple(Policy()))
    assert Settings() == Settings(None, None, None, None)
    assert EachOptions() == EachOptions(None, None, "fail")


def test_outside_a_run_a_firing_stands_in() -> None:
    firing = this_firing()
    assert (firing.run_id, firing.path, firing.attempt) == ("", "", 1)
    firing.emit("nobody listens")


async def never(firing: object) -> None:
    """Async, where a plain function is called."""


@pytest.mark.parametrize("before", [never, 5, "text"])
def test_what_cannot_be_called_before_an_attempt_is_refused(before: Any) -> None:
    with pytest.raises(ValueError, match=r"plain function|must be a function"):
        Retry(before=before)
