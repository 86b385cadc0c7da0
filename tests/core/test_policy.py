"""Policies are checked when they are made, and laid over one another."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from dataflow import SKIP, ArgumentInvalid, Limit, Memo, Retry
from dataflow.core.policy import EachOptions, Policy, Settings, policy_of


async def decide(item: object) -> str:
    return "a"


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
