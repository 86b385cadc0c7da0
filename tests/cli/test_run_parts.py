"""`run` with a part of its outputs, with a port pulled, with a bound, and traced."""

from __future__ import annotations

from pathlib import Path

from dataflow import Flow
from dataflow.cli.options import Options
from dataflow.core.policy import Settings
from tests.cli.conftest import Cli


def test_a_single_output_is_written_bare(cli: Cli) -> None:
    assert cli("run", ":rounds", "--output", "title").out == "words\n"
    assert (
        cli("run", ":passes", "--output", "out", "--input", 'x={"a": [1, null]}').out == '{"a": [1, null]}\n'
    )


def test_several_outputs_are_written_with_their_names_in_the_order_asked_for(cli: Cli) -> None:
    done = cli("run", ":wide", "--output", "out7", "--output", "out3", "--output", "out7")
    assert done.out == "out7: 7\nout3: 3\n"
    assert cli("run", ":wide", "--output", "out3", "--json").json["outputs"] == {"out3": 3}


def test_a_pulled_port_runs_only_what_it_needs(cli: Cli) -> None:
    done = cli("run", ":rounds", "--pull", "split.title")
    assert (done.code, done.out) == (0, "words\n")
    assert [line.split()[:2] for line in done.err.splitlines()] == [["done", "split"], ["completed", "in"]]


def test_a_pulled_output_is_called_by_its_name(cli: Cli) -> None:
    assert cli("run", ":rounds", "--pull", "title", "--json").json["outputs"] == {"title": "words"}
    assert cli("run", ":rounds", "--pull", "split.title", "--json").json["outputs"] == {
        "split.title": "words"
    }


def test_wrong_usage_of_options(cli: Cli) -> None:
    refused: dict[tuple[str, ...], str] = {
        ("--output", "nothing"): "DF1406",
        ("--pull", "hello.nothing"): "--pull hello.nothing",
        ("--pull", "."): "--pull .",
        ("--pull", "text", "--output", "text"): "DF1409",
        ("--pull", "text", "--pull", "hello"): "DF1410",
        ("--max-concurrency", "0"): "Error: Invalid value for '--max-concurrency'",
        ("--max-concurrency", "many"): "Error: Invalid value for '--max-concurrency'",
    }
    for arguments, told in refused.items():
        done = cli("run", ":greet", "Ada", *arguments)
        assert (done.code, done.out) == (2, "")
        assert told in done.err


def test_the_other_settings_of_a_flow_stay() -> None:
    flow = Flow("f").using(errors="continue", max_concurrency=7, timeout=9.0, keep=False)
    limited = Options(max_concurrency=2).settled(flow, None)
    assert limited.settings == Settings("continue", 2, None, 9.0, keep=False)


def test_a_trace_tells_what_nodes_were_given_and_gave(cli: Cli) -> None:
    done = cli("run", ":greet", "Ada", "--trace")
    assert done.out == "text: hello Ada\n"
    assert done.err.splitlines()[1:-1] == ["    name = 'Ada'", "    times = 1", "    -> out = 'hello Ada'"]
    lines = cli("run", ":rounds", "--trace").err.splitlines()
    items = [place for place, line in enumerate(lines) if "refine[1]/shout[3]" in line]
    assert [lines[place + 1 : place + 3] for place in items] == [["    word = 'fox'", "    -> out = 'FOX'"]]
    assert "DF0601 hello.name" in cli("run", ":misfit", "--trace").err


def test_a_trace_shortens_and_tells_of_failures_and_skips(cli: Cli) -> None:
    failing = cli("run", ":several", "--trace").err
    assert "    -> out failed: ValueError: left side" in failing
    assert "    -> out skipped: " in cli("run", ":skips", "--trace").err
    long = cli("run", ":passes", "--trace", "--input", f'x="{"y" * 500}"').err
    assert max(map(len, long.splitlines())) < 120


def test_a_trace_tells_of_attempts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("async def no(x: int) -> int:\n    raise ValueError('no luck')\n")
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nuses: {own: ./own.py}\n"
        "nodes: {n: {type: own.no, values: {x: 1}, policy: {retry: {retries: 1}}}}\noutputs: {out: n}\n"
    )
    done = cli("run", str(tmp_path / "f.yaml"), "--trace")
    assert "attempt 1 of n failed: ValueError: no luck" in done.err.splitlines()


def test_what_nodes_log_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nnodes:\n"
        "  low: {type: control.log, values: {value: low}, config: {level: debug}}\n"
        "  high: {type: control.log, values: {value: a}, config: {level: error, message: '{{ value }}!'}}\n"
    )
    told = [line for line in cli("run", str(tmp_path / "f.yaml")).err.splitlines() if "done" not in line]
    assert told[0] == "error: high: a!"
    assert len(told) == 2  # and how the run ended


def test_why_a_failure_was_handled_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("async def no(x: int) -> int:\n    raise ValueError('no luck')\n")
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nuses: {own: ./own.py}\n"
        "nodes: {n: {type: own.no, values: {x: 1}, policy: {default: 7}}}\noutputs: {out: n}\n"
    )
    done = cli("run", str(tmp_path / "f.yaml"))
    assert done.out == "out: 7\n"
    assert done.err.splitlines()[0].split("  ")[-1] == "(n failed: ValueError: no luck)"


def test_a_document_finds_the_modules_beside_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "beside_document.py").write_text("async def one() -> int:\n    return 1\n")
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nnodes: {n: {type: 'beside_document:one'}}\noutputs: {out: n}\n"
    )
    assert cli("run", str(tmp_path / "f.yaml")).out == "out: 1\n"
    assert cli("check", str(tmp_path / "f.yaml")).out.endswith("beside_document:one\n")
