"""`agent.fill_prompt`: placeholders are filled once, literally."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dataflow import ExpressionError, Flow, node
from dataflow_agent import Chat, Prompt, chat, fill_prompt, scripted
from tests.nodes.playing import played
from tests.support.codes import codes


class Verdict(BaseModel):
    is_good: bool
    reason: str


async def filled(prompt: str, **values: Any) -> Any:
    return await played(fill_prompt, Prompt(prompt=prompt), **values)


def inputs_of(prompt: str) -> list[str]:
    return [*fill_prompt.type.configured(Prompt(prompt=prompt)).inputs]


def test_its_inputs_are_what_its_placeholders_name() -> None:
    three = "{{ $steps.b.output }} {{$steps.a.output.k}} {{PREVIOUS_OUTPUT}}"
    assert inputs_of(three) == ["a", "b", "previous"]
    assert inputs_of(" \n") == inputs_of("") == ["previous"]
    assert inputs_of("none {{ x }}") == []


async def test_all_occurrences_are_replaced_and_a_blank_prompt_is_what_came_before() -> None:
    """AF01, AF02."""
    assert await filled("Say: {{PREVIOUS_OUTPUT}}/{{PREVIOUS_OUTPUT}}", previous="hi") == "Say: hi/hi"
    for prompt in ("", " \n"):
        assert await filled(prompt, previous="abc") == "abc"


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


async def test_each_agent_is_prompted_with_what_the_one_before_it_said() -> None:
    with Flow("chain") as flow:
        text: Any = flow.input("text", str)
        for name in ("a", "b"):
            config = Prompt(prompt=f"{name}: {{{{PREVIOUS_OUTPUT}}}}")
            asked = flow.add(fill_prompt, previous=text, config=config).out
            text = flow.add(
                node(chat).with_(name=name), prompt=asked, config=Chat(model="openai/gpt")
            ).out.text
        flow.output("out", text)
    with scripted("{{PREVIOUS_OUTPUT}}", "done") as script:
        assert (await flow.run(text="hi"))["out"] == "done"
    sent = [request.messages[-1].content for request in script.requests]
    assert sent == ["a: hi", "b: {{PREVIOUS_OUTPUT}}"]
