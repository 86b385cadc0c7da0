"""F-R03: SIGHUP cancels a run of the command line as SIGTERM does, and is left alone where it is ignored."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Store

FLOW: Final = """
import os, signal
from pathlib import Path
import anyio
from dataflow import Ask, Flow

async def wait() -> int:
    print("begun", flush=True)
    try:
        while not Path("end").exists():
            await anyio.sleep(0.02)
    except BaseException:
        await anyio.sleep(0.1)  # clean-up that waits
        raise
    finally:
        Path("cleaned").touch()
    return 1

with Flow("f") as flow:
    flow.output("o", flow.add(wait).out)
"""


@contextmanager
def running(folder: Path, ignore: bool, *words: str, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command in a folder, with SIGHUP ignored or not, and wait until its node runs."""
    (folder / "f.py").write_text(FLOW)
    action = signal.SIG_IGN if ignore else signal.SIG_DFL
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, "rb") as said,
        subprocess.Popen(
            [sys.executable, "-m", "dataflow", *words, "--store", "runs.db"],
            cwd=folder,
            stdout=writing,
            preexec_fn=partial(signal.signal, signal.SIGHUP, action),  # noqa: PLW1509 - no threads here
            **{"stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, **streams},
        ) as process,
    ):
        os.close(writing)
        try:
            assert said.readline() == b"begun\n"
            yield process
        finally:
            process.kill()


def end_of(folder: Path, process: subprocess.Popen[bytes]) -> tuple[int, list[str], bool]:
    """Return the exit code, the status of each run, and whether the node has cleaned up."""
    code = process.wait(60)
    statuses = [str(run.status) for run in Store.sqlite(folder / "runs.db").runs()]
    return code, statuses, (folder / "cleaned").exists()


def once(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGHUP)


def more_than_once(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGHUP):  # as systemd does with SendSIGHUP
        process.send_signal(number)


@pytest.mark.parametrize(("send", "codes"), [(once, {129}), (more_than_once, {129, 143})])
def test_a_run_is_cancelled(
    tmp_path: Path, send: Callable[[subprocess.Popen[bytes]], None], codes: set[int]
) -> None:
    with running(tmp_path, False, "run", "f.py") as process:
        send(process)
        code, statuses, is_clean = end_of(tmp_path, process)
    assert code in codes
    assert (statuses, is_clean) == (["cancelled"], True)
    [run] = Store.sqlite(tmp_path / "runs.db").runs()
    (tmp_path / "cleaned").unlink()
    for command in ("resume", "fork"):
        with running(tmp_path, False, command, run.id) as process:
            once(process)
            code, statuses, is_clean = end_of(tmp_path, process)
        assert (code, set(statuses), is_clean) == (129, {"cancelled"}, True), command


def test_a_terminal_that_closes(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with running(
        tmp_path, False, "run", "f.py", stdin=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        once(process)  # the shell
        os.close(ours)
        assert end_of(tmp_path, process) == (129, ["cancelled"], True)


def test_what_is_ignored_remains_ignored(tmp_path: Path) -> None:
    with running(tmp_path, True, "run", "f.py") as process:
        once(process)
        (tmp_path / "end").touch()
        assert end_of(tmp_path, process) == (0, ["completed"], True)
