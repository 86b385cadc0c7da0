"""Policies are checked when they are made, and laid over one another."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from dataflow import SKIP, ArgumentInvalid, Limit, Memo, Retry, this_firing
from dataflow.core.policy import EachOptions, Policy, Settings, policy_of
from dataflow.core.ports import MISSING


async def decide(item: object) -> str:
    return "a"


def noted(*_: object) -> None:
    """Take a firing."""


def test_a_retry_has_three_extra_attempts_without_waiting_unless_it_is_given_others() -> None:
    names = ("retries", "on", "backoff", "first", "jitter", "before")
    retry = Retry()
    assert [getattr(retry, name) for name in names] == [3, (), "none", 1.0, False, None]
    retry = Retry(0, on=(OSError, "timeout"), backoff="exponential", first=0.5, jitter=True, before=noted)
    given = [0, (OSError, "timeout"), "exponential", 0.5, True, noted]
    assert [getattr(retry, name) for name in names] == given


def test_a_retry_is_frozen_and_equal_to_the_same_retry() -> None:
    assert Retry(2) == Retry(2) != Retry(3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Retry().retries = 3  # type: ignore[misc]


def test_a_limit_is_itself_only() -> None:
    slots, starts = Limit(2), Limit(per_second=0.5)
    assert (slots.slots, slots.per_second) == (2, None)
    assert (starts.slots, starts.per_second) == (None, 0.5)
    assert Limit(2) != slots


def with_each(of: Any, name: str, *values: Any) -> list[Callable[[], object]]:
    """Return a call for each of the values of an argument."""
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


def test_only_what_was_given_is_listed() -> None:
    assert Policy().given() == {}
    assert Policy(timeout=None, default=0).given() == {"timeout": None, "default": 0}


def test_settings_that_are_given_override_the_base() -> None:
    base = Policy(timeout=1.0)
    assert Policy().over(base) is base
    assert Policy(timeout=None).over(base) == Policy(timeout=None)
    assert Policy(memo="off").over(base) == Policy(timeout=1.0, memo="off")
    assert Policy(default=None).over(Policy(default=1)) == Policy(default=None)


def test_a_node_is_sure_unless_it_may_turn_a_failure_into_a_skip() -> None:
    sure = [Policy(), Policy(enabled=True), Policy(on_error="fail"), Policy(default=1)]
    assert all(policy.is_enabled and policy.is_sure for policy in sure)
    skipping = [Policy(on_error="skip"), Policy(on_error="route")]
    assert [(policy.is_enabled, policy.is_sure) for policy in skipping] == [(True, False)] * 2
    assert (Policy(enabled=False).is_enabled, Policy(enabled=False).is_sure) == (False, False)


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
