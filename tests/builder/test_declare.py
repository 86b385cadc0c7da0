"""Functions declared as node types, still callable as what they are."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dataflow import Config, Flow, PortMisuse, flow, node, threaded


class Style(Config):
    words: int = 10


@node
async def shorten(text: str, style: Style, *extra: str, limit: int = 3) -> str:
    """Shorten a text."""
    return f"{text}{style.words}{''.join(extra)}{limit}"


@node
async def count(n: int) -> AsyncIterator[int]:
    for number in range(n):
        yield number


@threaded
def double(x: int) -> int:
    return 2 * x


async def plain(x: int, y: float = 1) -> float:
    return x + y


def test_an_invalid_setting_is_refused_where_it_is_made() -> None:
    with pytest.raises(ValueError, match="DF0501"):
        shorten.with_(timeout=-1)
    with pytest.raises(TypeError, match="'colour'"):
        node(colour="red")  # type: ignore[call-overload]


def test_the_inputs_are_described_as_json_schema() -> None:
    assert repr(shorten) == "<node shorten>"
    assert node(plain).json_schema() == {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    schema = shorten.json_schema()
    assert list(schema["properties"]) == ["text", "extra", "limit"]
    assert schema["required"] == ["text"]


async def test_a_generator_and_a_blocking_function_may_have_settings() -> None:
    @threaded
    @node(timeout=3)  # type: ignore[arg-type]  # the other order is the typed one
    def blocking(x: int) -> int:
        return x

    @node(timeout=3)
    async def letters(text: str) -> AsyncIterator[str]:
        for letter in text:
            yield letter

    assert (blocking.type.policy.timeout, letters.type.policy.timeout) == (3, 3)
    called: Any = blocking(4)
    assert (await called, await letters("ab")) == (4, ["a", "b"])
    assert node(name="again")(count).type.outputs["out"].type == list[int]


def test_calls_of_nodes_are_known_to_be_awaited() -> None:
    marks_objects = sys.version_info >= (3, 12)
    unchecked: Any = flow
    for called in (double, count, shorten, unchecked(plain), double.with_(name="other")):
        assert inspect.iscoroutinefunction(called) is marks_objects


async def test_a_node_is_not_called_with_a_port() -> None:
    with Flow() as flow, pytest.raises(PortMisuse, match=r"DF0201 \$in\.x:") as caught:
        await node(double)(flow.input("x", int))
    assert caught.value.use == "a call of double"
