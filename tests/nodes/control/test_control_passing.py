# mypy: disable-error-code="arg-type"
"""The types of the control pack that wait, log and fail, and the pack as a whole."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from dataflow import DataflowError, ExpressionError, Flow, RunFailed, Template
from dataflow_control import (
    Delay,
    Fail,
    FailedOnPurpose,
    Log,
    delay,
    expression,
    fail,
    filter_list,
    log,
    pack,
    sort_list,
    template,
    value,
)
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played, problems_of
from tests.support.processes import modules_after


class Shade(Enum):
    DARK = 1


@dataclass
class Spot:
    line: int
    secret: str = field(repr=False)


class Pair(NamedTuple):
    one: Any
    other: Any


ITSELF: Final[list[Any]] = []
ITSELF.append(ITSELF)


def wide(kind: Any) -> Any:
    """Nest twenty of each in each, many times over."""
    made: Any = range(20)
    for _ in range(40):
        made = kind([made] * 20)
    return made


def waiting(seconds: float) -> Flow:
    with Flow() as flow:
        flow.output("out", flow.add(delay, value=flow.input("value", Any), config=Delay(seconds=seconds)).out)
    return flow


@given(json_values, st.floats(0, 10**9))
def test_a_delay_waits_as_long_as_it_is_told_and_passes_its_value_on(value: Any, seconds: float) -> None:
    async def main() -> float:
        began = trio.current_time()
        assert typed((await waiting(seconds).run(value=value))["out"]) == typed(value)
        return trio.current_time() - began

    assert trio.run(main, clock=MockClock(autojump_threshold=0)) == pytest.approx(seconds)


async def test_a_log_without_a_message_writes_its_value(caplog: pytest.LogCaptureFixture) -> None:
    cases = [
        ("a\n\x1b[31mline", "a\\n\\x1b[31mline"),
        ([1, 2.5, ("a\n",), {3, 1}, Shade.DARK, b"a"], "[1, 2.5, ('a\\n',), set(1, 3), Shade.DARK, b'a']"),
        (Spot(1, "hidden"), "Spot(line=1)"),
        (Spot.__new__(Spot), "<a value that raised AttributeError>"),
        ([object()], "[<object>]"),
        (Pair([1], date(2026, 1, 2)), "Pair(one=[1], other=2026-01-02)"),
        ({10**5_000: Decimal("1.50")}, "{<a long integer>: 1.50}"),
        (ITSELF, "[[[[[[[[...]]]]]]]]"),
    ]
    with caplog.at_level(logging.INFO, "dataflow.control"):
        for value, _ in cases:
            await log(value)
    assert [record.getMessage() for record in caplog.records] == [text for _, text in cases]


async def test_a_record_is_one_line_of_500_characters_at_most(caplog: pytest.LogCaptureFixture) -> None:
    values = (
        "a" * 501, "\n" * 300, [*range(1000)], ["a" * 1_000], wide(list), wide(tuple), Pair("b" * 600, ""),
    )  # fmt: skip
    with caplog.at_level(logging.INFO, "dataflow.control"):
        for value in values:
            await log(value)
        await log("a" * 1_000_000, Log(message=Template("{{ value }}")))
    lines = [record.getMessage() for record in caplog.records]
    assert [len(line) for line in lines] == [500] * 8
    assert all(line.endswith("...") and "\n" not in line for line in lines)


async def test_a_log_writes_its_message_at_its_level_else_its_value_on_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    levels: Any = ("debug", "info", "warning", "error")
    for level in levels:
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "dataflow.control"):
            config = Log(level=level, message=Template("found {{ value }}"))
            assert typed(await played(log, config, value=[1])) == typed([1])
            assert await played(delay, Delay(seconds=0), value=False) is False
        (alone, flowing) = [record for record in caplog.records if record.name == "dataflow.control"]
        assert alone.getMessage() == flowing.getMessage() == "found [1]"
        assert alone.levelname == level.upper()
        assert (alone.__dict__["path"], flowing.__dict__["path"]) == ("", "log")
    with pytest.raises(ExpressionError):
        await log({}, Log(level="debug", message=Template("{{ value.a }}")))


@given(st.text(st.characters(exclude_characters="{}", exclude_categories=["C", "Z"])), json_values)
async def test_a_failure_has_the_text_of_its_message(text: str, value: Any) -> None:
    error = await played(fail, Fail(message=Template(text)), value=value)
    assert isinstance(error, FailedOnPurpose)
    assert error.problem.text == text
    with pytest.raises(DataflowError, match=r"^DF0506 \\x1b\[31mred no order 7$"):
        await fail(Fail(message=Template("\x1b[31mred no order {{ value }}")), 7)


GREETING: Final = Path(__file__).parents[3] / "docs" / "examples" / "greeting.yaml"


def test_a_flow_without_expressions_and_templates_imports_no_jinja2() -> None:
    found = modules_after("""
import dataflow
from dataflow_control import Delay, Log, delay, log, pack
for name in pack.nodes:
    pack.find(name)
with dataflow.Flow() as flow:
    late = flow.add(delay, value=1, config=Delay(seconds=0))
    flow.output("out", flow.add(log, value=late.out, config=Log()).out)
assert flow.run_sync()["out"] == 1
""")
    assert not [name for name in found if name.partition(".")[0] == "jinja2"]
    assert {name.partition(":")[0] for name in pack.nodes.values()} <= {*found}


async def test_the_example_greets_each_guest_and_needs_no_python_file() -> None:
    flow = Flow.load(GREETING)
    result = await flow.run(guests="Grace, , ada", hour=14)
    assert result["text"] == "Good afternoon, ada!\nGood afternoon, Grace!"
    with pytest.raises(RunFailed, match="nobody: FailedOnPurpose: DF0506 there is nobody to greet"):
        await flow.run(guests=" ,")
    assert "uses" not in GREETING.read_text(encoding="utf-8")


#: What is written of each node type, with its ports, and what the problem names.
MISTAKES: Final[list[tuple[Any, dict[str, Any], dict[str, Any], str]]] = [
    (log, {"level": "loud"}, {"value": 1}, "level"),
    (log, {"message": "{{ name }}"}, {"value": 1}, "message: the name 'name' is unknown"),
    (fail, {"message": "{{ name }}"}, {}, "message: the name 'name' is unknown"),
    *((delay, {"seconds": odd}, {"value": 1}, "seconds") for odd in (-1, 1e999, float("nan"), "1", True)),
    (filter_list, {}, {"items": [1]}, "condition"),
    (filter_list, {"condition": "items > 1"}, {"items": [1]}, "condition: the node itself uses"),
    (filter_list, {"condition": "item > least"}, {"items": [1]}, "least"),
    (sort_list, {"descending": 1}, {"items": [1]}, "descending"),
    (value, {}, {}, "value"),
    (template, {"template": "{{"}, {}, "template"),
    (template, {"template": "{{ config }}"}, {}, "template: the node itself uses"),
    (template, {"template": "Hello {{ name }}"}, {}, "name"),
    (template, {"template": "Hello {{ name }}"}, {"name": "Ada", "nmae": "Ada"}, "nmae"),
    *((expression, {"expression": odd}, {}, "expression") for odd in ("a b", "a | length", "")),
]  # fmt: skip


def test_configs_that_cannot_be() -> None:
    for function, config, ports, place in MISTAKES:
        (found,) = problems_of(function, config, **ports)
        assert place in str(found)
