"""Values of generic classes, ports with type parameters and aliases, in each way to write them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from dataflow import Flow, node
from dataflow.values.digests import digest

#: Both have the same names; `$...` is what is written otherwise.
COMMON: Final = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Generic, NamedTuple, ParamSpec, TypedDict, TypeVar, TypeVarTuple
from pydantic import BaseModel, SecretStr
from typing_extensions import TypeAliasType
$before

@dataclass
class Box$Box:
    content: T

class Model$Model:
    content: T

class Pair$Pair:
    first: T
    second: list[T]

class Keys$Keys:
    key: T

class Derived$Derived:
    pass

$after
async def passed$f(x: T) -> T:
    CALLED.append("passed")
    return x

async def boxed$f(x: T) -> Box[T]:
    CALLED.append("boxed")
    return Box(x)

async def halved(x: int) -> Box[int]:
    return Box(x // 2)

async def content(box: Box[int]) -> int:
    CALLED.append("content")
    return box.content

async def listed(x: Number) -> Either[int]:
    return [x]

async def nested(x: Nested) -> Nested:
    return [x]

async def first(pair: Pair[int]) -> int:
    return pair.first

CALLED = []
"""
OLD: Final = {
    "before": 'T = TypeVar("T")\nS = ParamSpec("S")\nTs = TypeVarTuple("Ts")',
    "T": "(Generic[T])", "Box": "(Generic[T])", "Model": "(BaseModel, Generic[T])",
    "Pair": "(NamedTuple, Generic[T])", "Keys": "(TypedDict, Generic[T])", "Derived": "(Box[T])", "f": "",
    "after": """
Number = TypeAliasType("Number", int)
Either = TypeAliasType("Either", T | list[T], type_params=(T,))
Nested = TypeAliasType("Nested", "int | list[Nested]")
PARAMETERS = (T, S, Ts)
""",
}  # fmt: skip
NEW: Final = {
    "before": "", "T": "[T]", "Box": "[T]", "Model": "[T](BaseModel)", "Pair": "[T](NamedTuple)",
    "Keys": "[T](TypedDict)", "Derived": "[T](Box[T])", "f": "[T]",
    "after": """
type Number = int
type Either[T] = T | list[T]
type Nested = int | list[Nested]
def generic[T, **S, *Ts](): ...
PARAMETERS = generic.__type_params__
""",
}  # fmt: skip
#: The new way is there from Python 3.12 on.
WAYS: Final = {"old": OLD} | ({"new": NEW} if sys.version_info >= (3, 12) else {})
VALUES: Final[dict[str, tuple[str, Callable[[ModuleType], Any]]]] = {
    "dataclass": ("Box[int]", lambda of: of.Box(3)),
    "model": ("Model[int]", lambda of: of.Model[int](content=3)),
    "named tuple": ("Pair[int]", lambda of: of.Pair(3, [4])),
    "typed dict": ("Keys[int]", lambda _: {"key": 3}),
    "derived": ("Derived[int]", lambda of: of.Derived(3)),
    "secret": ("SecretStr", lambda of: of.SecretStr("secret-3")),
}


@pytest.fixture(scope="module", params=WAYS)
def of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    code = COMMON
    for mark, written in sorted(WAYS[request.param].items(), reverse=True):  # `$Box` before `$f`
        code = code.replace(f"${mark}", written)
    folder, name = tmp_path_factory.mktemp("generic"), f"generic_{request.param}"
    Path(folder, f"{name}.py").write_text(code)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        del sys.modules[name]


@pytest.fixture
def called(of: ModuleType) -> list[str]:
    of.CALLED.clear()
    return of.CALLED  # type: ignore[no-any-return]  # the module is made here


def passing(of: ModuleType, kind: str, **settings: Any) -> Flow:
    with Flow("passing") as flow:
        passed: Any = node(**settings)(of.passed)
        port = flow.input("x", eval(kind, vars(of)))
        flow.output("o", flow.add(passed, x=port).out)
    return flow


@pytest.mark.parametrize(("kind", "make"), VALUES.values(), ids=VALUES)
def test_a_memo_knows_an_equal_value(
    of: ModuleType, called: list[str], kind: str, make: Callable[[ModuleType], Any]
) -> None:
    flow = passing(of, kind, memo="process")
    assert [flow.run_sync(x=make(of))["o"] for _ in range(3)] == [make(of)] * 3
    assert called == ["passed"]


async def test_in_a_live_session_an_equal_value_ends_a_change(of: ModuleType, called: list[str]) -> None:
    with Flow("halves") as flow:
        flow.output("o", flow.add(of.content, flow.add(of.halved, flow.input("x", int)).out).out)
    async with flow.live(x=6) as session:
        assert await session.get("o") == 3
        await session.update(x=7)
        assert (await session.get("o"), called) == (3, ["content"])


def test_ports_have_the_types_of_parameters_and_aliases(of: ModuleType) -> None:
    with Flow("types") as flow:
        box = flow.add(of.boxed, flow.add(of.passed, flow.input("x", of.Number)).out)
        flow.output("o", flow.add(of.content, box.out).out)
        flow.output("either", flow.add(of.listed, x=3).out)
        flow.output("nested", flow.add(of.nested, x=[1, [2]]).out)
        flow.output("first", flow.add(of.first, pair=of.Pair(5, [])).out)
    result = flow.run_sync(x=3)
    assert dict(result.outputs) == {"o": 3, "either": [3], "nested": [[1, [2]]], "first": 5}


def test_functions_parameters_and_aliases_have_digests(of: ModuleType) -> None:
    values = [
        *of.PARAMETERS, of.Number, of.Either, of.Either[int], of.Nested, of.passed, node(of.passed), of.Box,
    ]  # fmt: skip
    digests = [digest(value) for value in values]
    assert len(set(digests)) == len(digests)
    assert digests == [digest(value) for value in values]
