"""The command line as a process: signals, pipes, encodings."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import pytest

from tests.cli.processes import COMMAND, EXAMPLES, environment, read_until, started

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environ = environment(**options.pop("environ", {}))
    return subprocess.run(
        [*COMMAND, *arguments], check=False, encoding="utf-8", env=environ, capture_output=True, **options
    )


@pytest.mark.parametrize("flow", ["waits", "blocks", "blocks_other"])
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_cancels_a_run_and_leaves_nothing(flow: str, number: signal.Signals, code: int) -> None:
    with started("run", f"{EXAMPLES}:{flow}", "--json") as process:
        read_until(process.stderr, "begun")
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == code
    assert json.loads(out)["status"] == "cancelled"
    assert err.splitlines()[-1] == "cancelled"
    assert "Traceback" not in err


@pytest.mark.parametrize("flow", ["swallows", "blocks_loop", "blocks_in_c", "blocks_and_hears"])
def test_a_second_signal_ends_at_once_whatever_a_node_does(flow: str) -> None:
    with started("run", f"{EXAMPLES}:{flow}") as process:
        read_until(process.stdout, "begun")
        process.send_signal(signal.SIGINT)
        read_until(process.stderr, "cancelling")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("cancelled: ended at once")
    assert "Traceback" not in err


@pytest.mark.parametrize(("flow", "out"), [("ends_a_fork", -signal.SIGTERM), ("ignores_in_a_fork", True)])
def test_a_forked_process_has_its_signals_back(flow: str, out: object) -> None:
    done = run("run", f"{EXAMPLES}:{flow}", "--json")
    assert json.loads(done.stdout)["outputs"] == {"out": out}
    assert "cancelling" not in done.stderr


def test_a_node_that_takes_a_signal_has_it() -> None:
    with started("run", f"{EXAMPLES}:serves") as process:
        read_until(process.stdout, "begun")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "cleaned up\n")
    assert (err.count("cancelling"), err.splitlines()[-1]) == (1, "cancelled")


def test_a_node_that_swallows_cancellation_does_not_hold_up_the_process_for_ever() -> None:
    with started("run", f"{EXAMPLES}:swallows") as process:
        read_until(process.stdout, "begun")
        process.send_signal(signal.SIGTERM)
        read_until(process.stdout, "swallowed")
        _, err = process.communicate()
    assert process.returncode == 143
    assert err.splitlines()[-1] == "cancelled: ended after 6 s, without waiting for swallow"


@pytest.mark.parametrize(
    "command", [("run", f"{EXAMPLES}:passes"), ("check", f"{EXAMPLES}:greet"), ("schema",)]
)
def test_a_reader_that_goes_away_is_no_failure(command: tuple[str, ...]) -> None:
    with started(*command) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_failure(closed: str) -> None:
    command = " ".join([*COMMAND, "run", f"{EXAMPLES}:passes", "--input", "x=1", "--events", closed])
    done = subprocess.run(
        ["bash", "-c", command], check=False, capture_output=True, text=True, env=environment()
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_an_encoding_without_a_letter_is_no_failure() -> None:
    environ = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "30", "NO_COLOR": "1"}
    done = run("run", f"{EXAMPLES}:greet", "Zoë", environ=environ)
    assert (done.returncode, done.stdout) == (0, "text: hello Zo\\xeb\n")
    done = run("run", f"{EXAMPLES}:greet", "Zoë 😀", "--json", environ=environ)
    assert json.loads(done.stdout)["outputs"] == {"text": "hello Zoë 😀"}
    assert run("run", "--help", environ=environ).returncode == 0
