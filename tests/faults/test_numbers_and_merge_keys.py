"""F-I07, F-I09: numbers that no float holds are refused where they enter, and merge keys of YAML as such."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, FormatError, Store
from dataflow.authoring import read_data
from dataflow.cli import main

FLOW: Final = """
dataflow: 1
inputs: {n: {type: number, default: 1}}
nodes: {ask: {type: control.ask, config: {prompt: "?", type: {type: number}}}}
outputs: {n: $in.n, o: ask}
"""
LARGE: Final = ("1e999", "-1e999", "1" + "0" * 400 + ".0")


def codes(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(list(arguments)))
    return int(ended.value.code or 0), re.findall(r"\b(DF\d{4})\b", capsys.readouterr().err)


@pytest.mark.parametrize("number", [*LARGE, "NaN", "Infinity", "[1e999]"])
def test_they_are_refused_as_inputs_changes_and_answers(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.yaml").write_text(FLOW)
    (tmp_path / "n.json").write_text(number)
    assert codes(capsys, "run", "f.yaml", "--input", f"n={number}") == (2, ["DF1419"])
    assert codes(capsys, "run", "f.yaml", "--input", "n=@n.json") == (2, ["DF1419"])
    codes(capsys, "run", "f.yaml")
    [run] = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()
    assert codes(capsys, "fork", run.id, "--change", f"$in.n={number}")[0] == 2
    assert codes(capsys, "answer", run.id, f"ask={number}")[0] == 2


@pytest.mark.parametrize("number", LARGE)
@pytest.mark.parametrize("name", ["f.yaml", "f.json"])
def test_they_are_refused_in_documents_and_data(number: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f'{{"dataflow": 1, "meta": {{"n": {number}}}}}')
    for read in (Flow.load, read_data):
        with pytest.raises(FormatError) as refused:
            read(tmp_path / name)
        assert refused.value.problem.code == "DF0192"
        assert refused.value.diagnostics[0].location.line == 1
    (tmp_path / "g.yaml").write_text("dataflow: 1\nmeta: {n: .inf, m: 1e300}\n")
    assert Flow.load(tmp_path / "g.yaml").to_dict()["meta"]["n"] == float("inf")


MERGED: Final = {
    "of a node": "nodes:\n  a: &a {type: control.template, config: {template: x}}\n  b: {<<: *a}",
    "of a config": "nodes:\n  a: {type: control.template, config: &c {template: x}}\n"
    "  b: {type: control.template, config: {<<: *c}}",
    "of a list": "meta: {a: &a {x: 1}, b: &b {y: 1}, c: {<<: [*a, *b]}}",
    "of nothing": "meta: {<<: {x: 1}}",
}


@pytest.mark.parametrize("document", MERGED.values(), ids=MERGED.keys())
def test_merge_keys_are_refused_as_such(document: str, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(f"dataflow: 1\n{document}\n")
    with pytest.raises(FormatError) as refused:
        Flow.load(tmp_path / "f.yaml")
    assert refused.value.problem.code == "DF0193"
    assert refused.value.problem.hint


def test_aliases_and_keys_in_quotes_are_read(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text('dataflow: 1\nmeta: {a: &a {x: 1}, b: *a, "<<": 2}\n')
    meta = Flow.load(tmp_path / "f.yaml").to_dict()["meta"]
    assert meta == {"a": {"x": 1}, "b": {"x": 1}, "<<": 2}
