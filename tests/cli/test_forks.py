"""`dataflow fork`: changes on the command line, and what is told of the fork (S13.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataflow.core.former_names import generations
from dataflow.durable import storable
from dataflow.durable.graph_signature import shape_of
from tests.cli.conftest import Cli
from tests.cli.test_runs import nodes_of, run_of


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
        ("publish",): "DF1413",
        ("publsh=1",): "DF1406",
        ("publish=1",): "DF0601",
        ("title=a", "title=b"): "DF1412",
        ("title=-", "$in.name=-"): "DF1415",
    }
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
        "kind": "answer",
        "path": "publish",
        "port": "",
        "cause": True,
        "where": "",
        "first": None,
        "second": True,
        "text": "answer to publish: nothing yet -> true",
    } in told["differences"]


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
