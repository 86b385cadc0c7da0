"""F-C18: a branch that is not taken warns only of values that other nodes of its frame gave (S4.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import ExecutionContext, Flow, collect, each, fallback, merge, node

WARNING: Final = ["DF0835"]


async def wide(text: str, width: int) -> str:
    return text * width


async def len_of(text: str) -> int:
    return len(text)


async def width() -> int:
    return 3


async def said(context: ExecutionContext, text: str) -> str:
    return text


@node
async def talk(context: ExecutionContext) -> ExecutionContext:
    return context


def not_taken(f: Flow, value: Any = "") -> Any:
    return f.when(value, lambda text: text != "", name="full").yes


def of_input(f: Flow) -> None:
    f.add(wide, text=not_taken(f, f.input("text", str, "")), width=f.input("width", int, 3))


def of_constant(f: Flow) -> None:
    f.add(wide, text=not_taken(f), width=3)


def around_a_map(f: Flow) -> None:
    f.add(wide, text=not_taken(f, each(["", ""])), width=f.add(width).out)


def of_an_item(f: Flow) -> None:
    f.add(wide, text=not_taken(f), width=each([1, 2]))


def around_a_loop(f: Flow) -> None:
    outside = f.add(width).out
    with f.loop(limit=2) as loop:
        text = loop.carry("")
        text.next(merge(f.add(wide, text=not_taken(f, text.out), width=outside).out, text.out))


def of_a_loop_variable(f: Flow) -> None:
    with f.loop(limit=2) as loop:
        number = loop.carry(1)
        f.add(wide, text=not_taken(f), width=number.out)
        number.next(number.out)


def of_a_conversation(f: Flow) -> None:
    f.add(said, context=f.context("talk"), text=not_taken(f))
    f.add(said, context=f.add(talk, context=f.context("other")).out, text=not_taken_2(f))


def not_taken_2(f: Flow) -> Any:
    return f.when("", lambda text: text != "").yes


def of_a_node(f: Flow) -> None:
    f.add(wide, text=not_taken(f), width=f.add(width).out)


def of_a_fallback(f: Flow) -> None:
    text = not_taken(f)
    f.add(wide, text=text, width=fallback(f.add(len_of, text=text).out, 7))


def of_a_merge(f: Flow) -> None:
    found = merge(merge(f.add(width).out, f.input("width", int, 3)), f.add(width).out)
    f.add(wide, text=not_taken(f), width=found)


def of_a_merge_of_nodes(f: Flow) -> None:
    f.add(wide, text=not_taken(f), width=merge(f.add(width).out, f.add(width).out))


def of_a_list(f: Flow) -> None:
    async def total(text: str, widths: list[int]) -> int:
        return sum(widths)

    async def same(number: int) -> int:
        return number

    f.add(total, text=not_taken(f), widths=collect(f.add(same, number=each([1, 2])).out))


#: What is live beside a port behind an exit that is not taken.
LIVE: Final[tuple[tuple[Callable[[Flow], None], list[str]], ...]] = (
    (of_input, []), (of_constant, []), (around_a_map, []), (of_an_item, []), (around_a_loop, []),
    (of_a_loop_variable, []), (of_a_fallback, []), (of_a_merge, []), (of_a_merge_of_nodes, WARNING),
    (of_a_conversation, []), (of_a_node, WARNING), (of_a_list, WARNING),
)  # fmt: skip


async def test_what_is_there_in_any_case_is_no_reason_to_warn(subtests: pytest.Subtests) -> None:
    for wire, codes in LIVE:
        with subtests.test(wire.__name__):
            with Flow("branches") as flow:
                wire(flow)
            result = await flow.run()
            assert "skipped" in [state.value for state in result.states.values()]
            assert [warning.split(" ")[0] for warning in result.warnings] == codes


async def test_a_map_of_a_document_and_its_body_do_not_warn(tmp_path: Path) -> None:
    """A list of the flow beside a dead one, and an item beside a dead value around the map."""
    expression = {"type": "control.expression", "config": {"expression": "[x, y]"}}
    dead = {"type": "control.if", "config": {"condition": "false"}, "inputs": {"value": "$in.xs"}}
    body = {
        "outputs": {"o": "a"},
        "nodes": {"a": {**expression, "inputs": {"x": "$item.x", "y": "dead.yes"}}},
    }
    nodes = {
        "dead": dead,
        "beside": {"map": {"over": {"x": "$in.xs"}, **body}},
        "over": {"map": {"over": {"x": "$in.xs", "z": "dead.yes"}, "outputs": {"o": "$item.x"}}},
    }
    file = tmp_path / "flow.json"
    file.write_text(json.dumps({"dataflow": 1, "inputs": {"xs": {"default": [1]}}, "nodes": nodes}), "utf-8")
    assert (await Flow.load(file).run()).warnings == ()
