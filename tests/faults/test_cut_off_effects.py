"""A call with `effect="ask"` that was cut off is repeated only if the answer to its ask says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from dataflow import AnswerRefused, ArgumentInvalid, Flow, RunFailed, Store, collect, each, node
from dataflow.cli import main
from dataflow.durable.ownership import cancel_stored
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import read_run
from dataflow.stores import Answer

SENT = Path("sent.txt")


async def send(x: int) -> int:
    """Have an effect; the process ends after one that the environment names."""
    note(x)
    if os.environ.get("DIES") == str(x):
        os._exit(9)
    return x * 10


def note(x: int) -> None:
    with SENT.open("a") as file:
        file.write(f"{x} ")


def plain(**settings: Any) -> Flow:
    with Flow("plain") as flow:
        flow.output("o", flow.add(node(send).with_(effect="ask", **settings), x=1).out)
    return flow


def mapped() -> Flow:
    with Flow("mapped") as flow:
        item = each([2, 1, 3], max_concurrency=1)
        flow.output("o", collect(flow.add(node(send).with_(effect="ask"), x=item).out))
    return flow


def dying(code: str, folder: Path) -> None:
    """Run code in a process that ends in `send`."""
    code = f"from tests.faults.test_cut_off_effects import *; store = Store.sqlite('runs.db'); {code}"
    env = {**os.environ, "DIES": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(
        [sys.executable, "-c", code], check=False, env=env, cwd=folder, capture_output=True
    )
    assert ended.returncode == 9, ended.stderr


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of each flow that was cut off."""
    folder = tmp_path_factory.mktemp("killed")
    for flow in ("plain", "mapped"):
        dying(f"{flow}().using(store=store).run_sync()", folder)
    return folder


@pytest.fixture(autouse=True)
def store(killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    SENT.unlink()
    return Store.sqlite("runs.db")


def run_of(store: Store, flow: str) -> str:
    return next(run.id for run in store.runs() if run.flow == flow)


def sent() -> list[str]:
    return SENT.read_text().split() if SENT.exists() else []


@pytest.mark.parametrize(
    ("answer", "outcome"), [("run again", 10), ({"value": 11}, 11), ("give up", "DF0882")], ids=str
)
@pytest.mark.parametrize("way", ["resume", "inbox", "in one call", "cancelled", "fork"])
async def test_the_answer_decides(store: Store, answer: Any, outcome: Any, way: str) -> None:
    run, flow, answers = run_of(store, "plain"), plain().using(store=store), {"send": answer}
    if way == "cancelled":
        cancel_stored(store, run)
    if way == "fork":
        run = (await flow.fork(run, changes={})).run_id
    elif way != "in one call":
        for _ in range(2):  # the ask stays open
            [ask] = (await flow.resume(run)).asks
            assert (ask.id, ask.show["key"], "send was cut off" in ask.prompt) == (
                "send",
                f"{run}/send",
                True,
            )
            with pytest.raises(AnswerRefused, match=r"DF0601.*run again"):
                await flow.resume(run, {"send": "again"})
    assert sent() == []
    if way == "inbox":
        store.answer(run, Answer("send", json.dumps(answers.pop("send"))))
    if outcome != "DF0882":
        assert (await flow.resume(run, answers))["o"] == outcome
        assert sent() == ["1"] * (answer == "run again")
        return
    with pytest.raises(RunFailed, match="DF0882"):
        await flow.resume(run, answers)
    explained = str(StoredReasons(read_run(store, store.find(run))).explain("send"))
    assert "answered with 'give up'" in explained.splitlines()[0]
    assert [ask.id for ask in (await flow.resume(run)).asks] == ["send"]  # it asks again
    assert (await flow.resume(run, {"send": "run again"}))["o"] == 10
    assert sent() == ["1"]


async def test_an_item_is_asked_about_by_its_path(store: Store) -> None:
    run, flow = run_of(store, "mapped"), mapped().using(store=store)
    assert [ask.id for ask in (await flow.resume(run)).asks] == ["send[1]"]
    assert (await flow.resume(run, {"send[1]": {"value": 5}}))["o"] == [20, 5, 30]
    assert sent() == ["3"]


async def test_a_run_that_is_executed_takes_the_answer(store: Store) -> None:
    answered = anyio.Event()

    async def busy() -> None:
        await answered.wait()

    flow = plain()
    flow.add(busy)
    async with flow.using(store=store).resuming(run_of(store, "plain")) as run:
        async for event in run.events():
            if event.kind == "ask_opened":
                await run.answer({"send": "run again"})
                answered.set()
        assert ((await run)["o"], sent()) == (10, ["1"])


async def test_giving_up_can_be_handled(store: Store) -> None:
    result = await plain(default=7).using(store=store).resume(run_of(store, "plain"), {"send": "give up"})
    assert (result["o"], sent()) == (7, [])


async def test_one_that_is_cut_off_again_is_asked_about_again(store: Store, tmp_path: Path) -> None:
    run, flow = run_of(store, "plain"), plain().using(store=store)
    code = f"anyio.run(plain().using(store=store).resume, {run!r}, {{'send': 'run again'}})"
    dying(code, tmp_path)
    assert sent() == ["1"]
    assert [ask.id for ask in (await flow.resume(run)).asks] == ["send"]
    assert (await flow.resume(run, {"send": {"value": 3}}))["o"] == 3
    assert sent() == ["1"]


def test_the_command_line_answers(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    Path("flows.py").write_text("from tests.faults.test_cut_off_effects import *\nflow = plain()\n")
    run = run_of(store, "plain")
    command = ["--store", "runs.db", "--flow", "flows.py:flow"]
    assert main(["resume", run, *command]) == 3
    assert "open  send  run again | give up | {value: int}  send was cut off" in capsys.readouterr().err
    assert main(["resume", run, "send=run again", *command]) == 0
    assert capsys.readouterr().out == "o: 10\n"


def test_effect_takes_no_other_word() -> None:
    with pytest.raises(ArgumentInvalid, match="True, False or 'ask'"):
        node(send).with_(effect="never")  # type: ignore[arg-type]
