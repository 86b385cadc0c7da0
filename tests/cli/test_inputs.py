from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from dataflow.cli.arguments import read_inputs
from dataflow.cli.output import ExitCode, Refused
from dataflow.core.wiring import FlowInput
from dataflow.secrets.secret import Secret


class Point(BaseModel):
    x: int


def read(type: object, text: str) -> Any:
    return read_inputs({"x": FlowInput(type)}, [f"x={text}"])["x"]


def problem(declared: Mapping[str, FlowInput], *given: str, prompt: str | None = None) -> str:
    with pytest.raises(Refused) as caught:
        read_inputs(declared, given, prompt)
    assert caught.value.code is ExitCode.USAGE
    return str(caught.value)


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (str, "5", "5"),
        (str, '"quoted"', '"quoted"'),
        (str, "", ""),
        (str, "a=b", "a=b"),
        (Annotated[str, Field(max_length=9)], "true", "true"),
        (int, "5", 5),
        (float, "5", 5.0),
        (bool, "true", True),
        (list[int], "[1, 2]", [1, 2]),
        (tuple[int, ...], "[1, 2]", (1, 2)),
        (dict[str, Any], '{"a": null}', {"a": None}),
        (Point, '{"x": 1}', Point(x=1)),
        (Any, '{"a": [1]}', {"a": [1]}),
        (date, "2026-02-28", date(2026, 2, 28)),
        (date, '"2026-02-28"', date(2026, 2, 28)),
        (Literal["slow", "fast"], "fast", "fast"),
        (str | None, "null", None),
        (str | None, "Ada", "Ada"),
        (str | None, '"5"', "5"),
    ],
)
def test_a_value_is_read_by_the_type_of_its_input(type: object, text: str, value: object) -> None:
    found = read(type, text)
    assert found == value
    assert found.__class__ is value.__class__


@pytest.mark.parametrize(
    ("type", "text", "told"),
    [
        (int, "five", "input 'x': expected int, written as JSON; 'five' is no JSON (Expecting value"),
        (int, '"5"', "input 'x': expected int, found str '5'"),
        (int, "true", "input 'x': expected int, found bool True"),
        (int, "1.5", "input 'x': expected int, found float 1.5"),
        (float, "NaN", "NaN is no JSON number"),
        (list[int], "[1", "input 'x': expected list[int], written as JSON"),
        (Any, "text", "input 'x': expected Any, written as JSON"),
        (Literal["slow", "fast"], "fats", "input 'x': expected slow or fast; found 'fats'"),
        (
            Literal["slow"] | int,
            "fats",
            "expected slow, or Literal['slow'] | int, written as JSON; found 'fats'",
        ),
        (str | None, "5", "input 'x': expected str | None, found int 5"),
        (Annotated[str, Field(max_length=2)], "long", "input 'x': expected str"),
        (int, "[" * 100_000, "input 'x': the JSON is nested too deeply"),
        (int, "1" * 5000, "input 'x': expected int"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(type: object, text: str, told: str) -> None:
    assert told in problem({"x": FlowInput(type)}, f"x={text}")


def test_an_input_may_be_the_text_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes("\ufeffZoë\r\n".encode())
    assert read(str, f"@{file}") == "Zoë\r\n"
    file.write_text("[1, 2]")
    assert read(list[int], f"@{file}") == [1, 2]


def test_a_file_that_is_not_there_or_is_no_text_is_told(tmp_path: Path) -> None:
    assert "input 'x': cannot be read: No such file or directory: " in problem(
        {"x": FlowInput(str)}, f"x=@{tmp_path / 'nothing'}"
    )
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert "input 'x': is no UTF-8 text" in problem({"x": FlowInput(str)}, f"x=@{tmp_path / 'bytes'}")


def test_an_input_may_be_what_stands_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"[1]")
    assert read(list[int], "-") == [1]
    monkeypatch.setattr(sys, "stdin", None)
    assert "input 'x': standard input is closed" in problem({"x": FlowInput(str)}, "x=-")


def test_standard_input_is_read_for_one_input_only() -> None:
    declared = {"x": FlowInput(str), "prompt": FlowInput(str)}
    assert "for one input only" in problem(declared, "x=-", prompt="-")


def test_every_problem_is_told_at_once() -> None:
    declared = {"a": FlowInput(int), "b": FlowInput(int), "c": FlowInput(int)}
    assert problem(declared, "a=1", "a=2", "b", "=3", "d=4").splitlines() == [
        "--input a: given twice",
        "--input b: write NAME=VALUE",
        "--input =3: write NAME=VALUE",
        "--input d: there is no such input; choices: a, b, c",
        "input 'b' is required: give --input b=VALUE",
        "input 'c' is required: give --input c=VALUE",
    ]
    assert len(problem(declared, "a=x", "b=y", "c=1").splitlines()) == 2


def test_a_default_stands_in_for_what_is_not_given() -> None:
    assert read_inputs({"a": FlowInput(int, 1), "b": FlowInput(int, None)}, ["a=2"]) == {"a": 2}


@pytest.mark.parametrize(
    "declared",
    [
        {"prompt": FlowInput(str), "other": FlowInput(str, "")},
        {"prompt": FlowInput(str, ""), "other": FlowInput(str, "")},
        {"only": FlowInput(str), "other": FlowInput(str, "")},
    ],
)
def test_a_prompt_is_the_input_of_that_name_or_the_only_required_one(
    declared: Mapping[str, FlowInput],
) -> None:
    assert read_inputs(declared, [], "ho") == {next(iter(declared)): "ho"}


def test_a_prompt_goes_to_prompt_where_other_inputs_are_required() -> None:
    declared = {"a": FlowInput(str), "prompt": FlowInput(int, 0)}
    assert read_inputs(declared, ["a=x"], "5") == {"a": "x", "prompt": 5}


def test_a_prompt_names_no_file() -> None:
    assert read_inputs({"a": FlowInput(str)}, [], "@ada") == {"a": "@ada"}


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({}, "requires no input"),
        ({"a": FlowInput(str, "")}, "requires no input; use --input (choices: a)"),
        ({"a": FlowInput(str), "b": FlowInput(str)}, "requires a, b; use --input (choices: a, b)"),
    ],
)
def test_a_prompt_that_could_be_any_input_is_refused(declared: Mapping[str, FlowInput], told: str) -> None:
    reason = "PROMPT is for the input 'prompt' or the only required one; this flow "
    assert f"{reason}{told}" in problem(declared, prompt="ho")


def test_a_prompt_and_an_input_are_not_given_both() -> None:
    assert "as PROMPT and as --input" in problem({"a": FlowInput(str)}, "a=x", prompt="y")


@pytest.mark.parametrize("kind", [Secret, Secret | None, Annotated[Secret, "of the mail"]])
@pytest.mark.parametrize(
    "text", ["hunter2hunter2", '"hunter2hunter2"', "hunter2 hunter2", "hunter2hunter2\n"]
)
def test_what_is_no_name_of_a_secret_is_refused_and_not_repeated(kind: object, text: str) -> None:
    told = problem({"token": FlowInput(kind)}, f"token={text}")
    assert told.startswith("input 'token': a secret is given by its name")
    assert "hunter2" not in told


def test_a_secret_is_given_by_a_name_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_TOKEN", "tok-123456")
    assert read(Secret, "MAIL_TOKEN") == read(Secret | None, '"MAIL_TOKEN"') == Secret("MAIL_TOKEN")
    assert read(Secret | None, "null") is None


def test_a_secret_that_is_too_short_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_TOKEN", "tok")
    assert "secret 'MAIL_TOKEN' is too short" in problem({"x": FlowInput(Secret)}, "x=MAIL_TOKEN")
