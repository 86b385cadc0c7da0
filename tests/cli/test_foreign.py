"""Files of other systems on the command line: run, checked, converted, told in their words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.nodes.formats.clickweave.workflows import (
    edge,
    node,
    press,
    saved,
    server,
    typing,
    workflow,
)
from tests.support.processes import install


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    install(place, "toys", "toy = tests.formats.toy:FORMAT\n", group="dataflow.formats")
    monkeypatch.syspath_prepend(str(place))
    made = tmp_path / "toys.json"
    made.write_text(json.dumps({"toy": ["a", "B"]}), encoding="utf-8")
    return made


def test_a_branch_is_named_by_an_option_or_behind_the_file(cli: Cli, file: Path) -> None:
    assert cli("run", str(file), "--branch", "x").out == "a: x\nB: x\n"
    assert cli("run", f"{file}#branch=y").out == "a: y\nB: y\n"
    assert cli("run", "flow.py", "--branch", "x").codes == ["DF1408"]


def test_the_format_of_a_file_is_said_behind_it(cli: Cli, file: Path) -> None:
    assert cli("run", f"{file}#format=toy&branch=y").out == "a: y\nB: y\n"
    assert " DF0135 " in cli("check", f"{file}#format=toys").out


def test_a_run_keeps_the_branch_that_it_was_started_with(cli: Cli, file: Path) -> None:
    cli("run", str(file), "--branch", "a b")
    (run,) = cli("runs", "--json").json["runs"]
    assert run["target"] == f"{file}#branch=a%20b"
    forked = cli("fork", run["run"], "--change", "a.config.value=z")
    assert forked.code == 0, forked.err


def test_an_option_may_look_like_python(cli: Cli, file: Path) -> None:
    for branch in ("x.py", "a/b:free", "1+1", "a.b:c.py", "b" * 300):
        assert cli("run", str(file), "--branch", branch).out == f"a: {branch}\nB: {branch}\n"
        assert cli("run", f"{file}#branch={branch}").out == f"a: {branch}\nB: {branch}\n"


def test_a_file_is_converted_into_a_native_document_that_runs_the_same(cli: Cli, file: Path) -> None:
    done = cli("convert", str(file), "--to", "native")
    assert done.err == "note: node 'B': originally shouts; here is quiet\n"
    assert cli("convert", str(file), "--output", "native.yaml").out == ""
    assert Path("native.yaml").read_text(encoding="utf-8") == done.out
    assert cli("run", "native.yaml").out == cli("run", str(file)).out == "a: a\nB: B\n"
    assert cli("check", str(file)).out == f"ok: 2 nodes\n{done.err}"
    report = [{"node": "B", "original": "shouts", "here": "is quiet"}]
    assert cli("check", str(file), "--json").json["report"] == report
    Path("other").mkdir()
    assert cli("convert", str(file), "--output", "other/r.yaml").err == done.err
    failed = cli("convert", str(file), "--output", "nowhere/native.yaml")
    assert (failed.code, failed.codes) == (1, ["DF1426"])


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "shop.py").write_text("def price() -> int:\n    return 1\n", encoding="utf-8")
    (folder / "part.yaml").write_text("dataflow: 1\n", encoding="utf-8")
    made = folder / "review.yaml"
    made.write_text(
        "dataflow: 1\nuses: {own: ./shop.py}\n"
        "nodes: {a: {type: 'shop:price'}, b: {type: 'os:getcwd'}, c: {flow: part.yaml}}\n",
        encoding="utf-8",
    )
    return made


def test_a_conversion_into_another_folder_tells_what_it_does_not_find_there(cli: Cli, original: Path) -> None:
    done = cli("convert", str(original), "--output", "r.yaml")
    where = f"names what stands in {original.parent.resolve()}, and does not run from another folder"
    names = "./shop.py, shop:price, part.yaml"
    assert done.err == f"note: r.yaml {where}: {names}; write it there, or take these along\n"


def test_a_conversion_into_another_folder_tells_the_folders_and_images_that_it_names(
    cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "sub"
    (folder / "images" / "old").mkdir(parents=True)
    (folder / "images" / "ok.png").write_bytes(b"")
    arguments = ({"path": "images/ok.png"}, {"path": "images/old"}, {"path": "images"})
    called = zip("abc", arguments, strict=True)
    steps = [node(id, id, "McpToolCall", tool_name="t", arguments=given) for id, given in called]
    made = saved(folder, workflow(steps, edge("a b"), edge("b c")))
    done = cli("convert", str(made), "--output", "r.yaml")
    assert "does not run from another folder: images/ok.png, images/old; write it there" in done.err
    assert "path: images/ok.png" in Path("r.yaml").read_text(encoding="utf-8")
    assert str(folder) not in Path("r.yaml").read_text(encoding="utf-8")


def test_a_conversion_into_the_same_folder_finds_all(cli: Cli, original: Path) -> None:
    assert cli("convert", str(original), "--output", str(original.with_name("r.yaml"))).err == ""


def test_progress_is_told_in_the_words_of_a_system(cli: Cli, file: Path) -> None:
    done = cli("run", str(file), "--log-format", "toy")
    assert done.err.splitlines()[:-1] == ["toys said a", "toys said B", "that was 2"]
    assert cli("run", str(file), "--log-format", "hifide").codes == ["DF1406"]


def test_the_words_of_a_system_are_refused_to_a_flow_without_a_document_form(cli: Cli) -> None:
    made = "def made():\n    async def one() -> int:\n        return 1\n    return one\n"
    code = f"from dataflow import Flow\n{made}flow = Flow()\nflow.output('x', flow.add(made()).out)\n"
    Path("own.py").write_text(code, encoding="utf-8")
    done = cli("run", "own.py:flow", "--log-format", "cagent")
    assert done.code == 2
    assert " --log-format cagent: " in done.err


def test_the_words_of_another_system_are_refused(cli: Cli, file: Path) -> None:
    cli("run", str(file))
    (run,) = cli("runs", "--json").json["runs"]
    for command in (["run", str(file)], ["fork", run["run"], "--change", "a.config.value=z"]):
        done = cli(*command, "--log-format", "cagent")
        assert (done.code, done.codes) == (2, ["DF1407"])
    assert len(cli("runs", "--json").json["runs"]) == 1


def test_the_words_of_another_system_are_refused_to_a_run_that_goes_on(cli: Cli, file: Path) -> None:
    paused = file.with_name("paused.json")
    paused.write_text('{"toy": ["ask"]}', encoding="utf-8")
    (run,) = re.findall(r"resume (\S+)", cli("run", str(paused)).err)
    done = cli("resume", run, "ask=yes", "--log-format", "cagent")
    assert (done.code, done.codes) == (2, ["DF1407"])
    assert cli("resume", run, "ask=yes", "--log-format", "toy").code == 0


def target(folder: Path, data: dict[str, Any], options: str = "", **answers: list[Any]) -> str:
    command = server(folder, **answers).replace("%", "%25").replace("#", "%23").replace("&", "%26")
    return f"{saved(folder, data)}#server={command}{options}"


def told(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines() if line.startswith("{")]


def executions(folder: Path) -> list[Path]:
    return sorted((folder / ".clickweave" / "runs" / "my-flow").glob("*"))


def test_a_run_leaves_the_folder_of_its_execution(cli: Cli, folder: Path) -> None:
    done = cli("run", target(folder, workflow([typing("a", "Click #5")])), "--log-format", "clickweave")
    assert done.code == 0, done.err
    (execution,) = executions(folder)
    assert json.loads((execution / "click-5" / "run.json").read_text(encoding="utf-8"))["status"] == "Ok"
    events = told((execution / "events.jsonl").read_text(encoding="utf-8"))
    assert [event["event_type"] for event in events] == ["workflow_completed"]


def test_a_record_that_is_none_ends_no_run(cli: Cli, folder: Path) -> None:
    file = target(folder, workflow([typing("a"), press("b")]), press_key=[{"error": "no"}])
    assert cli("run", file, "--log-format", "clickweave").code == 1
    (execution,) = executions(folder)
    (run,) = cli("runs", "--json").json["runs"]
    record = execution / "b" / "run.json"
    for number, written in enumerate(
        (b"", b'{"status": "Ru', b"\xff\xfe{", b"[]", b"{}", b'{"status": 1}'), 2
    ):
        record.write_bytes(written)
        done = cli("resume", run["run"], "--log-format", "clickweave")
        assert (done.code, "Traceback" in done.err) == (1, False)
        record = execution / "b" / str(number) / "run.json"
        assert json.loads(record.read_text(encoding="utf-8"))["status"] == "Failed"


def test_a_folder_that_cannot_be_written_is_a_warning(cli: Cli, folder: Path) -> None:
    (folder / ".clickweave").write_text("", encoding="utf-8")
    done = cli("run", target(folder, workflow([typing("a")])), "--log-format", "clickweave")
    assert done.code == 0
    assert done.err.count("warning: the records of the run end here: ") == 1


def test_the_models_are_told_at_the_start(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "answers.json").write_text('["done"]', encoding="utf-8")
    monkeypatch.setenv("DATAFLOW_SCRIPTED", "answers.json")
    data = workflow([node("a", "a", "AiStep", prompt="Look.")])
    file = target(folder, data, "&model=openai/gpt-5&vision_model=openai/eyes")
    done = cli("run", file, "--log-format", "clickweave")
    first = told(done.err)[0]
    assert first["event_type"] == "models"
    assert first["payload"] == {"model": "openai/gpt-5", "vision_model": "openai/eyes"}
