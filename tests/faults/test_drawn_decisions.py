"""F-I04: drawings show tests, ends and limits of loops, options of maps, and what decides branches."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dataflow import Flow, collect, each
from dataflow.inspection.drawing import dot, mermaid, outline


async def halve(x: int) -> int:
    return x // 2


def small(x: int) -> bool:
    return x < 10


def name_of(x: int) -> str:
    return str(x)


def halving() -> Flow:
    with Flow("halving") as flow:
        with flow.loop(limit=9, on_limit="fail") as loop:
            carried = loop.carry(flow.input("start", int))
            made = flow.add(halve, x=carried.out)
            loop.until(made.out, small)
            carried.next(made.out)
        flow.output("end", carried.final)
        flow.output("sizes", loop.all(made.out))
        flow.output("small", flow.when(carried.final, small).yes)
        flow.output("again", flow.when(carried.final, small, name="small").yes)
        flow.output("named", flow.switch(carried.final, name_of, ["1", "2"])["1"])
        item = each(loop.all(made.out), key=name_of, max_concurrency=2, on_error="skip")
        flow.output("items", collect(flow.add(halve, x=item).out))
    return flow


@pytest.mark.parametrize("draw", [outline, mermaid, dot])
def test_each_form_has_what_decides(draw: Any, subtests: pytest.Subtests) -> None:
    drawn = draw(halving().wiring)
    for words in (
        "limit 9 or fail, until small(halve)",
        "when: small",
        "switch: name_of",
        "each (key name_of, at most 2, on error skip)",
    ):
        with subtests.test(words):
            assert words in drawn
    assert "small: small" not in drawn


def test_an_output_of_a_loop_comes_from_what_gives_it() -> None:
    drawn = mermaid(halving().wiring)
    shapes = {label: id for id, label in re.findall(r'(n\d+)\(?\["?(.*?)"', drawn)}
    shapes |= {label: id for id, label in re.findall(r'(n\d+)\(\["(.*?)"', drawn)}
    edges = re.findall(r"(n\d+) -->.* (n\d+)", drawn)
    assert (shapes["carry"], shapes["end"]) in edges
    assert (shapes["halve"], shapes["sizes"]) in edges
    text = dot(halving().wiring)
    for point in re.findall(r"(n\d+) \[shape=point\]", text):
        assert f"{point} ->" not in text


def test_the_text_has_the_type_behind_it() -> None:
    with Flow("f") as flow:
        way = flow.when(flow.input("x", int), small)
        flow.output("o", way.yes)
    text = outline(flow.wiring)
    assert "when: small [control.if]" in text
