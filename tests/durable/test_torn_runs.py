"""A run whose store was cut off anywhere goes on from its last state or the one before (B27)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dataflow import Flow, StoreError, node
from dataflow.stores import Store
from tests.support.stored_runs import add, one_ask

#: Cuts are so far apart, in bytes.
STEP = 2_003


def ten_nodes(folder: Path, copy: Path | None = None) -> Flow:
    """Wire ten nodes, each in a batch of its own, and an ask.

    The last of them copies the files of the store, which has all before it.
    """
    counted = node(effect=True)(add)

    @node(effect=True)
    async def last(a: int, b: int) -> int:
        if copy is not None:
            shutil.copytree(folder, copy)
        return a + b

    with Flow("ten") as f:
        step = f.add(counted, a=0, b=1)
        for _ in range(8):
            step = f.add(counted, a=step.out, b=1)
        step = f.add(last, a=step.out, b=1)
        f.output("o", f.add(add, a=step.out, b=f.add(one_ask).out).out)
    return f.using(store=Store.sqlite(folder / "runs.db"))


@pytest.fixture
async def copied(tmp_path: Path) -> tuple[Path, str]:
    """Return the files of a store as a process would leave them that dies in the last node, and the run."""
    (tmp_path / "whole").mkdir()
    paused = await ten_nodes(tmp_path / "whole", tmp_path / "copied").run()
    assert (tmp_path / "copied" / "runs.db-wal").stat().st_size > 10 * STEP
    return tmp_path / "copied", paused.run_id


async def outcome(folder: Path, run: str) -> str:
    """Resume a run and answer it; tell what it came to, or why it could not be."""
    flow = ten_nodes(folder)
    try:
        paused = await flow.resume(run)
        return str((await flow.resume(paused, {"ask": 5})).outputs)
    except StoreError as error:
        return str(error)


async def test_a_run_goes_on_from_wherever_its_log_was_cut(copied: tuple[Path, str], tmp_path: Path) -> None:
    folder, run = copied
    log = (folder / "runs.db-wal").read_bytes()
    found: list[str] = []
    for end in range(0, len(log) + STEP, STEP):
        cut = tmp_path / "cut"
        shutil.copytree(folder, cut)
        (cut / "runs.db-wal").write_bytes(log[:end])
        found.append(await outcome(cut, run))
        shutil.rmtree(cut)
    whole = str({"o": 15})
    assert found[-1] == whole
    first = found.index(whole)
    assert found[first:] == [whole] * len(found[first:])  # never less behind a later cut
    for text in found[:first]:
        assert "DF1102" in text or "DF1115" in text
