"""Contexts: immutable conversations (S10.1)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from dataflow import ExecutionContext, Message
from dataflow.core.context import history_of

HELLO, YES = Message("user", "hello"), Message("assistant", "yes")


def test_appending_makes_a_new_context_that_shares_the_old_history() -> None:
    start = ExecutionContext("main", message_history=[HELLO])
    longer = start.append(YES)
    assert (start.message_history, longer.message_history) == ((HELLO,), (HELLO, YES))
    assert history_of(longer).last.before is history_of(start).last


def test_a_context_keeps_none_of_what_it_was_made_of() -> None:
    messages, variables = [HELLO], {"names": ["a"]}
    context = ExecutionContext("main", message_history=messages, variables=variables)
    messages.append(YES)
    variables["names"].append("b")
    assert context.message_history == (HELLO,)
    assert context.variables == {"names": ["a"]}


def test_a_context_and_its_variables_cannot_be_changed() -> None:
    context = ExecutionContext("main", variables={"names": ["a"]})
    variables: Any = context.variables
    variables["names"].append("b")
    assert variables == {"names": ["a"]}
    with pytest.raises(TypeError, match="item assignment"):
        variables["names"] = []
    with pytest.raises(FrozenInstanceError):
        context.model = "other"  # type: ignore[misc]  # what the test is about
