# mypy: disable-error-code="arg-type, return-value"
"""F-C17, F-C21: a number or bool by protocol is one where a port, a branch or a loop wants one."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from dataflow import Flow, RunFailed
from dataflow.expressions.expression import Expression, Template
from dataflow.inspection.json_values import json_value
from dataflow.types.agreement import agrees
from dataflow.types.mismatches import find_mismatch
from dataflow.types.validation import check_value


class Scalar:
    """A scalar as those of NumPy are: without dimensions, with `item`."""

    shape: tuple[int, ...] = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)


class Int(Scalar):
    def __index__(self) -> int:
        return int(self.value)


class Float(Scalar):
    def __float__(self) -> float:
        return float(self.value)


class Several(Scalar):
    shape = (1,)


Integral.register(Int)
Real.register(Float)
#: A value, the type of a port, and what the port gives; None where it is refused.
CHECKED: list[tuple[Any, Any, Any]] = [
    (Int(3), int, 3), (Int(3), float, 3.0), (Int(3), int | str, 3), (Int(3), bool, None), (Int(3), str, None),
    (Float(1.5), float, 1.5), (Float(1.5), int, None), (Scalar(True), bool, True), (Scalar(True), int, True),
    (Several(3), int, None), (Scalar("a"), str, None), (Int(-3), Annotated[int, Field(gt=0)], None),
    (Int(3), Annotated[int, Field(gt=0)], 3), (Int(7), Literal[1], None),
]  # fmt: skip


def test_values_are_checked_as_the_numbers_they_are(subtests: pytest.Subtests) -> None:
    for value, kind, expected in CHECKED:
        with subtests.test(f"{type(value).__name__} {value.value} {kind}"):
            assert (find_mismatch(value, kind) is None) == (expected is not None)
            if expected is not None:
                found = check_value(value, kind)
                assert (type(found), found) == (type(expected), expected)
    one = Int(1)
    assert check_value(one, Any) is check_value(one, Int) is check_value(one, object) is one
    assert find_mismatch([Int(1), Int(2)], list[int]) is None
    assert find_mismatch({"a": Float(1)}, dict[str, float]) is None
    assert find_mismatch([Float(1.5)], list[int]) is not None


def test_types_agree_as_the_numbers_they_are() -> None:
    pairs = [(Int, int), (Int, float), (Float, float), (Int, int | None), (list[Int], list[int])]
    assert all(agrees(*pair) for pair in pairs)
    assert not any(
        agrees(*pair) for pair in [(Float, int), (Int, str), (int, Int), (Scalar, int), (Int, bool)]
    )


async def test_they_decide_and_are_printed_and_are_operands() -> None:
    async def same(x: int) -> int:
        return x + 1

    with Flow("deciding") as flow:
        x = flow.input("x", int)
        flow.output("yes", flow.when(x, lambda x: Scalar(x > 3)).yes)
        with flow.loop(limit=5) as loop:
            carried = loop.carry(0)
            made = flow.add(same, x=carried.out)
            loop.until(made.out, lambda x: Scalar(x > 1))
            carried.next(made.out)
        flow.output("rounds", carried.final)
    result = await flow.run(x=Int(5))
    assert (result["yes"], result["rounds"]) == (5, 1)
    with Flow("number") as wrong:
        wrong.output("yes", wrong.when(wrong.input("x", int), lambda _: Int(1)).yes)
    with pytest.raises(RunFailed) as failed:
        await wrong.run(x=1)
    assert failed.value.failures[0].code == "DF0812"
    assert Expression("x + 1 > 3").holds({"x": Int(3)})
    assert Expression("xs[0].a * 2").evaluate({"xs": [{"a": Float(1.5)}]}) == 3.0
    assert Template("{{ x }} {{ xs }}").fill({"x": Int(3), "xs": [Float(1.5)]}) == "3 [1.5]"
    assert json_value({"n": Int(3), "f": Float(1.5), "b": Scalar(False)}) == {"n": 3, "f": 1.5, "b": False}
