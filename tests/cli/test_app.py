"""The command line as a whole, its texts, and `dataflow explain`: the meaning of a code."""

from __future__ import annotations

import importlib.metadata
import runpy
import signal
import subprocess
import sys
from typing import Any

import pytest

from dataflow.cli import main
from dataflow.cli.app import DISTRIBUTION
from dataflow.cli.output import duration, one_line
from dataflow.cli.targets import find_flow
from tests.cli.conftest import Cli
from tests.support.source import home_of

COMMANDS = ("run", "check", "show", "nodes", "schema")


def test_help_names_every_command(cli: Cli) -> None:
    done = cli("--help")
    assert (done.code, done.err) == (0, "")
    assert set(COMMANDS) <= set(done.out.split())


def test_help_loads_nothing_that_takes_long() -> None:
    program = (
        "import sys; from dataflow.cli import main; main(['--help']); "
        "print(sorted(sys.modules.keys() & {'jinja2', 'networkx', 'pydantic', 'rich', 'yaml'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("columns", [40, 80, 300])
def test_help_fits_into_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in COMMANDS:
        assert max(map(len, cli(command, "--help").out.splitlines())) <= min(columns, 110)


def test_the_version_is_that_of_the_distribution(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", {DISTRIBUTION: "1.2.3"}.__getitem__)
    assert cli("--version") == (0, "dataflow 1.2.3\n", "")

    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert cli("--version") == (0, "dataflow (not installed)\n", "")


@pytest.mark.parametrize(
    "arguments", [(), ("run",), ("nothing",), ("run", "x", "--nothing"), ("run", "a", "b", "c")]
)
def test_wrong_usage_is_told_on_standard_error(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    if arguments:
        assert "Error: " in done.err


def test_the_module_runs_as_the_command(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["dataflow", "--help"])
    for module in ("dataflow.cli", "dataflow"):
        with pytest.raises(SystemExit) as ended:
            runpy.run_module(module, run_name="__main__")
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith("Usage: dataflow ")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_whatever_is_being_done(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    def interrupted(target: str, *, imports: bool) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr(home_of(find_flow), "find_flow", interrupted)
    done = cli("check", ":greet")
    assert (done.code, done.err) == (code, "cancelled\n")


def test_an_exit_without_a_number_is_a_failure(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def app() -> Any:
        raise SystemExit("text")

    monkeypatch.setattr(home_of(main), "_app", app)
    assert cli().code == 1
    monkeypatch.setattr(home_of(main), "_app", lambda: lambda **_: None)
    assert cli().code == 0


@pytest.mark.parametrize("code", ["df1405", "1405", " DF1405 "])
def test_a_code_is_explained(cli: Cli, code: str) -> None:
    done = cli("explain", code)
    assert done.code == 0
    head, _, meaning, _, example, shown, _, cure = done.out.splitlines()
    assert head.startswith("DF1405: ")
    assert meaning
    assert (example, shown) == ("Example:", "    dataflow runs prune --older-than yesterday")
    assert cure


def test_a_code_is_explained_as_json(cli: Cli) -> None:
    assert cli("explain", "DF1405", "--json").json.keys() == {"code", "text", "meaning", "example", "cure"}


def test_zeros_may_be_left_out(cli: Cli) -> None:
    assert [cli("explain", code).out[:7] for code in ("302", "df302")] == ["DF0302:"] * 2


def test_codes_of_packs_are_explained(cli: Cli) -> None:
    assert cli("explain", "DF2001").out.startswith("DF2001: ")


def test_an_unknown_code_is_wrong_usage_and_similar_ones_are_listed(cli: Cli) -> None:
    done = cli("explain", "DF1499")
    assert (done.code, done.out, done.codes[0]) == (2, "", "DF1435")
    assert {code[:4] for code in done.codes[1:]} == {"DF14"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.00 s"), (0.004, "0.00 s"), (0.099, "0.10 s"), (0.35, "0.3 s"), (9.94, "9.9 s"),
        (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3725, "1 h 02 min"), (260_000, "3 days"),
    ],
)  # fmt: skip
def test_a_duration_reads_as_people_write_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_line_has_no_line_ends_and_a_limit() -> None:
    assert one_line("a\n  b\t\rc") == "a b \\rc"
    assert one_line("word " * 100, 20) == "word word word wo..."
