"""Files that are not documents, and hostile documents and Python files."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from dataflow import DataflowError, Flow, FlowInvalid
from dataflow.formats.reader import MOST_BYTES
from dataflow.inspection.drawing import dot, mermaid, outline
from dataflow.loading import read_document
from tests.support.codes import located

USES = "dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}}\n"


def refusal(path: Path) -> DataflowError:
    with pytest.raises(DataflowError) as raised:
        Flow.load(path)
    return raised.value


def test_invalid_files_are_refused_at_their_position(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    for data, problem in {
        b"\xff\xfed\x00": "1:1 DF0102",
        "dataflow: 1\nname: é\n".encode("latin-1"): "2:7 DF0102",
        b"\xef\xbb\xbfa\r\n\xc3\xa9\xff": "2:2 DF0102",
        b"": "1:1 DF0104",
        b"\x00": "1:1 DF0107",
        b"[" * 900: "1:101 DF0116",
        b"- " * 1_000: "1:201 DF0116",
        b"a\n" * (MOST_BYTES // 2) + b"b": f"{MOST_BYTES // 2 + 1}:1 DF0103",
    }.items():
        file.write_bytes(data)
        error = refusal(file)
        assert located(error) == [problem]
        assert error.diagnostics[0].location.file == str(file)


def test_a_document_of_ten_megabytes_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    text = b"dataflow: 1\n#".ljust(MOST_BYTES, b"-")
    for data in (text, b"\xef\xbb\xbf" + text):
        (tmp_path / "flow.yaml").write_bytes(data)
        assert Flow.load(tmp_path / "flow.yaml").check() == []


def test_a_pipe_without_a_writer_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "flow.yaml").write_text("dataflow: 1\nnodes: {a: {flow: pipe}}\n")
    assert located(refusal(tmp_path / "pipe")) == ["DF0101"]
    assert located(refusal(tmp_path / "flow.yaml")) == [f"2:13 DF0101 nodes.a.flow: {tmp_path / 'pipe'}"]


def test_any_error_of_a_used_file_is_a_problem(tmp_path: Path) -> None:
    long = "ValueError: one two \\x1b[2J" + 227 * "x" + "... 34 characters ..." + 239 * "x"
    for number, (python, problem) in enumerate(
        {
            "raise GeneratorExit": "imported: GeneratorExit",
            "import asyncio\nraise asyncio.CancelledError('no')": "imported: CancelledError: no",
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E": (
                "imported: E: (its text cannot be made: ValueError)"
            ),
            "raise ValueError('one\\n two \\x1b[2J' + 500 * 'x')": f"imported: {long}",
            "def f(): f()\nf()": "imported: RecursionError: maximum recursion depth exceeded",
        }.items()
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "own.py").write_text(python)
        (folder / "flow.yaml").write_text(USES)
        error = refusal(folder / "flow.yaml")
        assert isinstance(error, FlowInvalid)
        assert len(error.problems) == 1
        assert problem in str(error), python


def test_a_file_that_empties_the_path_of_modules_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = list(sys.path)
    (tmp_path / "own.py").write_text(
        "import sys\nsys.path.remove(sys.path[0])\nasync def f() -> int: return 1\n"
    )
    (tmp_path / "flow.yaml").write_text(USES)
    assert Flow.load(tmp_path / "flow.yaml").check() == []
    assert sys.path == before


def test_a_file_with_a_name_too_long_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(USES.replace("./own.py", f"./{'x' * 300}.py"))
    assert "DF0142" in str(refusal(tmp_path / "flow.yaml"))


def test_invisible_characters_in_names_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(
        r'{"dataflow": 1, "nodes": {"a\n\u001b[2J\u202e\u2028": {"type": "t", "inputs": {"x": "b"}}}}'
    )
    flow = Flow.from_wiring(*read_document(tmp_path / "flow.json", Flow.from_wiring, imports=False))
    name = r"a\n\x1b[2J\u202e\u2028"
    choice = r"a%0A\x1b%5B2J\u202e%E2%80%A8"  # as references write names
    [unknown] = [text for text in map(str, flow.check()) if choice in text]
    assert f"{name}.x" in unknown
    assert "1:80" in unknown
    for draw in (outline, mermaid, dot):
        assert r"a \x1b[2J\u202e\u2028" in draw(flow.wiring).replace("\\\\", "\\")


def test_a_name_as_long_as_a_document_is_shortened(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(
        f'{{"dataflow": 1, "nodes": {{"{"x" * 1_000_000}": {{"type": "t"}}}}}}'
    )
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(tmp_path / "flow.json")
    [problem] = raised.value.problems
    assert "1:1000032" in str(problem)
    assert re.search(r"xxx\.\.\. 99\d,\d{3} characters \.\.\.xxx", str(problem))
    assert len(str(problem)) < 2_100


def test_the_problems_of_10_000_nodes_are_all_reported(tmp_path: Path) -> None:
    nodes = ", ".join(f'"n{n}": {{"type": "no.such", "inputs": {{"x": "q{n}"}}}}' for n in range(10_000))
    (tmp_path / "flow.json").write_text(f'{{"dataflow": 1, "nodes": {{{nodes}}}}}')
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(tmp_path / "flow.json")
    assert len(raised.value.problems) == 20_000
