"""`check` and `show`: how flows are found, what is checked, and how they are shown."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, Location
from dataflow.authoring import Kind
from dataflow.cli.commands.show import show
from dataflow.cli.targets import problems_of
from dataflow.errors import FlowInvalid, FormatError, PackError
from dataflow.formats.native.document import json_schema
from tests.cli.conftest import Cli
from tests.support.source import home_of

DOCUMENT = """\
dataflow: 1
uses: {own: ./nodes.py}
inputs: {words: {type: array}}
nodes:
  each_word:
    map:
      over: {word: $in.words}
      nodes:
        loud: {type: own.loud, inputs: {text: $item.word}}
      outputs: {texts: loud}
outputs: {out: each_word.texts}
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    file = tmp_path / "flow.yaml"
    file.write_text(DOCUMENT)
    return file


def test_a_sound_flow_is_ok(cli: Cli) -> None:
    assert cli("check", ":rounds") == (0, "ok: 6 nodes\n", "")
    assert cli("check", ":greet").out == "ok: 1 node\n"


def test_ports_without_a_type_are_named_on_request(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("""
from dataflow import Flow, flow

async def plain(x, y: int = 1, *zs): return x

@flow
def sub(f: Flow, x: int) -> int: return f.add(plain, x).out

with Flow("whole") as whole:
    whole.output("o", whole.add(plain, whole.add(sub, x=1).out).out)
""")
    target = f"{tmp_path / 'f.py'}:whole"
    names = [f"{around}plain.{port}" for around in ("sub/", "") for port in ("x", "zs", "out")]
    assert cli("check", target, "--untyped", "--json").json["untyped"] == names
    assert [line.split()[1] for line in cli("check", target, "--untyped").out.splitlines()[1:]] == names
    assert (cli("check", target).out, cli("check", target, "--untyped").code) == ("ok: 2 nodes\n", 0)


def test_every_problem_has_a_line(cli: Cli) -> None:
    done = cli("check", ":unsound")
    assert (done.code, done.err) == (1, "")
    assert len(done.out.splitlines()) > 1
    assert all(re.match(r"\S+examples\.py:\d+: DF\d{4} ", line) for line in done.out.splitlines())
    assert "DF0301 hello.name:" in done.out


def test_a_check_imports_nothing_that_a_document_names(cli: Cli, document: Path) -> None:
    told = "ok: 2 nodes\nnot looked into without --import: own.loud\n"
    assert cli("check", str(document)) == (0, told, "")
    found = cli("check", str(document), "--json").json
    assert (found["file"], found["nodes"], found["not_looked_into"]) == (str(document), 2, ["own.loud"])


def test_what_nothing_reads_is_a_warning(cli: Cli, document: Path) -> None:
    document.write_text(DOCUMENT.replace("{words: {", "{gone: {}, words: {"))
    done = cli("check", str(document))
    assert (done.code, done.out.splitlines()[0]) == (0, "ok: 2 nodes")
    assert f"warning: {document}:3:10: DF0339 $in.gone: " in done.out
    (warning,) = cli("check", str(document), "--json").json["warnings"]
    assert (warning["code"], warning["place"], warning["line"]) == ("DF0339", "$in.gone", 3)


def test_a_check_with_import_looks_into_everything(cli: Cli, document: Path) -> None:
    done = cli("check", str(document), "--import")
    assert done.code == 1
    assert "nodes.py" in done.out
    (document.parent / "nodes.py").write_text("async def loud(text: str) -> str:\n    return text\n")
    assert cli("check", str(document), "--import") == (0, "ok: 2 nodes\n", "")


def test_a_problem_of_a_document_has_line_and_column(cli: Cli, document: Path) -> None:
    document.write_text("dataflow: 1\nnodes:\n  a: {type: [}\n")
    assert cli("check", str(document)).out.startswith(f"{document}:3:14: ")
    document.write_text("dataflow: 1\nnodes:\n  a: {typ: x}\n  b: {type: control.read_text, foo: 1}\n")
    done = cli("check", str(document), "--json")
    assert done.code == 1
    assert [(one["file"], one["line"]) for one in done.json["problems"]] == [
        (str(document), 3),
        (str(document), 4),
    ]


def test_problems_of_a_flow_that_a_module_wires_are_those_of_the_flow(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "wired.py"
    file.write_text("from dataflow import Flow\nwith Flow() as f:\n    f.connect('a', 'b.c')\n")
    done = cli("check", str(file))
    assert done.code == 1
    assert done.out.startswith(f"{file}:3: DF0303 b.c:")
    assert "DF0428" not in done.out


def test_a_module_of_a_document_that_ends_the_process_is_a_problem(cli: Cli, document: Path) -> None:
    (document.parent / "nodes.py").write_text("raise SystemExit(5)\n")
    done = cli("check", str(document), "--import")
    assert done.code == 1
    assert "DF0428 uses own:" in done.out
    assert "SystemExit: 5" in done.out


def test_a_file_that_is_not_there_is_no_problem_of_a_flow(cli: Cli) -> None:
    done = cli("check", "nothing.yaml")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: nothing.yaml: DF")
    assert cli("check", "nothing.yaml", "--json").json["problems"][0]["file"] == "nothing.yaml"


@pytest.mark.parametrize(
    ("arguments", "begin"), [((), "flow rounds"), (("mermaid",), "flowchart"), (("dot",), "digraph")]
)
def test_a_flow_is_drawn_in_the_wanted_form(cli: Cli, arguments: tuple[str, ...], begin: str) -> None:
    done = cli("show", ":rounds", *(f"--format={one}" for one in arguments))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(begin)
    assert "shout" in done.out


def test_a_flow_is_written_as_a_document_that_loads(cli: Cli, tmp_path: Path) -> None:
    document = tmp_path / "plain.yaml"
    document.write_text("dataflow: 1\nname: plain\ninputs: {n: {type: integer}}\noutputs: {n: $in.n}\n")
    done = cli("show", str(document), "--format=yaml")
    assert (done.code, done.err) == (0, "")
    again = tmp_path / "again.yaml"
    again.write_text(done.out)
    assert Flow.load(again).run_sync(n=3)["n"] == 3


def test_a_flow_without_a_document_form_is_told(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "branch.py"
    file.write_text(
        "from dataflow import Flow\nwith Flow('branch') as flow:\n"
        "    flow.output('y', flow.when(flow.input('n', int), lambda n: n > 1).yes)\n"
    )
    done = cli("show", str(file), "--format=yaml")
    assert done.code == 1
    assert done.out == ""
    assert "when" in done.err


def test_a_drawing_cannot_steer_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Window(io.StringIO):
        def isatty(self) -> bool:
            return True

    window = Window()
    monkeypatch.setattr(sys, "stdout", window)
    monkeypatch.setattr(home_of(show), "load", lambda *_, **__: Flow("evil\x1b[2J"))
    show("any", "text")
    assert window.getvalue() == "flow evil\\x1b[2J\n"


def test_the_schema_is_that_of_documents(cli: Cli) -> None:
    done = cli("schema")
    assert done.code == 0
    assert json.loads(done.out) == json_schema()


BAD: Final = Kind("XX0001", "is bad")


def test_a_problem_has_its_place() -> None:
    nodes_a = BAD("nodes.a", location=Location("", 3, 5))
    problems = {
        FormatError("f.yaml", BAD()): ["f.yaml: XX0001 is bad"],
        FormatError("f.yaml", BAD(), 3): ["f.yaml:3: XX0001 is bad"],
        FormatError("f.yaml", BAD(), 3, 5): ["f.yaml:3:5: XX0001 is bad"],
        FlowInvalid("f", [nodes_a, BAD("b")]): ["it:3:5: XX0001 nodes.a: is bad", "it: XX0001 b: is bad"],
        PackError("it", BAD()): ["it: XX0001 is bad"],
        PackError("pack.a", BAD()): ["it: XX0001 pack.a: is bad"],
        KeyError("k"): ["it: DF1401 KeyError: 'k'"],
    }
    assert {error: list(map(str, problems_of("it", error))) for error in problems} == problems


TYPED = """
from dataflow import Flow, flow
from dataflow_agent import Agent

lead = Agent("lead", model="a/b")

async def same(x: int) -> int:
    return x

@flow
def part(f: Flow, x: int) -> int:
    return f.add(same, x=x).out
"""
PLAIN = """
with Flow("main") as main:
    main.output("y", main.add(part, x=main.input("x", int, 1)).out)
"""


def test_the_only_flow_that_is_no_part_of_others_needs_no_name(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(TYPED + PLAIN + "again = main\n")
    assert cli("run", str(file)).out == "y: 1\n"
    assert cli("run", f"{file}:part", "--input", "x=2").out == "out: 2\n"
    unclear = {"typed": TYPED, "several": TYPED + PLAIN + "with Flow('other') as other: pass\n"}
    for (name, text), count in zip(unclear.items(), (2, 4), strict=True):
        other = tmp_path / f"{name}.py"
        other.write_text(text)
        assert f"has {count} flows" in cli("check", str(other)).out
