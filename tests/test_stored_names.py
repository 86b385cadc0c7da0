"""Stored names: what was stored under the paths of modules is read wherever these are now (S12.3, S20)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, RunFailed
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import scripted
from tests.stored_names import BROKEN, CASES, DOCUMENTS, FOLDER, desk_at, store_at

#: What is written as the path of a module of the engine, of a pack or of a format.
OF_A_MODULE: Final = re.compile(r"\bdataflow(?:_\w+)?(?:\.\w+)+:")


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk_at(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.parametrize("name", CASES)
async def test_a_run_that_was_stored_under_the_names_of_modules_goes_on(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    runs = store_at(tmp_path / "runs.db")
    store = SqliteStore(tmp_path / "runs.db")
    with scripted(*case.then_says) as script:
        result = await case.flow().using(store=store, memo=store).resume(runs[name], case.answers)
    assert {key: result.outputs[key] for key in case.outputs} == case.outputs
    assert result.status == ("completed" if case.outputs else "paused")
    assert len(script.requests) == len(case.then_says)  # nothing that stands is done again


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_with_the_names_of_modules_is_the_flow_that_it_was(name: str) -> None:
    flow = Flow.load(FOLDER / f"{name}.native.yaml")
    assert flow.check() == []
    assert {**flow.to_dict(), "name": ""} == {**DOCUMENTS[name]().to_dict(), "name": ""}


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_document_with_the_names_of_modules_runs(name: str) -> None:
    case = CASES[name]
    flow = Flow.load(FOLDER / f"{name}.native.yaml")
    with scripted(*(case.says or ("said",))) as script:
        if BROKEN in case.says:
            with pytest.raises(RunFailed, match="the script says so"):
                await flow.run(**case.inputs)
        else:
            result = await flow.run(**case.inputs)
            assert result.status == ("completed" if name == "clickweave" else "paused")
    assert len(script.requests) == len(case.says)
