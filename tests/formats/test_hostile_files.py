# ruff: noqa: E501 - messages are compared whole
"""Files that are no documents, and documents and Python files that mean no good: told with their place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dataflow import DataflowError, Flow, FlowInvalid, FormatError, PackError
from dataflow.cli.targets import find_flow
from dataflow.formats.reader import MOST_BYTES
from dataflow.inspection.drawing import dot, mermaid, outline
from dataflow.loading import read_document

USES = "dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}}\n"


def told(path: Path) -> str:
    with pytest.raises(DataflowError) as raised:
        Flow.load(path)
    return str(raised.value).replace(str(path.parent), "DIR")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xff\xfed\x00", "DIR/flow.yaml:1:1: is no UTF-8 text: found the byte 0xff"),
        (
            "dataflow: 1\nname: é\n".encode("latin-1"),
            "DIR/flow.yaml:2:7: is no UTF-8 text: found the byte 0xe9",
        ),
        (b"\xef\xbb\xbfa\r\n\xc3\xa9\xff", "DIR/flow.yaml:2:2: is no UTF-8 text: found the byte 0xff"),
        (b"", "DIR/flow.yaml:1:1: is empty"),
        (b"\x00", "DIR/flow.yaml:1:1: character U+0000 may not stand in YAML"),
        (b"[" * 900, "DIR/flow.yaml:1:101: nests deeper than 100 levels"),
        (b"- " * 1_000, "DIR/flow.yaml:1:201: nests deeper than 100 levels"),
        (b"a\n" * (MOST_BYTES // 2) + b"b", f"DIR/flow.yaml:{MOST_BYTES // 2 + 1}:1: is larger than 10 MB"),
    ],
    ids=["UTF-16", "Latin-1", "a mark", "empty", "NUL", "brackets", "dashes", "large"],
)
def test_what_is_no_text_of_a_document_is_told_with_its_place(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "flow.yaml").write_bytes(data)
    assert told(tmp_path / "flow.yaml") == text


def test_a_document_of_ten_megabytes_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    text = b"dataflow: 1\n#".ljust(MOST_BYTES, b"-")
    for data in (text, b"\xef\xbb\xbf" + text):
        (tmp_path / "flow.yaml").write_bytes(data)
        assert Flow.load(tmp_path / "flow.yaml").check() == []


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "flow.yaml").write_text("dataflow: 1\nnodes: {a: {flow: pipe}}\n")
    assert told(tmp_path / "pipe") == "DIR/pipe: cannot be read: it is no regular file"
    assert "DIR/pipe: cannot be read: it is no regular file" in told(tmp_path / "flow.yaml")


def test_a_device_that_never_ends_is_not_read() -> None:
    with pytest.raises(FormatError, match="DF0101"):
        Flow.load("/dev/zero")


def test_links_that_lead_to_one_another_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert told(tmp_path / "a") == "DIR/a: cannot be read: a loop of symbolic links"


@pytest.mark.parametrize(
    ("python", "problem"),
    [
        ("raise GeneratorExit", "uses own: DIR/own.py cannot be imported: GeneratorExit"),
        (
            "import asyncio\nraise asyncio.CancelledError('no')",
            "uses own: DIR/own.py cannot be imported: CancelledError: no",
        ),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            "uses own: DIR/own.py cannot be imported: E: (its text cannot be made: ValueError)",
        ),
        (
            "raise ValueError('one\\n two \\x1b[2J' + 500 * 'x')",
            (
                "uses own: DIR/own.py cannot be imported: ValueError: one two \\x1b[2J"
                f"{227 * 'x'}... 34 characters ...{239 * 'x'}"
            ),
        ),
        (
            "def f(): f()\nf()",
            "uses own: DIR/own.py cannot be imported: RecursionError: maximum recursion depth exceeded",
        ),
        (
            "class C:\n    def __call__(self): pass\n    def __getattr__(self, name): raise KeyError(name)\nf = C()",
            "own.f: its ports cannot be read: KeyError: 'func'",
        ),
        ("def f() -> int: ...", "f is no async function: use `async def`, or @threaded for code that blocks"),
    ],
)
def test_whatever_a_used_file_does_is_a_problem(tmp_path: Path, python: str, problem: str) -> None:
    (tmp_path / "own.py").write_text(python)
    (tmp_path / "flow.yaml").write_text(USES)
    assert told(tmp_path / "flow.yaml") == f"flow 'flow' has 1 problem:\n  - 3:13 node 'a': {problem}"


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


@pytest.mark.parametrize(
    ("uses", "problem"),
    [
        ("..own", "uses own: ..own is no Python file, and no name of a module"),
        (f"./{'x' * 300}.py", f"uses own: there is no file DIR/{'x' * 300}.py"),
        ("./.", "uses own: ./. is no Python file, and no name of a module"),
    ],
)
def test_what_uses_names_no_file_or_module_is_told(tmp_path: Path, uses: str, problem: str) -> None:
    (tmp_path / "flow.yaml").write_text(USES.replace("./own.py", uses))
    assert told(tmp_path / "flow.yaml").endswith(f"  - 3:13 node 'a': {problem}")


def test_a_file_that_loads_the_flow_that_uses_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from pathlib import Path\nfrom dataflow import Flow\n"
        "f = Flow.load(Path(__file__).parent / 'flow.yaml')\n"
    )
    (tmp_path / "flow.yaml").write_text(USES)
    with pytest.raises(PackError) as raised:
        find_flow(str(tmp_path / "own.py"))
    assert isinstance(raised.value.__cause__, FlowInvalid)
    reason = f"{tmp_path}/own.py is being imported, and has no such function yet"
    assert raised.value.__cause__.problems == (
        f"3:13 node 'a': own.f: {reason}; load the flow inside a function",
    )


def test_a_file_without_a_flow_is_told(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("x = 1\n")
    with pytest.raises(PackError, match=r"own\.py: holds no flow$"):
        find_flow(str(tmp_path / "own.py"))


def test_names_that_cannot_be_seen_are_escaped_and_stay_on_their_line(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(
        r'{"dataflow": 1, "nodes": {"a\n\u001b[2J\u202e\u2028": {"type": "t", "inputs": {"x": "b"}}}}'
    )
    flow = Flow.from_wiring(*read_document(tmp_path / "flow.json", Flow.from_wiring, imports=False))
    [unknown, *_] = [problem for problem in flow.check() if "reads" in problem]
    name = r"a\n\x1b[2J\u202e\u2028"
    choice = r"a%0A\x1b%5B2J\u202e%E2%80%A8"  # as references write names
    assert unknown == f"1:80 port '{name}.x' reads 'b.out': no node 'b'; choices: {choice}"
    for draw in (outline, mermaid, dot):
        assert r"a \x1b[2J\u202e\u2028" in draw(flow.wiring).replace("\\\\", "\\")


def test_a_name_as_long_as_a_document_is_told_shortened(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(
        f'{{"dataflow": 1, "nodes": {{"{"x" * 1_000_000}": {{"type": "t"}}}}}}'
    )
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(tmp_path / "flow.json")
    [problem] = raised.value.problems
    assert problem.startswith("1:1000032 node 'xxx")
    assert "xxx... 998,118 characters ...xxx" in problem
    assert problem.endswith("is no node type: write pack.name, prefix.function or module:qualname")


def test_the_problems_of_10_000_nodes_are_all_told(tmp_path: Path) -> None:
    nodes = ", ".join(f'"n{n}": {{"type": "no.such", "inputs": {{"x": "q{n}"}}}}' for n in range(10_000))
    (tmp_path / "flow.json").write_text(f'{{"dataflow": 1, "nodes": {{{nodes}}}}}')
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(tmp_path / "flow.json")
    assert len(raised.value.problems) == 20_000
