"""Each message says whole what its row says; no text of one and no class of errors is without a row."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from syrupy.assertion import SnapshotAssertion

from dataflow import DataflowError, errors
from dataflow.diagnostics.catalogue import by_code
from dataflow.packs.registry import installed_diagnostics
from tests.messages.raised_by import RAISING, error_of
from tests.messages.telling import Row, told

FOLDER: Final = Path(__file__).parent
FORMATS: Final = ("agentflow", "agentron", "cagent", "clickweave", "hifide")
CORE: Final = ("building", "commands", "going", "keeping", "raised_by", "values", "writing")
TABLES: dict[str, list[Row]] = {}
for name in (*FORMATS, *CORE, "control", "conversations"):
    module = import_module(f"tests.messages.{name}")
    TABLES |= getattr(module, "TABLES", None) or {name: module.ROWS}
CODE = re.compile(r"\b[A-Z]{2}\d{4}\b")
CALL_SITE = re.compile(r"/\S+\.py:\d+")
RUN_ID = re.compile(r"\b\d{8}T\d{6}Z-\w+")


@pytest.mark.parametrize("table", TABLES)
def test_messages_are_those_of_the_snapshot(table: str, snapshot: SnapshotAssertion) -> None:
    assert {row.name: mask(row.hide, told(row.stimulus)) for row in TABLES[table]} == snapshot


def mask(pattern: str, text: str) -> str:
    """Hide the ids of runs, lines of this project's files, and what a row hides."""
    text = CALL_SITE.sub("…", RUN_ID.sub("…", text))
    return re.sub(pattern, "…", text) if pattern else text


SNAPSHOTS: Final = FOLDER / "__snapshots__" / "test_messages.ambr"
#: Codes that no row shows, with the reason.
UNSHOWN: Final = {
    "DF0880": "needs a node that forgets to await, in tests/faults/test_checked_values.py",
    "DF0868": "needs a resumed run, in tests/faults/test_decisions.py",
    "DF0869": "needs a resumed run, in tests/faults/test_decisions.py",
    "DF0882": "raised after a crash, in tests/faults/test_cut_off_effects.py",
    "DF1109": "raised in a forked process, in tests/stores/test_sqlite_files.py",
    "DF1168": "needs a damaged file, in tests/faults/test_stores.py",
    "DF1407": "needs a file of another system, in tests/cli/test_foreign.py",
    "DF1423": "needs a run of a flow without a file, in tests/cli/test_runs.py",
    "DF1425": "needs an edited file, in tests/cli/test_runs.py",
    "DF1430": "needs an ask that has expired, in tests/cli/test_asks.py",
    "DF1440": "needs two packs with one code, in tests/faults/test_clear_messages.py",
    "DF1439": "needs other files in the package, in tests/faults/test_installed_packs.py",
    "DF1431": "needs another process, in tests/cli/test_signals.py",
}


def test_each_kind_of_problem_is_in_a_snapshot() -> None:
    shown = set(CODE.findall(SNAPSHOTS.read_text(encoding="utf-8")))
    assert {*by_code(*installed_diagnostics().values())} - shown == UNSHOWN.keys()


def test_the_names_of_the_rows_of_a_table_differ() -> None:
    for rows in TABLES.values():
        assert len({row.name for row in rows}) == len(rows)


def test_each_class_of_errors_has_a_row() -> None:
    classes = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, DataflowError) and kind is not DataflowError
    }
    assert classes == {*RAISING}


def data_of(error: DataflowError) -> tuple[Any, ...]:
    return type(error), str(error), error.args, error.code, error.diagnostics, repr(vars(error))


def test_copies_of_errors_keep_their_data(subtests: pytest.Subtests) -> None:
    for kind, raise_it in RAISING.items():
        with subtests.test(kind):
            error: Any = error_of(kind, raise_it)
            if hasattr(error, "result"):  # holds the functions of its run, which cannot be pickled
                error.result = replace(error.result, _plan=None, _root=None, outputs={}, _paused=None)
            assert data_of(copy.copy(error)) == data_of(error)
            assert data_of(pickle.loads(pickle.dumps(error))) == data_of(error)
