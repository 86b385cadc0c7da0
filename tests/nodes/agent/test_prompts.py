"""Prompts of steps: placeholders that are filled once, literally, and a block of what came before."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dataflow import ExpressionError, Flow
from dataflow_agent import Prior, PriorStep, Prompt, fill_prompt, prior_outputs
from tests.nodes.playing import played
from tests.support.codes import codes


class Verdict(BaseModel):
    is_good: bool
    reason: str


async def filled(prompt: str, **values: Any) -> Any:
    return await played(fill_prompt, Prompt(prompt=prompt), **values)


async def test_what_is_filled_in_stays_as_it_is_and_other_braces_are_text() -> None:
    """AF23, and a placeholder that comes from a value is text."""
    odd = r"cost $& $1 $$ \1 \g<0> {{PREVIOUS_OUTPUT}} {{ $steps.b.output }} {{ $ }}"
    assert await filled("{{PREVIOUS_OUTPUT}}", previous=odd) == odd
    assert await filled("{{ $steps.a.output }}{{ $steps.b.output }}", a=odd, b="B") == f"{odd}B"
    text = "{{ PREVIOUS_OUTPUT }} {{previous_output}} {{ x }} {% if a %} { $steps.a.output } {{}"
    assert await filled(text) == text


@given(st.text(), st.text())
async def test_any_text_is_filled_in_literally(previous: str, other: str) -> None:
    found = await fill_prompt(
        Prompt(prompt="<{{PREVIOUS_OUTPUT}}|{{ $steps.a.output }}>"), previous=previous, a=other
    )
    assert found == f"<{previous}|{other}>"


async def test_a_value_is_written_as_by_a_template_and_a_part_is_found_in_it() -> None:
    cases: list[Any] = [
        ({"k": [1, None]}, '{"k": [1, null]}'), ([1], "[1]"), (3, "3"), (True, "True"), (None, "None"),
        ("", ""),
    ]  # fmt: skip
    for value, written in cases:
        assert await filled("{{ $steps.a.output }}", a=value) == written
    wholes: list[Any] = [{"k": {"l": "v"}}, '{"k": {"l": "v"}}', ' {"k": {"l": "v"}}\n']
    for value in wholes:
        assert await filled("<{{ $steps.a.output.k.l }}>", a=value) == "<v>"
    verdict = Verdict(is_good=True, reason="short")
    assert await filled("{{ $steps.a.output.reason }}", a=verdict) == "short"


async def test_a_part_that_is_not_there_is_an_error() -> None:
    cases: list[Any] = [({"l": 1}, ""), ("[1]", ""), ("yes", "DF2007"), ("[" * 100_000, "DF2007")]
    for value, code in cases:
        error = await filled("{{ $steps.a.output.k }}", a=value)
        assert isinstance(error, ExpressionError)
        assert (error.source, error.kind) == ("{{ $steps.a.output.k }}", "placeholder")
        assert error.code == code or not code


def test_what_is_no_placeholder_is_told_when_the_flow_is_checked() -> None:
    for prompt, problem in (
        ("{{ $steps.a }}", "DF2006 fill_prompt.config.prompt"),
        ("{{ $steps.a.outputs[0].output }}", "DF2006 fill_prompt.config.prompt"),
        ("{{$steps.a-b.output}}", "DF2006 fill_prompt.config.prompt"),
        ("{{ $steps.previous.output }}", "DF2002 fill_prompt.config.prompt"),
        ("{{ $steps.config.output }}", "DF2002 fill_prompt.config.prompt"),
        ("{{ $steps.ghost.output }}", "DF0301 fill_prompt.ghost"),  # nothing is wired to it
    ):
        flow = Flow("f")
        flow.add(fill_prompt, config={"prompt": prompt})  # type: ignore[arg-type]  # as documents have it
        assert codes(flow.check()) == [problem]


STEPS: Final = [PriorStep(name="b", agent="y"), PriorStep(name="a", agent="x")]


async def told(prompt: str = "P", steps: list[PriorStep] = STEPS, **outputs: str) -> str:
    """Put a prompt behind what steps gave, in a flow and alone."""
    config = Prior(steps=steps)
    with Flow("f") as flow:
        given = {name: flow.input(name, str) for name in outputs}
        flow.output("out", flow.add(prior_outputs, prompt=prompt, config=config, **given).out)
    result: str = (await flow.run(**outputs))["out"]
    assert await prior_outputs(config, prompt, **{"a": "", "b": "", **outputs}) == result
    return result


def block(*entries: str) -> str:
    return "\n\n".join(["--- Prior Step Outputs ---", *entries, "--- End Prior Step Outputs ---"])


async def test_what_earlier_steps_gave_stands_before_the_prompt_in_the_order_of_the_config() -> None:
    """CA03 to CA06, CA14, CA17."""
    assert await told() == "P"
    both = block("[b (agent: y)]:\nB", "[a (agent: x)]:\nA")
    assert await told(a="A", b="B") == f"{both}\n\nP"
    odd = "--- End Prior Step Outputs ---\n{{PREVIOUS_OUTPUT}} %s {0}\n"
    assert await told(a=odd, b="") == block(f"[a (agent: x)]:\n{odd}") + "\n\nP"
    steps = [
        PriorStep(name="c1", path="par/c1", agent="gen"),
        PriorStep(name="c2", path="outer/inner/c2"),
        PriorStep(name="c3"),
    ]
    expected = block("[par/c1 (agent: gen)]:\n1", "[outer/inner/c2]:\n2", "[c3]:\n3")
    assert await told("", steps, c1="1", c2="2", c3="3") == expected
