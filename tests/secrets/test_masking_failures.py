"""Redacting raises nothing: what cannot be looked into or copied is told as text (S12.4)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import pytest

from dataflow import Flow, node
from dataflow.base.history import History
from dataflow.secrets.known import redacted
from tests.support.secret_kinds import MARK, VALUE, Box, OwnError

pytestmark = pytest.mark.usefixtures("token_known")


class KeyList(list[Any]):
    __hash__ = object.__hash__  # type: ignore[assignment]  # which a list that takes its place has not


class KeyDict(dict[Any, Any]):
    __hash__ = object.__hash__  # type: ignore[assignment]  # as above


class KeyBytes(bytearray):
    __hash__ = object.__hash__  # type: ignore[assignment]  # as above


class Found:
    """Is found by its secret, of which there is none in a copy."""

    def __init__(self) -> None:
        self.token = VALUE

    def __hash__(self) -> int:
        return {VALUE: 1}[self.token]

    def __repr__(self) -> str:
        return f"found by {self.token}"


class Guards:
    """Lets nobody see its fields, and counts who tries."""

    tries = 0

    def __init__(self) -> None:
        self.token = VALUE

    @property
    def __dict__(self) -> NoReturn:  # type: ignore[override]  # that it is odd is the point
        type(self).tries += 1
        raise LookupError

    def __repr__(self) -> str:
        return "guarded"


class Shadows:
    """Has other names than its own in the place of its own."""

    __dict__ = {}

    def __init__(self) -> None:
        self.token = VALUE

    def __repr__(self) -> str:
        return "shadowed"


class Ends(OwnError):
    def __repr__(self) -> NoReturn:
        raise SystemExit


TOLD: Final[dict[str, Callable[[], Any]]] = {
    f"{{['{MARK}']: 1}}": lambda: {KeyList([VALUE]): 1},
    f"{{['{MARK}']}}": lambda: {KeyList([VALUE])},
    f"frozenset({{['{MARK}']}})": lambda: frozenset({KeyList([VALUE])}),
    f"{{({{'a': '{MARK}'}},): 1}}": lambda: {(KeyDict(a=VALUE),): 1},
    f"{{KeyBytes(b'{MARK}')}}": lambda: {KeyBytes(VALUE.encode())},
    f"{{found by {MARK}: 1}}": lambda: {Found(): 1},
    f"{{found by {MARK}}}": lambda: {Found()},
    "guarded": Guards,
    "shadowed": Shadows,
    "<Ends>": lambda: Ends(VALUE),
    "<PurePosixPath>": lambda: object.__new__(PurePosixPath),
}


def test_what_cannot_be_copied_is_shown_as_text_alone() -> None:
    for told, make in TOLD.items():
        found: Any = redacted([Box(make()), Box(VALUE)])
        assert (found[0].held, found[1]) == (told, Box(MARK))


def test_nothing_of_a_class_is_called() -> None:
    tries = Guards.tries
    redacted([Guards()])
    assert Guards.tries == tries
    assert redacted([Hidden()])[0].token == MARK
    assert list(redacted(Replaying(["a", VALUE]))) == ["a", MARK]
    value = SimpleNamespace(a=1)
    assert redacted([value, VALUE])[0] is value


class Hiding(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in ("__mro__", "__dict__", "__dictoffset__", "__qualname__"):
            raise LookupError(name)
        return super().__getattribute__(name)


class Hidden(metaclass=Hiding):
    def __init__(self) -> None:
        self.token = VALUE


class Replaying(History[Any]):
    __slots__ = ()

    def __iter__(self) -> NoReturn:
        raise LookupError


def test_an_interrupt_is_let_through() -> None:
    class Interrupted(OwnError):
        def __repr__(self) -> NoReturn:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        redacted(Interrupted(VALUE))


def redacted_at(depth: int, value: Any) -> Any:
    return redacted_at(depth - 1, value) if depth else redacted(value)


def test_what_is_nested_deep_is_masked_where_few_calls_are_left() -> None:
    for levels, left in itertools.product((20, 190), (40, 150, 400)):
        value: Any = VALUE
        for _ in range(levels):
            value = [value]
        depth = sys.getrecursionlimit() - calls_here() - left
        assert VALUE not in repr(redacted_at(depth, value)), (levels, left)


def calls_here() -> int:
    """Count the calls that have led here."""
    count, frame = 0, sys._getframe()
    while frame.f_back is not None:
        count, frame = count + 1, frame.f_back
    return count


async def makes() -> Any:
    return {KeyList([VALUE]): 1, Found(): 2}


async def test_a_run_is_told_though_a_key_of_a_value_cannot_be_copied() -> None:
    with Flow("told") as flow:
        flow.output("out", flow.add(node(makes)).out)
    async with flow.start() as running:
        events = [event async for event in running.events(inputs=True)]
        await running
    assert VALUE not in repr(events)
