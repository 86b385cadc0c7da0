# ruff: noqa: ARG005, E501 - many functions are on a line of the table, and only some of them do something
"""Functions and classes as values: by their names, their code and what they hold (S13.2)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from dataflow.values.constants import is_plain
from dataflow.values.digests import NoDigest, digest
from tests.values.test_code_digests import ONE, OTHER, SAME
from tests.values.test_code_digests import made as compiled


class Mode(Enum):
    FAST = 1


def make(k: Any) -> Callable[[int], Any]:
    def add(x: int) -> Any:
        return (x, k)

    return add


def plainly(*args: Any, **named: Any) -> Any:
    return args, named


def around(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any) -> Any:
        return function(*args)

    return called


def around_otherwise(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any) -> Any:
        return [function(*args)]

    return called


class Adder:
    by = 1

    def __init__(self, k: Any) -> None:
        self.k = k

    def add(self, x: Any) -> Any:
        return super().__hash__(), x

    @classmethod
    def named(cls) -> str:
        return cls.__name__

    @staticmethod
    def twice(x: int) -> int:
        return 2 * x

    @property
    def half(self) -> Any:
        return self.k / 2


def classes(by: int) -> type:
    class Local:
        factor = by

        def again(self) -> Any:
            return Local()

    return Local


ONE_LINE = [lambda: 1, lambda: 2, lambda: 1.0, lambda: True, lambda: None, lambda x: 1, lambda x=1: 1]

DIFFERENT: list[Any] = [
    *ONE_LINE, make(1), make(2), make(1.0), make(make(1)), make(make(2)), make(len), make([1]), make(Adder), make(Adder(1)),
    around(make(1)), around(make(2)), around_otherwise(make(1)), around(around(make(1))), Adder, Mode, classes(1), classes(2),
    Adder(1).add, Adder(2).add, Adder.add, Adder.named, Adder.twice, vars(Adder)["half"], functools.partial(make(1), 1),
    functools.partial(make(1), 2), functools.partial(make(2), 1), functools.partial(plainly, x=1), functools.lru_cache(make(1)),
    functools.lru_cache(make(2)), len, max, int, "abc".upper, "abd".upper, str.upper, make, around,
]  # fmt: skip


def test_what_does_something_else_has_another_digest() -> None:
    digests = [digest(one) for one in DIFFERENT]
    assert [one for one, made in zip(DIFFERENT, digests, strict=True) if digests.count(made) > 1] == []
    one = digest(compiled(ONE))
    assert [name for name, source in SAME if digest(compiled(source)) != one] == []
    assert [name for name, source in OTHER if digest(compiled(source)) == one] == []


def test_a_variable_without_a_value_is_one() -> None:
    def early() -> Callable[[], Any]:
        def made() -> Any:
            return late

        before = digest(made)
        late: int = 1
        assert digest(made) != before
        return made

    early()


def test_what_a_function_holds_is_looked_at_once_and_located() -> None:
    with pytest.raises(NoDigest) as raised:
        digest({"a": make([object()])})
    assert raised.value.problem.place == "[\"a\"].<closure 'k'>[0]"
    shared: Any = ()
    for _ in range(100):
        shared = (shared, shared)
    assert digest(make(shared)) == digest(make(shared))
    assert is_plain(shared)
    assert not is_plain((shared, [shared]))


def test_functions_constants_and_fields_of_a_class_count() -> None:
    cases: list[tuple[str, int]] = [
        ("def f(self): return {}", 2),
        ("@staticmethod\n  def f(): return {}", 2),
        ("@classmethod\n  def f(cls): return {}", 2),
        ("@property\n  def f(self): return {}", 2),
        ("f = {}", 2),
        ("f: 'Literal[{}]'", 2),
        ("@functools.cache\n  def f(self): return {}", 2),
        ("@functools.cached_property\n  def f(self): return {}", 2),
        ("f = functools.partialmethod(divmod, {})", 2),
        ("f = functools.partial(divmod, {})", 2), ("f = [{}]", 2), ("f = [print, {}]", 1), ("'Say {}.'", 1),
    ]  # fmt: skip
    for member, digests in cases:
        sources = [f"import functools\nclass f:\n  {member.format(one)}" for one in (1, 2)]
        assert len({digest(compiled(source)) for source in sources}) == digests, member


def test_the_settings_of_fields_count(subtests: pytest.Subtests) -> None:
    for source in [
        "class f(BaseModel):\n  x: int = {}",
        "class f(BaseModel):\n  x: int = Field(description='Take {}.')",
        "class f(BaseModel):\n  x: int = Field(lt={})",
        "class f(BaseModel):\n  x: list[int] = Field(default_factory=lambda: [{}])",
        "class f(BaseModel, title='{}'):\n  x: int",
        "@dataclass\nclass f:\n  x: object = field(default_factory=lambda: {})",
        "@dataclass\nclass f:\n  x: object = field(default=range({}))",
        "@dataclass\nclass f:\n  x: int\n  def method(self): return {}",
        "@dataclass(order={} > 1)\nclass f:\n  x: int",
    ]:
        with subtests.test(source=source):
            known = "from dataclasses import dataclass, field\nfrom pydantic import BaseModel, Field\n"
            digests = [digest(compiled(known + source.format(one))) for one in (1, 1, 2)]
            assert digests[0] == digests[1] != digests[2]
