"""`run` with inputs, with a part of its outputs, with a bound, traced, and what its nodes have used."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from dataflow import Event, EventKind, Failure, Flow
from dataflow.cli.arguments import read_inputs
from dataflow.cli.options import Options
from dataflow.cli.output import ExitCode, Refused
from dataflow.cli.report import Outcome, output_text, tell_outcome
from dataflow.cli.session import Used
from dataflow.core.policy import Settings
from dataflow.core.wiring import FlowInput
from dataflow.runtime.result import Result
from dataflow.secrets.secret import Secret
from tests.cli.conftest import Cli


def test_a_single_output_is_written_bare(cli: Cli) -> None:
    assert cli("run", ":rounds", "--output", "title").out == "words\n"
    assert (
        cli("run", ":passes", "--output", "out", "--input", 'x={"a": [1, null]}').out == '{"a": [1, null]}\n'
    )


def test_several_outputs_are_written_with_their_names_in_the_order_asked_for(cli: Cli) -> None:
    done = cli("run", ":wide", "--output", "out7", "--output", "out3", "--output", "out7")
    assert done.out == "out7: 7\nout3: 3\n"
    assert cli("run", ":wide", "--output", "out3", "--json").json["outputs"] == {"out3": 3}


def test_a_pulled_port_runs_only_what_it_needs(cli: Cli) -> None:
    done = cli("run", ":rounds", "--pull", "split.title")
    assert (done.code, done.out) == (0, "words\n")
    assert [line.split()[:2] for line in done.err.splitlines()] == [["done", "split"], ["completed", "in"]]


def test_a_pulled_output_is_called_by_its_name(cli: Cli) -> None:
    assert cli("run", ":rounds", "--pull", "title", "--json").json["outputs"] == {"title": "words"}
    assert cli("run", ":rounds", "--pull", "split.title", "--json").json["outputs"] == {
        "split.title": "words"
    }


def test_wrong_usage_of_options(cli: Cli) -> None:
    refused: dict[tuple[str, ...], str] = {
        ("--output", "nothing"): "DF1406",
        ("--pull", "hello.nothing"): "--pull hello.nothing",
        ("--pull", "."): "--pull .",
        ("--pull", "text", "--output", "text"): "DF1409",
        ("--pull", "text", "--pull", "hello"): "DF1410",
        ("--max-concurrency", "0"): "Error: Invalid value for '--max-concurrency'",
        ("--max-concurrency", "many"): "Error: Invalid value for '--max-concurrency'",
    }
    for arguments, told in refused.items():
        done = cli("run", ":greet", "Ada", *arguments)
        assert (done.code, done.out) == (2, "")
        assert told in done.err


def test_the_other_settings_of_a_flow_stay() -> None:
    flow = Flow("f").using(errors="continue", max_concurrency=7, timeout=9.0, keep=False)
    limited = Options(max_concurrency=2).settled(flow, None)
    assert limited.settings == Settings("continue", 2, None, 9.0, keep=False)


def test_a_trace_tells_what_nodes_were_given_and_gave(cli: Cli) -> None:
    done = cli("run", ":greet", "Ada", "--trace")
    assert done.out == "text: hello Ada\n"
    assert done.err.splitlines()[1:-1] == ["    name = 'Ada'", "    times = 1", "    -> out = 'hello Ada'"]
    lines = cli("run", ":rounds", "--trace").err.splitlines()
    items = [place for place, line in enumerate(lines) if "refine[1]/shout[3]" in line]
    assert [lines[place + 1 : place + 3] for place in items] == [["    word = 'fox'", "    -> out = 'FOX'"]]
    assert "DF0601 hello.name" in cli("run", ":misfit", "--trace").err


def test_a_trace_shortens_and_tells_of_failures_and_skips(cli: Cli) -> None:
    failing = cli("run", ":several", "--trace").err
    assert "    -> out failed: ValueError: left side" in failing
    assert "    -> out skipped: " in cli("run", ":skips", "--trace").err
    long = cli("run", ":passes", "--trace", "--input", f'x="{"y" * 500}"').err
    assert max(map(len, long.splitlines())) < 120


def test_a_trace_tells_of_attempts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("async def no(x: int) -> int:\n    raise ValueError('no luck')\n")
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nuses: {own: ./own.py}\n"
        "nodes: {n: {type: own.no, values: {x: 1}, policy: {retry: {retries: 1}}}}\noutputs: {out: n}\n"
    )
    done = cli("run", str(tmp_path / "f.yaml"), "--trace")
    assert "attempt 1 of n failed: ValueError: no luck" in done.err.splitlines()


def test_what_nodes_log_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nnodes:\n"
        "  low: {type: control.log, values: {value: low}, config: {level: debug}}\n"
        "  high: {type: control.log, values: {value: a}, config: {level: error, message: '{{ value }}!'}}\n"
    )
    told = [line for line in cli("run", str(tmp_path / "f.yaml")).err.splitlines() if "done" not in line]
    assert told[0] == "error: high: a!"
    assert len(told) == 2  # and how the run ended


def test_why_a_failure_was_handled_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("async def no(x: int) -> int:\n    raise ValueError('no luck')\n")
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nuses: {own: ./own.py}\n"
        "nodes: {n: {type: own.no, values: {x: 1}, policy: {default: 7}}}\noutputs: {out: n}\n"
    )
    done = cli("run", str(tmp_path / "f.yaml"))
    assert done.out == "out: 7\n"
    assert done.err.splitlines()[0].split("  ")[-1] == "(n failed: ValueError: no luck)"


def test_a_document_finds_the_modules_beside_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "beside_document.py").write_text("async def one() -> int:\n    return 1\n")
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nnodes: {n: {type: 'beside_document:one'}}\noutputs: {out: n}\n"
    )
    assert cli("run", str(tmp_path / "f.yaml")).out == "out: 1\n"
    assert cli("check", str(tmp_path / "f.yaml")).out.endswith("beside_document:one\n")


def event(kind: EventKind, path: str, **data: Any) -> Event:
    return Event(1, datetime.now(UTC), "run", kind, path, data)


def finished(path: str, usage: Any = None) -> Event:
    return event(EventKind.NODE_FINISHED, path, metadata={} if usage is None else {"usage": usage})


def told(*events: Event) -> str:
    used = Used()
    for one in events:
        used.see(one)
    return used.text()


def test_numbers_of_one_name_are_added_up() -> None:
    assert told() == told(finished("a")) == told(finished("a", {"tokens": 0, "cost": 0.0})) == ""
    usage = {"input_tokens": 1_200, "output_tokens": 3, "cost": 0.00025}
    text = told(finished("a", usage), finished("b"), finished("c[0]", {**usage, "cost": None}))
    assert text == "2,400 input tokens, 6 output tokens, 0.00025 cost"


@pytest.mark.parametrize(
    "odd", [3, "all", {"tokens": "3"}, {"tokens": True}, {"tokens": float("nan")}, {3: 3}]
)
def test_what_is_no_number_with_a_name_is_passed_over(odd: Any) -> None:
    assert told(finished("a", odd), finished("b", {"tokens": 1})) == "1 tokens"


def test_a_run_tells_what_its_models_used(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "answers.yaml").write_text("[one two, three]", encoding="utf-8")
    file = tmp_path / "talk.yaml"
    file.write_text(
        "dataflow: 1\nnodes:\n"
        "  a: {type: agent.chat, values: {prompt: good morning}, config: {model: a/b}}\n"
        "  b: {type: agent.chat, inputs: {prompt: a.text}, config: {model: a/b}}\n"
        "outputs: {text: b.text}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("DATAFLOW_SCRIPTED", str(tmp_path / "answers.yaml"))
    done = cli("run", str(file), "--json")
    assert done.err.splitlines()[-2] == "used 4 input tokens, 3 output tokens"
    usage = {"input_tokens": 2, "output_tokens": 2, "cost": 0.0}
    assert done.json["metadata"]["a"] == {"model": "a/b", "finish_reason": "stop", "usage": usage}
    assert [*done.json["metadata"]] == ["a", "b"]


def outcome(status: Any, failures: Sequence[Failure] = (), warnings: Sequence[str] = ()) -> Outcome:
    nothing: Any = None
    return Outcome(Result("id", status, {}, warnings, _plan=nothing, _root=nothing), failures, 1.25)


def failure(number: int, message: str = "no", attempt: int = 1) -> Failure:
    return Failure(f"n{number}", f"n{number}", attempt, "ValueError", message, "the traceback\n")


def test_of_many_failures_and_warnings_only_some_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    many = outcome("failed", [failure(number) for number in range(30)], [f"w{n}" for n in range(30)])
    tell_outcome(many, Options())
    lines = capsys.readouterr().err.splitlines()
    assert lines[19:22] == ["warning: w19", "warning: and 10 more", "n0: ValueError: no"]
    assert lines[-2:] == ["and 10 more failures", "failed: n0: ValueError: no (and 29 more)"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one line\n", "out: one line"),
        ("two\n\nlines", "out:\n  two\n\n  lines"),
        ("", "out: "),
        (5, "out: 5"),
        (["é", None], 'out: ["é", null]'),
    ],
)
def test_an_output_stands_beside_its_name_or_below_it(value: object, text: str) -> None:
    assert output_text("out", value, shorten=False) == text
    assert output_text("out", value, shorten=True) == text


def test_a_long_output_is_shortened_on_a_terminal_only() -> None:
    long = "\n".join(f"line {number}\x1b" for number in range(1000))
    assert output_text("out", long, shorten=False).count("\n") == 1000
    *lines, note = output_text("out", long, shorten=True).splitlines()
    assert lines == ["out:", *(f"  line {number}\\x1b" for number in range(20))]
    assert note == "  ... (9,889 characters; --full or --json gives them all)"
    assert len(output_text("out", "x" * 10_000, shorten=True)) < 2_200


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
        (str, "5", "5"), (str, '"quoted"', '"quoted"'), (str, "", ""), (str, "a=b", "a=b"),
        (Annotated[str, Field(max_length=9)], "true", "true"),
        (int, "5", 5), (float, "5", 5.0), (bool, "true", True), (list[int], "[1, 2]", [1, 2]),
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
)  # fmt: skip
def test_a_value_is_read_by_the_type_of_its_input(type: object, text: str, value: object) -> None:
    found = read(type, text)
    assert found == value
    assert found.__class__ is value.__class__


def test_a_value_of_the_wrong_type_is_refused(subtests: pytest.Subtests) -> None:
    refused: list[tuple[Any, str, str]] = [
        (int, "five", "DF1419"), (int, '"5"', "DF0601"), (int, "true", "DF0601"), (int, "1.5", "DF0601"),
        (float, "NaN", "DF1419"), (list[int], "[1", "DF1419"), (Any, "text", "DF1419"),
        (Literal["slow", "fast"], "fats", "DF1420"),
        (Literal["slow"] | int, "fats", "DF1420"),
        (str | None, "5", "DF0601"),
        (Annotated[str, Field(max_length=2)], "long", "DF0601"),
        (int, "[" * 100_000, "DF1421"),
        (int, "1" * 5000, "DF1419"),
    ]  # fmt: skip
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
