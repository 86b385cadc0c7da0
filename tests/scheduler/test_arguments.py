"""What each parameter of a node is given when it fires (S3.4, S4.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dataflow import Config, Failure, Flow, Ports, Signal, node


class Style(Config):
    words: int = 10


async def value(x: Any) -> Any:
    return x


async def fails(x: int = 0) -> int:
    raise ValueError("no")


async def broken() -> Any:
    raise ValueError("no")


async def positional(a: int, b: int = 2, /, c: int = 3) -> list[Any]:
    return [a, b, c]


async def keyword(*, a: int, b: int = 2, style: Style) -> list[Any]:
    return [a, b, style.words]


async def spread(a: int, *rest: int, z: int = 9) -> list[Any]:
    return [a, rest, z]


async def configured(style: Style, a: int) -> list[Any]:
    return [style.words, a]


@node(ports=lambda _style: Ports(inputs={"x": int, "y": int}))
async def opened(style: Style, **values: int) -> list[Any]:
    return [style.words, values]


async def signalled(go: Signal, n: int = 1) -> list[Any]:
    return [type(go), n]


async def collected(*go: Signal) -> list[Any]:
    return [len(go)]


async def handled(failure: Failure | None, n: int = 1) -> list[Any]:
    return [failure and failure.message, n]


async def floats(*xs: float) -> list[Any]:
    return list(xs)


def dead(flow: Flow) -> Any:
    return flow.when(1, lambda n: n > 3).yes


CALLS: list[tuple[str, Callable[[Flow], Any], list[Any]]] = [
    ("constants by position", lambda f: f.add(positional, 1, 4, 5), [1, 4, 5]),
    ("constants by name", lambda f: f.add(positional, 1, c=5), [1, 2, 5]),
    ("ports by position", lambda f: f.add(positional, f.add(value, 1).out, f.add(value, 4).out), [1, 4, 3]),
    ("defaults of keywords", lambda f: f.add(keyword, a=1), [1, 2, 10]),  # type: ignore[call-arg]  # the config has a default
    ("keywords", lambda f: f.add(keyword, a=f.add(value, 1).out, b=3, style=Style(words=1)), [1, 3, 1]),
    ("a config first", lambda f: f.add(configured, Style(words=1), 2), [1, 2]),
    ("a config by default", lambda f: f.add(configured, a=2), [10, 2]),  # type: ignore[call-arg]  # as above
    ("nothing to spread", lambda f: f.add(spread, 1), [1, (), 9]),
    ("ports to spread", lambda f: f.add(spread, 1, f.add(value, 2).out, 3, z=4), [1, (2, 3), 4]),
    ("live ports to spread", lambda f: f.add(spread, 1, f.add(value, 2).out, dead(f)), [1, (2,), 9]),
    ("no live port to spread", lambda f: f.add(spread, 1, dead(f)), [1, (), 9]),
    ("an optional port that holds a skip", lambda f: f.add(positional, 1, dead(f)), [1, 2, 3]),
    (
        "the ports of a config",
        lambda f: f.add(opened, Style(), x=f.add(value, 1).out, y=2),
        [10, {"x": 1, "y": 2}],
    ),
    ("a signal", lambda f: f.add(signalled, f.add(value, 1).done), [Signal, 1]),
    ("a value as a signal", lambda f: f.add(signalled, f.add(value, None).out), [Signal, 1]),
    ("signals to spread", lambda f: f.add(collected, f.add(value, 1).done, f.add(value, 1).out), [2]),
    ("a failure", lambda f: f.add(handled, f.add(fails).error), ["no", 1]),
    ("an error for a failure", lambda f: f.add(handled, f.add(broken).out), ["no", 1]),
    ("an int where a float is expected", lambda f: f.add(floats, f.add(value, 1).out, 2), [1.0, 2.0]),
    ("falsy values", lambda f: f.add(positional, f.add(value, 0).out, False), [0, False, 3]),
]


async def test_a_parameter_gets_the_value_that_is_wired(subtests: pytest.Subtests) -> None:
    for name, place, given in CALLS:
        with subtests.test(name):
            flow = Flow()
            flow.output("y", place(flow).out)
            found = (await flow.run())["y"]
            assert found == given
            assert [type(one) for one in found] == [type(one) for one in given]
