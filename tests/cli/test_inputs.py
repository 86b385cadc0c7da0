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


def test_a_value_of_the_wrong_type_is_refused(subtests: pytest.Subtests) -> None:
    refused: list[tuple[Any, str, str]] = [
        (int, "five", "DF1419"),
        (int, '"5"', "DF0601"),
        (int, "true", "DF0601"),
        (int, "1.5", "DF0601"),
        (float, "NaN", "DF1419"),
        (list[int], "[1", "DF1419"),
        (Any, "text", "DF1419"),
        (Literal["slow", "fast"], "fats", "DF1420"),
        (Literal["slow"] | int, "fats", "DF1420"),
        (str | None, "5", "DF0601"),
        (Annotated[str, Field(max_length=2)], "long", "DF0601"),
        (int, "[" * 100_000, "DF1421"),
        (int, "1" * 5000, "DF1419"),
    ]
    for kind, text, code in refused:
        with subtests.test(text[:9]):
            assert problem({"x": FlowInput(kind)}, f"x={text}").startswith(f"{code} input 'x'")


def test_an_input_may_be_the_text_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes("\ufeffZoë\r\n".encode())
    assert read(str, f"@{file}") == "Zoë\r\n"
    file.write_text("[1, 2]")
    assert read(list[int], f"@{file}") == [1, 2]


def test_a_file_that_is_not_there_or_is_no_text_is_told(tmp_path: Path) -> None:
    assert "DF1417 input 'x'" in problem({"x": FlowInput(str)}, f"x=@{tmp_path / 'nothing'}")
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert "DF1418 input 'x'" in problem({"x": FlowInput(str)}, f"x=@{tmp_path / 'bytes'}")


def test_an_input_may_be_what_stands_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"[1]")
    assert read(list[int], "-") == [1]
    monkeypatch.setattr(sys, "stdin", None)
    assert "DF1417 input 'x'" in problem({"x": FlowInput(str)}, "x=-")


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


def test_a_prompt_that_could_be_any_input_is_refused() -> None:
    several: list[dict[str, FlowInput]] = [
        {},
        {"a": FlowInput(str, "")},
        {"a": FlowInput(str), "b": FlowInput(str)},
    ]
    for declared in several:
        assert problem(declared, prompt="ho").startswith("DF1416 ")


def test_every_problem_is_told_at_once() -> None:
    declared = {"a": FlowInput(int), "b": FlowInput(int), "c": FlowInput(int)}
    told = problem(declared, "a=1", "a=2", "b", "=3", "d=4").splitlines()
    assert [line[:6] for line in told] == ["DF1412", "DF1413", "DF1413", "DF1406", "DF1414", "DF1414"]
    texts = {"x": FlowInput(str), "prompt": FlowInput(str)}
    assert "DF1415" in problem(texts, "x=-", prompt="-")
    assert "DF1412 input 'x'" in problem({"x": FlowInput(str)}, "x=a", prompt="y")
    assert read_inputs({"x": FlowInput(str)}, [], "@ada") == {"x": "@ada"}


def test_what_is_no_name_of_a_secret_is_refused_and_not_repeated() -> None:
    kinds: list[Any] = [Secret, Secret | None, Annotated[Secret, "of the mail"]]
    for text in ("hunter2hunter2", '"hunter2hunter2"', "hunter2 hunter2", "hunter2hunter2\n"):
        for kind in kinds:
            told = problem({"token": FlowInput(kind)}, f"token={text}")
            assert told.startswith("DF1422 input 'token'")
            assert "hunter2" not in told


def test_a_secret_is_given_by_a_name_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_TOKEN", "tok-123456")
    assert read(Secret, "MAIL_TOKEN") == read(Secret | None, '"MAIL_TOKEN"') == Secret("MAIL_TOKEN")
    assert read(Secret | None, "null") is None
