"""Asks and forks on the command line: listed, answered, resumed, changed (S11.1, S13.5)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dataflow.cli.asks import check_answer, type_text
from dataflow.core.former_names import generations
from dataflow.durable import storable
from dataflow.durable.graph_signature import shape_of
from dataflow.errors import ValueMismatch
from dataflow.stores import Batch, Record, Store, StoredRun
from tests.cli.conftest import Cli
from tests.cli.test_runs import nodes_of, run_of

PUBLISH = {"prompt": "Publish it?", "schema": {"type": "boolean"}, "show": "hello Ada", "expires": None}


def test_a_run_that_pauses_tells_its_asks_and_how_to_go_on(cli: Cli) -> None:
    done = cli("run", ":review")
    run = cli("runs", "--json").json["runs"][0]["run"]
    assert (done.code, done.out) == (3, "")
    *_, publish, shown, title, go_on, last = done.err.splitlines()
    assert publish == "open  publish  bool  Publish it?"
    assert shown == "    hello Ada"
    assert title.startswith("open  title  str  expires 2")
    assert title.endswith("Z  Under which title?")
    assert go_on == f"go on with: dataflow resume {run} publish=... title=..."
    assert last == "paused: 2 open asks"
    assert done.err.count("Publish it?") == 1
    done = cli("run", ":review", "--json")
    assert (done.code, done.json["status"]) == (3, "paused")
    assert done.json["asks"][0] == {"id": "publish", **PUBLISH}
    assert datetime.fromisoformat(done.json["asks"][1]["expires"]).tzinfo == UTC
    done = cli("resume", run, "title=x")
    assert (done.code, done.out, done.last) == (3, "title: X\n", "paused: 1 open ask")


def test_a_paused_run_that_is_not_kept_says_so(cli: Cli) -> None:
    done = cli("run", ":review", "--no-store")
    assert done.code == 3
    assert "the run is not kept, so it cannot go on" in done.err


def test_open_asks_of_all_runs_are_listed(cli: Cli) -> None:
    first, second = run_of(cli, ":review"), run_of(cli, ":review", "--input", "name=Bob")
    lines = cli("asks").out.splitlines()
    assert sum(line.startswith((first, second)) for line in lines) == 4
    assert f"{second}  publish  bool  Publish it?" in lines
    assert "    hello Bob" in lines
    listed = cli("asks", "--json").json["asks"]
    assert {"run": first, "id": "publish", **PUBLISH, "answered": False} in listed


def test_an_answer_waits_for_the_run_to_be_resumed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    run = run_of(cli, ":review")
    done = cli("answer", run[-8:], "publish=true")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "answered publish; still open: title",
        f"go on with: dataflow resume {run}",
    ]
    assert "publish  bool  Publish it?  (answered; the run has not gone on yet)" in cli("asks").out
    assert cli("asks").err == "1 open ask\n"
    assert cli("resume", run, "title=my words", "--json").json["outputs"] == {
        "title": "MY WORDS",
        "publish": True,
    }
    ask = cli("runs", "show", run, "publish", "--json").json["ask"]
    assert (ask["answer"], ask["by"]) == ({"out": True}, "ada")
    run = run_of(cli, ":review")
    told = cli("answer", run, "publish=true", "--json").json
    assert told == {"run": run, "status": "paused", "answered": ["publish"], "open": ["title"]}


def test_if_one_answer_is_refused_none_counts(cli: Cli) -> None:
    run = run_of(cli, ":review")
    refused = {
        ("publish=maybe",): "DF1419", ("title=good", "publish=1"): "DF0601", ("pblish=true",): "DF1406",
        ("publish",): "DF1413", ("title=x", "title=y"): "DF1412", ("title=@nowhere",): "DF1417",
        ("title=-", "publish=-"): "DF1415",
    }  # fmt: skip
    for command in ("answer", "resume"):
        for answers, code in refused.items():
            done = cli(command, run, *answers)
            assert (done.code, done.codes) == (2, [code])
    assert cli("answer", run).codes == ["DF1428"]
    assert [ask["answered"] for ask in cli("asks", "--json").json["asks"]] == [False, False]
    assert cli("runs", "--json").json["runs"][0]["status"] == "paused"


def test_a_second_answer_is_refused_and_the_open_asks_are_listed(cli: Cli) -> None:
    run = run_of(cli, ":review")
    cli("answer", run, "publish=true")
    done = cli("answer", run, "publish=false")
    assert (done.code, done.codes) == (2, ["DF1429"])
    assert f"ask 'publish' of run {run}: " in done.err
    assert "available: title" in done.err


def test_a_text_may_come_from_a_file_or_be_anything(cli: Cli, folder: Path) -> None:
    (folder / "title.txt").write_text("from a file")
    run = run_of(cli, ":review")
    assert cli("resume", run, "title=@title.txt", "publish=true", "--output", "title").out == "FROM A FILE\n"
    other = run_of(cli, ":review")
    assert cli("resume", other, "title=17 = x", "publish=true", "--output", "title").out == "17 = X\n"


def test_a_completed_run_is_not_resumed(cli: Cli) -> None:
    run = run_of(cli, ":greet", "Ada")
    done = cli("resume", run, "--json")
    assert (done.code, done.codes, done.json["run"]) == (1, ["DF1432"], run)
    assert done.json["failures"][0]["problem"]["place"] == f"run {run}"


def test_a_flow_that_is_no_longer_there_may_be_given(cli: Cli, folder: Path) -> None:
    text = (
        "from dataflow import Flow\nwith Flow('asking') as asking:\n"
        "    asking.output('out', asking.ask(int, 'How many?', name='many').out)\n"
    )
    (folder / "asking.py").write_text(text)
    run = run_of(cli, "asking.py")
    (folder / "asking.py").rename("moved.py")
    done = cli("resume", run, "many=3")
    assert done.code == 1
    assert done.codes[-1] == "DF1424"
    assert f"loaded from {folder / 'asking.py'}" in done.last
    paused = cli("resume", run, "--flow", "moved.py")
    assert f"go on with: dataflow resume {run} --flow moved.py many=..." in paused.err
    assert cli("resume", run, "many=3", "--flow", "moved.py").out == "out: 3\n"


def _expired(folder: Path) -> str:
    store, now = Store.sqlite(folder / ".dataflow" / "runs.db"), datetime.now(UTC)
    run = "20260101T000000Z-00000000"
    opened = {**PUBLISH, "given": {}, "expires": 60, "time": datetime(2026, 1, 1, tzinfo=UTC).isoformat()}
    hold = store.begin(StoredRun(run, "f", "", "paused", now, now))
    store.commit(run, Batch([Record(1, "ask_opened", "publish", json.dumps(opened))]))
    hold.release()
    return run


def test_an_ask_that_has_expired_says_so_and_takes_no_answer(cli: Cli, folder: Path) -> None:
    run = _expired(folder)
    assert "publish  bool  expired 2026-01-01 00:01" in cli("asks").out
    done = cli("answer", run, "publish=true")
    assert (done.code, done.codes) == (2, ["DF1430"])
    assert f"ask 'publish' of run {run}: " in done.err


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer"}, "int"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "str | None"),
        ({"enum": ["a", "b"]}, "a | b"),
        ({"anyOf": [{"type": "boolean"}, {"enum": ["a"]}]}, "a | bool"),
        (
            {
                "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/B"}}, "B": {"type": "integer"}},
                "anyOf": [{"$ref": "#/$defs/A"}, {"enum": ["a"]}],
            },
            "a | list[int]",
        ),
        ({"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}, "anyOf": [{"$ref": "#/$defs/A"}]}, "JSON"),
        ({"anyOf": [{"$ref": "#/$defs/A"}, {"enum": ["a"]}], "$defs": 3}, "JSON"),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
            "{a: str, b?: int}",
        ),
        ({"type": "object", "properties": {"a": True}, "required": "a"}, "{a?: Any}"),
        ({"type": "wrong"}, "JSON"),
        ({}, "Any"),
    ],
)
def test_the_type_of_an_answer_is_named(schema: dict[str, object], text: str) -> None:
    assert type_text(schema) == text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": "x"}, None),
        ({"a": "x", "b": 1}, None),
        ({"b": 1}, ".a: expected a value"),
        ({"a": 1}, ".a: expected string, found int 1"),
        ({"a": "x", "c": 1}, ".c: expected nothing"),
        ("x", "found str 'x'"),
    ],
)
def test_an_answer_for_several_ports_is_checked_field_by_field(value: object, told: str | None) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    if told is None:
        check_answer(value, schema)
        return
    with pytest.raises(ValueMismatch) as refused:
        check_answer(value, schema)
    assert told in str(refused.value)


def test_an_approval_is_answered_by_its_word_and_by_the_name_of_its_node(cli: Cli, folder: Path) -> None:
    (folder / "release.yaml").write_text(
        "dataflow: 1\nname: release\nnodes:\n"
        "  ok: {type: control.approval, values: {value: 7}}\noutputs: {out: ok.approve}\n"
    )
    run = run_of(cli, "release.yaml")
    words = "approve | reject | bool | {decision: approve | reject, note?: str}"
    assert f"ok/ask  {words}  Approve?" in cli("asks").out
    assert "expected approve or reject, or " in cli("answer", run, "ok=maybe").err
    assert cli("resume", run, "ok=approve").out == "out: 7\n"


def test_what_is_no_name_of_a_secret_is_not_repeated_for_an_ask(cli: Cli, folder: Path) -> None:
    (folder / "hush.yaml").write_text(
        "dataflow: 1\nname: hush\nnodes:\n"
        "  key: {type: control.ask, config: {prompt: Key?, type: {type: string, format: secret}}}\n"
        "outputs: {}\n"
    )
    done = cli("answer", run_of(cli, "hush.yaml"), "key=hunter2 hunter2")
    assert (done.code, "hunter2" in done.err) == (2, False)


def test_a_fork_is_told_and_kept_as_a_run_of_its_own(cli: Cli) -> None:
    source = run_of(cli, ":greet", "Ada")
    done = cli("fork", source, "--change", "$in.name=Bob")
    fork = cli("runs", "--json").json["runs"][0]["run"]
    assert fork != source
    assert done.err.splitlines()[0] == f"run {fork} is a fork of {source}"
    assert (done.code, done.out) == (0, cli("run", ":greet", "Bob").out)
    assert cli("runs", "show", source, "--json").json["inputs"]["name"] == "Ada"


def test_an_open_ask_is_answered_in_the_fork_alone(cli: Cli) -> None:
    source = run_of(cli, ":review")
    done = cli("fork", source, "--change", "publish=true", "--change", "title=my words", "--json")
    assert done.json["outputs"] == {"title": "MY WORDS", "publish": True}
    assert nodes_of(cli, source)["publish"]["state"] == "paused"
    fork = cli("runs", "--json").json["runs"][0]["run"]
    shown = cli("runs", "show", fork).out
    assert f"forked  from {source}" in shown
    assert "  title = 'my words'" in shown
    done = cli("fork", source, "--change", "$in.name=Bob")
    assert done.code == 3
    assert f"go on with: dataflow resume {done.err.split()[1]} publish=... title=..." in done.err


def test_what_cannot_be_changed_is_wrong_usage(cli: Cli) -> None:
    source = run_of(cli, ":review")
    refused = {
        ("publish",): "DF1413", ("publsh=1",): "DF1406", ("publish=1",): "DF0601",
        ("title=a", "title=b"): "DF1412", ("title=-", "$in.name=-"): "DF1415",
    }  # fmt: skip
    for given, code in refused.items():
        done = cli("fork", source, *(part for one in given for part in ("--change", one)))
        assert (done.code, done.out, done.codes) == (2, "", [code])
    assert cli("fork", source, "--change", "$in.name=Bob", "--change", "publish=true").code == 2
    assert len(cli("runs", "--json").json["runs"]) == 1


def test_a_flow_that_was_moved_is_forked_and_a_renamed_file_is_told(cli: Cli, folder: Path) -> None:
    text = (
        "from dataflow import Flow\n"
        "async def double(x: int) -> int: return 2 * x\n"
        "with Flow('moved') as moved:\n"
        "    moved.output('out', moved.add(double, x=moved.input('x', int)).out)\n"
    )
    was, other, renamed = folder / "as_it_was.py", folder / "new" / "as_it_was.py", folder / "renamed.py"
    was.write_text(text)
    source = run_of(cli, str(was), "--input", "x=3")
    other.parent.mkdir()
    was.rename(other)
    assert cli("fork", source, "--flow", str(other)).out == "out: 6\n"
    other.rename(renamed)
    done = cli("fork", source, "--flow", str(renamed))
    assert (done.code, done.codes) == (1, ["DF1201"])
    assert "as_it_was -> renamed" in done.last
    assert cli("fork", source, "--flow", str(renamed), "--edited", "keep").out == "out: 6\n"


def test_two_runs_are_told_apart(cli: Cli) -> None:
    source = run_of(cli, ":review")
    cli("fork", source, "--change", "title=two", "--change", "publish=true")
    fork = cli("runs", "--json").json["runs"][0]["run"]
    done = cli("diff", source[-8:], fork)
    assert done.code == 1
    head, *rest = done.out.splitlines()
    assert head == f"{source} -> {fork}: {len(rest)} differences"
    assert {line for line in rest if line.startswith("cause")} == {
        "cause    answer to publish: nothing yet -> true",
        'cause    answer to title: nothing yet -> "two"',
    }
    assert "follows  output 'title': nothing yet -> \"TWO\"" in rest
    assert rest[-1] == "follows  the run: paused -> completed"
    told = cli("diff", source, fork, "--json").json
    assert (told["first"], told["second"]) == (source, fork)
    assert {
        "kind": "answer", "path": "publish", "port": "", "cause": True, "where": "", "first": None,
        "second": True, "text": "answer to publish: nothing yet -> true",
    } in told["differences"]  # fmt: skip


def test_runs_that_do_not_differ_and_runs_that_cannot_be_compared(cli: Cli) -> None:
    one, other = run_of(cli, ":greet", "Ada"), run_of(cli, ":greet", "Ada")
    done = cli("diff", one, other)
    assert (done.code, done.out) == (0, f"{one} and {other} do not differ\n")
    assert cli("diff", one, other, "--json").json["differences"] == []
    assert cli("diff", one, "nothing").code == 2


def test_a_run_under_former_names_is_compared_with_the_help_of_its_flow(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from tests.stored_names import control_flow\nflow = control_flow()\n"
    for name in ("before.py", "now.py"):  # two files, since a flow keeps what is stored of it
        (folder / name).write_text(text)
    with monkeypatch.context() as before:
        before.setattr(storable, "shape_of", lambda plan: shape_of(plan, generations()[0]))
        one = run_of(cli, "before.py")
    other = run_of(cli, "now.py")
    done = cli("diff", one, other)
    assert (done.code, done.out, done.err) == (0, f"{one} and {other} do not differ\n", "")
    (folder / "now.py").unlink()
    done = cli("diff", one, other)
    assert done.err.startswith("note: former names may be shown as edits, for lack of the flow: ")
