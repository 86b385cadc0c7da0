"""Messages that say what to do: ports used as values, optional values, tabs, broken packs, shared codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dataflow import Flow, FlowInvalid, FormatError, PackError, PortMisuse, Store
from dataflow.authoring import Kind, read_data
from dataflow.cli import main
from dataflow.cli.json_output import json_line
from dataflow.cli.targets import find_flow


class Pair(NamedTuple):
    a: int
    b: int


async def pair() -> Pair:
    return Pair(1, 2)


async def maybe() -> int | None:
    return None


async def plain(x: int) -> int:
    return x


def test_a_port_that_is_taken_apart_or_connected_says_how_it_is_written() -> None:
    flow = Flow("f")
    step = flow.add(pair)
    connect: Any = flow.connect
    for use, word in (
        (lambda: [*step.out], "step.out."),
        (lambda: connect(step.out, "plain.x"), "connect('"),
        (lambda: connect(step, "plain.x"), "connect('"),
        (lambda: connect("pair", step.out), "connect('"),
    ):
        with pytest.raises(PortMisuse) as misused:
            use()
        assert (misused.value.problem.code, word in misused.value.problem.hint) == ("DF0201", True)


def test_an_optional_value_into_a_plain_port_advises_fallback() -> None:
    flow = Flow("f")
    flow.output("o", flow.add(plain, x=flow.add(maybe).out).out)  # type: ignore[arg-type]
    [problem] = flow.check()
    assert (problem.code, "fallback" in problem.hint) == ("DF0308", True)


@pytest.mark.parametrize(
    ("text", "word"), [("a: b\n\tc: d", "tab"), ("a:\n\t- 1", "tab"), ("a:\n  b: 1\n c: 2", "indentation")]
)
def test_wrong_indentation_is_named(text: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(text)
    with pytest.raises(FormatError) as refused:
        read_data(tmp_path / "f.yaml")
    assert (refused.value.problem.code, word in refused.value.problem.text) == ("DF0105", True)


def test_a_syntax_error_has_its_whole_path(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("x = (\n")
    with pytest.raises(PackError) as refused:
        find_flow(str(file))
    assert f"({file}, line 1)" in str(refused.value)


def test_a_file_that_is_missing_is_reported_once(tmp_path: Path) -> None:
    nodes = "{a: {type: own.x}, b: {type: own.y}, c: {loop: {limit: 1, nodes: {d: {type: own.x}}}}}"
    (tmp_path / "f.yaml").write_text(f"dataflow: 1\nuses: {{own: ./no.py}}\nnodes: {nodes}\n")
    with pytest.raises(FlowInvalid) as refused:
        Flow.load(tmp_path / "f.yaml")
    [problem] = refused.value.problems
    assert (problem.code, problem.location.line, problem.place) == ("DF0142", 2, "uses own")
    (tmp_path / "no.py").write_text("x = 1")
    with pytest.raises(FlowInvalid) as refused:
        Flow.load(tmp_path / "f.yaml")
    assert {(one.code, one.location.line) for one in refused.value.problems} == {("DF0144", 3)}


def test_json_has_no_character_that_controls_a_terminal() -> None:
    line = json_line({"a": "x\x9b31m\x7f\x85é"}, "utf-8")
    assert re.search("[\x00-\x1f\x7f-\x9f]", line) is None
    assert json.loads(line) == {"a": "x\x9b31m\x7f\x85é"}


def test_a_code_of_two_packs_is_explained_for_both(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (
        Kind("QX0001", "x", meaning=f"of {name}", example="x", cure="x") for name in ("red", "blue")
    )
    monkeypatch.setattr(
        "dataflow.packs.registry.installed_diagnostics", lambda: {"pack red": (one,), "pack blue": (other,)}
    )
    for arguments in (["explain", "QX0001"], ["explain", "QX0001", "--json"], ["explain", "DF0601"]):
        with pytest.raises(SystemExit) as ended:
            raise SystemExit(main(arguments))
        out, err = capsys.readouterr()
        assert ("DF1440" in err and "pack red and pack blue" in err) == ("QX0001" in arguments)
        assert not ended.value.code
        assert ("of red" in out and "of blue" in out) == ("QX0001" in arguments)


def test_a_resumed_run_counts_the_items_of_its_maps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.py").write_text("""
from dataflow import Flow, collect, each

with Flow("f") as flow:
    flow.output("o", collect(flow.ask(int, "?", name="q", show=each([1, 2])).out))
""")
    for arguments in (["run", "f.py"], ["resume", "", "q[0]=1", "q[1]=2"]):
        runs = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs() if arguments[0] == "resume" else []
        arguments[1] = arguments[1] or runs[0].id
        with pytest.raises(SystemExit):
            raise SystemExit(main(arguments))
    assert re.search(r"^done +q +2 items", capsys.readouterr().err, re.MULTILINE)
