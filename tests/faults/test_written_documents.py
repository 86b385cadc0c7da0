"""F-F04, F-F12: `convert` and `show --format yaml` write what loads, with the settings of the flow."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

import pytest
from pydantic import Field

from dataflow import Flow, RunFailed
from dataflow.authoring import json_schema
from dataflow.cli import main

UNKNOWN_INPUT: Final = """\
dataflow: 1
inputs: {text: {type: string}}
nodes:
  saved: {type: control.write_text, inputs: {path: $in.file, text: $in.text}}
outputs: {text: saved}
"""
PYTHON: Final = """
import anyio
from dataflow import Flow, Limit, Store

async def wait(x):
    await anyio.sleep(20)
    return x

def built(name):
    with Flow(name) as flow:
        flow.output("x", flow.add(wait, flow.input("x", int, 1)).out)
    return flow

flow = built("slow").using(
    timeout=0.5, max_concurrency=3, errors="continue", cleanup=2, keep=False, store=Store.memory(),
    limits={"a": 2, "b": Limit(3, per_second=4)},
)
with Flow("outer") as outer:
    outer.output("x", outer.add(built("inner").using(errors="continue", limits={"a": 2})).out.x)
wrong = Flow("wrong")
wrong.output("x", wrong.add(wait).out)
deep = Flow("deep")
value = 1
for _ in range(120):
    value = [value]
deep.output("x", deep.add(wait, value).out)
large = Flow("large")
large.output("x", large.add(wait, 10**1001).out)
"""
USING: Final = {
    "timeout": 0.5,
    "max_concurrency": 3,
    "errors": "continue",
    "cleanup": 2,
    "limits": {"a": {"slots": 2}, "b": {"slots": 3, "per_second": 4}},
}
#: The edges of a file of HiFide in which the context of a node could come from two others.
DESK: Final = """
begin:context-guest guest:context-sort guest:data-sort clerk:context-guest guide:context-guest
gate:context-guest
sort:book-context-clerk sort:book-data-clerk sort:cancel-context-clerk sort:cancel-data-clerk
sort:ask-context-guide sort:ask-data-guide sort:leave-context-gate sort:leave-data-gate
"""
KINDS: Final = {"begin": "defaultContextStart", "guest": "userInput", "sort": "intentRouter"}


def desk() -> dict[str, Any]:
    nodes: list[Any] = [{"id": id, "nodeType": kind} for id, kind in KINDS.items()]
    nodes[2]["config"] = {"routes": dict.fromkeys(("book", "cancel", "ask", "leave"), "b")}
    nodes += [{"id": id, "nodeType": "llmRequest"} for id in ("clerk", "guide", "gate")]
    edges = []
    for edge in DESK.split():
        source, _, rest = edge.partition(":")
        handle, _, target = rest.rpartition("-")
        into = "data" if handle.endswith("data") else "context"
        edges.append({"source": source, "target": target, "sourceHandle": handle, "targetHandle": into})
    return {"name": "desk", "nodes": nodes, "edges": edges}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "native.yaml").write_text(UNKNOWN_INPUT)
    data: Any = {"dataflow": 1, "nodes": {"a": {"type": "control.template"}}, "outputs": {"o": "b"}}
    (tmp_path / "native.json").write_text(json.dumps(data))
    (tmp_path / "desk.json").write_text(json.dumps(desk()))
    (tmp_path / "flows.py").write_text(PYTHON)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(list(arguments)))
    done = capsys.readouterr()
    return int(ended.value.code or 0), done.out, done.err


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("native.yaml", "DF0303"),
        ("native.json", "DF0303"),
        ("desk.json", "DF0334"),
        ("flows.py:wrong", "DF0301"),
        ("flows.py:deep", "DF0147"),
        ("flows.py:large", "DF0147"),
    ],
)
def test_what_does_not_load_is_not_written(
    target: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("convert", "convert --output w.yaml", "show --format yaml"):
        ended, out, err = run(capsys, *command.split(), target)
        assert (ended, out) == (1, "")
        assert f" {code} " in err
        assert not Path("w.yaml").exists()


def test_what_is_written_is_read_again_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("part.yaml").write_text("dataflow: 1\nname: part\n")
    Path("whole.yaml").write_text("dataflow: 1\nnodes: {p: {flow: part.yaml}}\n")
    ended, _, err = run(capsys, "convert", "whole.yaml", "--output", "part.yaml")
    assert (ended, "name: part" in Path("part.yaml").read_text()) == (1, True), err  # it would be in itself
    assert run(capsys, "convert", "whole.yaml", "--output", "w.yaml")[0] == 0


@pytest.mark.parametrize("output", ["w.yaml", "w.json"])
def test_a_document_has_the_settings_of_the_flow(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended, _, err = run(capsys, "convert", "flows.py:flow", "--output", output)
    assert ended == 0
    assert [word in err for word in ("keep", "store", "memo", "telemetry")] == [True, True, False, False]
    assert Flow.load(output).to_dict()["using"] == USING
    with pytest.raises(RunFailed, match="DF0802"):
        Flow.load(output).run_sync()
    assert run(capsys, "check", output)[0] == 0


def test_show_writes_them_as_well_and_those_of_subflows(capsys: pytest.CaptureFixture[str]) -> None:
    for target, place in (("flows.py:flow", ()), ("flows.py:outer", ("nodes", "inner", "flow"))):
        _, out, err = run(capsys, "show", "--format", "yaml", target)
        Path("w.yaml").write_text(out)
        document: Any = Flow.load("w.yaml").to_dict()
        for part in place:
            document = document[part]
        assert document["using"] == (
            USING if not place else {"errors": "continue", "limits": {"a": {"slots": 2}}}
        )
        assert bool(err) == (not place)


def test_an_ask_of_any_type_that_documents_have_is_written() -> None:
    kinds: list[Any] = [Annotated[int, Field(gt=0)], list[Annotated[str, Field(pattern="^a")]], date | None]
    with Flow("asks") as flow:
        for number, kind in enumerate(kinds):
            flow.ask(kind, "?", name=f"q{number}")
    written = [one["config"]["type"] for one in flow.to_dict()["nodes"].values()]
    assert written == [json_schema(kind) for kind in kinds]
