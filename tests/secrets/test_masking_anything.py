"""No secret is left in values of many kinds within each other, nor in what a run tells of them (S12.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import Flow, NodeOutput, Ports, node
from dataflow.secrets.known import redacted
from dataflow.stores import Store
from tests.support.secret_kinds import (
    DERIVED,
    MARK,
    VALUE,
    Box,
    Key,
    OwnDict,
    OwnError,
    OwnText,
    Pair,
    Star,
    Word,
    caused,
    having,
    noted,
    secrets_within,
)

pytestmark = pytest.mark.usefixtures("token_known")


def error_of(held: Any) -> Exception:
    error = OwnError("harmless")
    error.__cause__ = LookupError(held)
    return error


plain = st.sampled_from(
    [
        VALUE,
        "harmless",
        VALUE.encode(),
        memoryview(VALUE.encode()),
        Key.MAIN,
        Key.BOXED,
        Star.SUN,
        Word.MAIN,
        1,
    ]
)
wraps: Final[list[Callable[[Any], Any]]] = [
    lambda held: [held, 1],
    lambda held: {"a": held},
    lambda held: Pair(held, "harmless"),
    Box,
    error_of,
    *(lambda held, make=make: having(make(), held) for make in DERIVED.values()),
]


@given(
    st.recursive(
        plain,
        lambda inner: (
            st.builds(lambda wrap, held: wrap(held), st.sampled_from(wraps), inner)
            | st.lists(inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_no_secret_is_left_within_anything(value: Any) -> None:
    found = redacted(value)
    assert not secrets_within(found)
    assert (found is value) == (not secrets_within(value))


@node(ports=Ports({}, {"out": object}))
async def tell(inputs: Any) -> NodeOutput:
    about = {"text": having(OwnText("a"), VALUE), "key": Key.MAIN, "error": caused()}
    return NodeOutput({"out": having(OwnDict(), VALUE)}, metadata=about)


async def breaks() -> str:
    error = noted(VALUE)
    raise error from caused()


async def test_a_run_tells_none_of_them() -> None:
    with Flow("told") as flow:
        flow.output("told", flow.add(tell).out)
        flow.output("broken", flow.add(node(breaks).with_(on_error="skip")).out)
    async with flow.start() as running:
        events = [event async for event in running.events()]
        await running
    assert not secrets_within(events)
    assert {"metadata", "failure"} <= {name for event in events for name in event.data}


async def test_a_store_has_nothing_of_what_has_led_to_an_error() -> None:
    with Flow("told") as flow:
        flow.output("broken", flow.add(node(breaks).with_(on_error="skip")).out)
    store = Store.memory()
    result = await flow.using(store=store).run()
    records = [record.data for record in store.records(result.run_id)]
    assert not secrets_within(records)
    assert MARK in "".join(records)
