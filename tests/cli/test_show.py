from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from dataflow import Flow
from dataflow.cli.commands.show import show
from dataflow.formats.native.document import json_schema
from tests.cli.conftest import Cli
from tests.support.source import home_of


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
