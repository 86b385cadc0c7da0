"""F-C10: what warns during a run is in its result, its record and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dataflow import Flow, Store, collect, each, race
from dataflow.cli.app import main
from dataflow.cli.output import ExitCode
from tests.support.steady import warn_of_blocking

BLOCKS = """
from dataflow import Flow

async def busy(x: int) -> int:
    return x

with Flow("f") as flow:
    flow.output("o", flow.add(busy, x=1).out)
"""


async def quick(x: int) -> int:
    return x


async def fails(x: int) -> int:
    raise ValueError(x)


def codes(warnings: object) -> list[str]:
    assert isinstance(warnings, tuple | list)
    return sorted(" ".join(warning.split()[:2]).rstrip(":") for warning in warnings)


@pytest.fixture
def all_block(monkeypatch: pytest.MonkeyPatch) -> None:
    warn_of_blocking(monkeypatch, above=-1.0)


@pytest.mark.usefixtures("all_block")
async def test_a_node_that_blocks_warns_once(tmp_path: Path) -> None:
    with Flow() as f:
        item = f.add(quick, x=each([1, 2, 3]))
        f.output("o", collect(item.out))
        f.output("p", f.add(quick, x=1).out)
    store = Store.sqlite(tmp_path / "runs.db")
    for flow in (f, f.using(store=store)):
        result = await flow.run()
        assert codes(result.warnings) == ["DF0842 quick[0]", "DF0842 quick_2"]
    async with f.start() as run:
        events = [event async for event in run.events() if event.kind == "warning"]
    assert [event.data["code"] for event in events] == ["loop_blocked"] * 2
    assert tuple(event.data["text"] for event in events) == (await run).warnings


async def test_a_failure_that_lost_a_race_is_a_warning_of_the_result() -> None:
    with Flow() as f:
        f.output("o", race(f.add(fails, x=1).out, f.add(quick, x=f.add(quick, x=1).out).out))
    assert codes((await f.run()).warnings) == ["DF0836 fails.out"]


@pytest.mark.usefixtures("all_block")
def test_the_command_line_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "busy.py").write_text(BLOCKS)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "busy.py", "--json"]) == ExitCode.COMPLETED
    out, err = capsys.readouterr()
    assert codes(json.loads(out)["warnings"]) == ["DF0842 busy"]
    assert len([line for line in err.splitlines() if "DF0842" in line]) == 1
    run = json.loads(out)["run"]
    assert main(["runs", "show", run]) == ExitCode.COMPLETED
    assert "DF0842" in capsys.readouterr().out
