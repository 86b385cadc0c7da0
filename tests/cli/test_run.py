from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from dataflow.cli import main
from tests.cli.conftest import Cli
from tests.cli.processes import EXAMPLES


def test_the_outputs_go_to_standard_output_and_the_rest_to_standard_error(cli: Cli) -> None:
    done = cli("run", ":greet", "Ada")
    assert (done.code, done.out) == (0, "text: hello Ada\n")
    assert re.sub(r"\d+\.\d+ s", "… s", done.err) == "done       hello  … s\ncompleted in … s\n"


def test_a_run_on_json_writes_one_object_and_nothing_else(cli: Cli) -> None:
    done = cli("run", ":greet", "--json", "--input", "name=Ada", "--input", "times=2")
    assert len(done.out.splitlines()) == 1
    found = done.json
    assert found.pop("run")
    assert found == {
        "status": "completed", "outputs": {"text": "hello Ada hello Ada"}, "asks": [], "failures": [],
        "checks": [], "warnings": [], "handled": [], "skipped": {}, "metadata": {},
    }  # fmt: skip


def test_what_nodes_print_does_not_get_into_the_result(cli: Cli) -> None:
    done = cli("run", ":chats", "--json", "--input", "x=1")
    assert done.json["outputs"] == {"out": 1}
    assert "printed\n" in done.err
    assert cli("run", ":chats").out.startswith("printed\n")
    assert cli("run", ":chats", "--output", "out", "--input", "x=1").out == "1\n"


def test_what_programs_write_that_nodes_start_does_not_get_into_the_result(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        open(1, "w", encoding="utf-8", closefd=False) as out,
        open(2, "w", encoding="utf-8", closefd=False) as err,
    ):
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        assert main(["run", f"{EXAMPLES}:chats", "--json"]) == 0
        print("after", file=sys.stdout)  # noqa: T201 - is standard output what it was before?
    written = capfd.readouterr()
    result, after = written.out.splitlines()
    assert json.loads(result)["status"] == "completed"
    assert after == "after"
    assert {"printed", "written", "started"} <= set(written.err.split())


def test_events_come_one_a_line_before_the_result(cli: Cli) -> None:
    *events, result = [json.loads(line) for line in cli("run", ":greet", "Ada", "--events").out.splitlines()]
    assert [event["kind"] for event in events] == [
        "run_started",
        "node_started",
        "node_finished",
        "run_finished",
    ]
    assert [event["seq"] for event in events] == [1, 2, 3, 4]
    assert {event["run"] for event in events} == {result["run"]}
    assert events[2]["path"] == "hello"
    assert events[2]["data"]["ports"] == {"out": {"value": "hello Ada"}}
    assert events[0]["time"].endswith("+00:00")
    assert result["status"] == "completed"


def test_a_failure_names_node_type_and_message_in_the_last_line(cli: Cli) -> None:
    done = cli("run", ":fails")
    assert (done.code, done.out) == (1, "")
    assert done.last == "failed: fail: ValueError: no such luck"
    assert "Traceback" not in done.err
    assert "examples.py" in cli("run", ":fails", "--traceback").err
    done = cli("run", ":untraceable", "--traceback")
    assert (done.code, "Traceback" in done.err) == (1, True)
    assert "LookupError: not wired (" in done.last


def test_an_output_without_a_value_says_why(cli: Cli) -> None:
    done = cli("run", ":skips")
    assert (done.code, done.out) == (0, "")
    assert "DF0817 output 'out': has no value: skip: port 'out' not emitted" in done.err
    assert "port 'out' not emitted" in cli("run", ":skips", "--json").json["skipped"]["out"]
    assert "DF0817 output 'out'" in cli("run", ":skips", "--output", "out").err
    assert "DF0817 output 'skip.out'" in cli("run", ":skips", "--pull", "skip").err
    done = cli("run", ":either")
    assert done.out == "yes: 1\n"
    assert "DF0817 output 'no': has no value: when: exit 'no' not taken" in done.err


def test_outputs_without_a_value_beside_others_are_named_on_one_line(cli: Cli, folder: Path) -> None:
    assert (
        without_value(cli, folder, "b", "c", options=["--no-store"]) == "no value for b, c (--json says why)"
    )


def without_value(cli: Cli, folder: Path, *names: str, options: Sequence[str] = ()) -> str:
    """Run a flow whose outputs of these names have no value, and return the line that tells it."""
    nodes = {"a": {"type": "control.if", "config": {"condition": "value > 1"}, "values": {"value": 1}}}
    outputs = {"no": "a.no", **dict.fromkeys(names, "a.yes")}
    document = json.dumps({"dataflow": 1, "nodes": nodes, "outputs": outputs})
    (folder / "flow.json").write_text(document, encoding="utf-8")
    return cli("run", "flow.json", *options).err.splitlines()[-2]


def test_a_command_that_is_told_takes_a_name_that_begins_as_an_option(cli: Cli, folder: Path) -> None:
    assert without_value(cli, folder, "a\nb", "c").startswith(r"no value for a\nb, c (dataflow why ")
    told = without_value(cli, folder, "-x", "z")
    command = told.removeprefix("no value for -x, z (dataflow ").removesuffix(" says why)")
    assert "output '-x' has no value" in cli(*command.split()).out


def test_warnings_are_told_before_the_last_line(cli: Cli) -> None:
    done = cli("run", ":limited", "--json")
    *_, warning, last = done.err.splitlines()
    assert warning == f"warning: {done.json['warnings'][0]}"
    assert "limit of 2 rounds" in warning
    assert last.startswith("completed in")


def test_rounds_and_items_have_a_line_where_they_tell_something(
    cli: Cli, snapshot: SnapshotAssertion
) -> None:
    done = cli("run", ":rounds")
    assert re.sub(r"\d+\.\d+ s", "… s", done.err) == snapshot
    assert done.out == "text: AN OX A FOX\ntitle: words\n"


@pytest.mark.parametrize("arguments", [("nothing.yaml",), ("nothing.py",), ("nothing:here",), (":nothing",)])
def test_a_missing_flow_is_an_error_on_standard_error(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli("run", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) == 1


def test_a_flow_with_problems_does_not_run(cli: Cli) -> None:
    done = cli("run", ":unsound", "--json")
    assert done.code == 1
    assert [one["type"] for one in done.json["failures"]] == ["FlowInvalid"] * len(done.err.splitlines())
    assert done.codes == ["DF0303", "DF0301"]
    found = cli("run", "nothing.yaml", "--json").json
    assert (found["run"], found["status"], found["outputs"]) == (None, "failed", {})
    assert found["failures"][0]["type"] == "FormatError"


def test_wrong_usage_has_an_exit_code_of_its_own(cli: Cli) -> None:
    done = cli("run", ":greet", "--json", "--input", "nobody=1")
    assert done.code == 2
    problems = [one["problem"] for one in done.json["failures"]]
    assert [(one["code"], one["place"], one["available"]) for one in problems] == [
        ("DF1406", "--input", ["name", "times"]),
        ("DF1414", "input 'name'", None),
    ]
    assert done.codes == ["DF1406", "DF1414"]


def test_a_node_cannot_end_the_process(cli: Cli) -> None:
    done = cli("run", ":leaves", "--json")
    assert done.code == 1
    assert done.json["failures"][0]["type"] == "SystemExit"
    assert done.codes == ["DF1427"]
    assert cli("run", ":leaves").out == ""


def test_a_python_file_finds_the_modules_beside_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_the_flow.py").write_text("async def one() -> int:\n    return 1\n")
    (tmp_path / "the_flow.py").write_text(
        "from beside_the_flow import one\nfrom dataflow import Flow\n"
        "f = Flow('f')\nf.output('out', f.add(one).out)\n"
    )
    assert cli("run", str(tmp_path / "the_flow.py")).out == "out: 1\n"
    monkeypatch.chdir(tmp_path)
    assert cli("run", "the_flow:f").out == "out: 1\n"


def test_events_that_nobody_reads_any_more_cancel_the_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unread(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Unread())
    done = cli("run", ":waits", "--events")
    assert (done.code, done.last) == (1, "cancelled: the reader of the events is gone")
