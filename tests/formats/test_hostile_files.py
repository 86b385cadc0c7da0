"""Files that are not documents, and hostile documents and Python files."""

from __future__ import annotations

import os
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
