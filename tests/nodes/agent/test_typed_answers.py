"""Answers of a type: the schema that a model is given, the value that comes, and what does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dataflow import Diagnostic, Flow, RunFailed, ValueMismatch
from dataflow.authoring import check_json, json_schema
from dataflow_agent import AnswerUnfit, Chat, chat, scripted
from dataflow_agent.models.calls import AnswerType


class Verdict(BaseModel):
    is_approved: bool
    reasons: list[str] = []


SCHEMA = {
    "type": "object",
    "properties": {
        "is_approved": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0},
        "notes": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer"}}}},
    },
    "required": ["is_approved"],
}


def asking(answer: Any) -> Flow:
    with Flow("f") as flow:
        step = flow.add(chat, prompt="Is it good?", config=Chat(model="openai/gpt", answer=answer))
        flow.output("answer", step.out.answer)
        flow.output("context", step.out.context)
    return flow


async def answered(answer: Any, *answers: Any) -> Any:
    with scripted(*answers):
        return (await asking(answer).run())["answer"]


async def test_an_answer_is_a_value_of_its_type() -> None:
    late = Verdict(is_approved=False, reasons=["late"])
    cases: list[Any] = [
        (Verdict, Verdict(is_approved=True), Verdict(is_approved=True)),
        (Verdict, '{"is_approved": false, "reasons": ["late"]}', late),
        (list[int], [1, 2], [1, 2]),  # what is no object is asked for in a field
        (Literal["yes", "no"], '{"answer": "yes"}', "yes"),
        ("integer", '{"answer": 3}', 3),
    ]
    for kind, answer, value in cases:
        assert await answered(kind, answer) == value


FIELD_OF_ITS_OWN = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


async def test_a_field_that_a_schema_calls_answer_is_a_field_like_any_other() -> None:
    cases: list[Any] = ['{"answer": "x"}', {"answer": "x"}]
    for answer in cases:
        with scripted(answer) as script:
            assert (await asking(FIELD_OF_ITS_OWN).run())["answer"] == {"answer": "x"}
        assert (script.requests[0].schema, script.requests[0].is_wrapped) == (FIELD_OF_ITS_OWN, False)


async def test_the_model_is_given_the_schema() -> None:
    with scripted(Verdict(is_approved=True), [Verdict(is_approved=True).model_dump()]) as script:
        await asking(Verdict).run()
        await asking(list[Verdict]).run()
    plain, listed = (request.schema or {} for request in script.requests)
    assert plain == json_schema(Verdict)
    assert [request.is_wrapped for request in script.requests] == [False, True]
    assert listed["required"] == ["answer"]
    assert listed["properties"]["answer"]["items"] == {"$ref": "#/$defs/Verdict"}
    assert listed["$defs"]["Verdict"]["title"] == "Verdict"


async def test_a_schema_of_a_document_is_checked_in_its_fields_and_the_turn_has_what_was_written() -> None:
    fits = {"is_approved": True, "score": 1.5, "notes": [{"line": 1}, {}], "more": None}
    with scripted(json.dumps(fits, indent=2)) as script:
        result = await asking(SCHEMA).run()
    assert result["answer"] == fits
    assert result["context"].message_history[-1].content == json.dumps(fits, indent=2)
    assert script.requests[0].schema == SCHEMA


async def test_an_answer_that_does_not_fit_tells_what_was_found() -> None:
    cases: list[Any] = [
        (Verdict, "[true]", "", "dict[str, Any]"),
        (Verdict, '{"is_approved": 1}', ".is_approved", "a valid boolean"),
        (Verdict, "{}", ".is_approved", "a value"),
        (list[int], "{}", "", "a value"),
        (list[int], '{"answer": ["1"]}', "[0]", "a valid integer"),
        (SCHEMA, '{"score": 1}', ".is_approved", "a value"),
        (SCHEMA, '{"is_approved": true, "score": -1}', ".score", "at least 0"),
        (SCHEMA, '{"is_approved": true, "notes": [{"line": "1"}]}', ".notes[0].line", "integer"),
    ]
    for answer, text, place, expected in cases:
        problem = await misfit(answer, text)
        assert (problem.code, problem.place) == ("DF2119", f"model 'openai/gpt': answer{place}")
        assert problem.expected == expected
        assert problem.hint == f"the model has answered {text!r}"
    for text, shown in (("Yes!", "'Yes!'"), ("x" * 1000, f"'{'x' * 88}... 824 characters ...{'x' * 88}'")):
        problem = await misfit(SCHEMA, text)
        assert (problem.code, problem.found) == ("DF2118", shown)


async def misfit(answer: Any, text: str) -> Diagnostic:
    """Return the problem of an answer that does not fit."""
    with pytest.raises(RunFailed) as caught:
        await answered(answer, text)
    assert isinstance(caught.value.__cause__, AnswerUnfit)
    return caught.value.__cause__.diagnostics[0]


def test_a_flow_with_a_typed_answer_is_written_as_a_document_and_read_back(tmp_path: Path) -> None:
    cases: list[Any] = ["integer", SCHEMA, list[int], {"type": "array", "items": {"type": "string"}}]
    for answer in cases:
        with Flow("f") as flow:
            flow.add(chat, prompt="n?", config=Chat(model="a/b", answer=answer))
        file = tmp_path / "f.json"
        file.write_text(json.dumps(flow.to_dict()), encoding="utf-8")
        assert Flow.load(file).to_dict() == flow.to_dict()


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(values)
def test_what_comes_is_of_the_type_or_refused(value: object) -> None:
    expected = AnswerType(list[int | str], json_schema(list[int | str]))
    text = json.dumps({"answer": value})
    try:
        found = expected.read("a/b", text)
    except AnswerUnfit:
        with pytest.raises(ValueMismatch):
            check_json(value, list[int | str])
    else:
        assert found == value
