"""The progress of runs that a program starts."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dataflow import ArgumentInvalid, Flow, Store
from tests.cli import examples
from tests.cli.conftest import Cli, Window

FLOW = """
from dataflow import Flow

async def one() -> int:
    return 1

with Flow("f") as f:
    f.output("o", f.add(one).out)
flow = f.using(progress=True)
"""


def shown() -> str:
    assert isinstance(sys.stderr, Window)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())


def test_without_a_terminal_it_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert examples.rounds.using(progress=True).run_sync()["title"] == "words"
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[:2] for line in lines][-1] == ["done", "refine"]
    assert "done       refine[0]/shout  4 items" in [line.rpartition("  ")[0] for line in lines]


async def test_on_a_terminal_it_is_a_tree_and_lines_of_what_runs_beside_it(
    window: Callable[..., None],
) -> None:
    window()
    flow = examples.review.using(progress=True, store=Store.memory())
    paused = await flow.run()
    assert [line.split()[:2] for line in shown().splitlines() if "publish" in line][-1] == ["publish", "asks"]
    window()
    async with flow.resuming(paused.run_id, {"title": "Ahoi"}) as resumed:
        assert (await examples.rounds.using(progress=True).run())["title"] == "words"
        await resumed
    assert "done       refine" in shown()
    rows = [line.split()[:2] for line in shown().splitlines() if re.match("  [a-z]", line)]
    assert ["hello", "done"] in rows


def test_a_command_shows_its_own_alone(cli: Cli, folder: Path) -> None:
    (folder / "flows.py").write_text(FLOW)
    assert [line.split()[0] for line in cli("run", "flows.py:flow", "--no-store").err.splitlines()] == [
        "done", "completed"
    ]  # fmt: skip
    with pytest.raises(ArgumentInvalid, match="progress"):
        Flow("f").using(progress=1)  # type: ignore[arg-type]
