"""Each message says whole what its row says; no text of a message and no class of errors is without one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from dataflow import errors
from dataflow.diagnostics.catalogue import by_code
from dataflow.packs.registry import installed_diagnostics
from tests.messages import (
    agentflow,
    agentron,
    asking,
    cagent,
    clickweave,
    commands,
    control,
    conversing,
    declaring,
    digests,
    documents,
    expressions,
    foreign,
    forks,
    hifide,
    living,
    memos,
    models,
    packs,
    raised_by,
    rounds,
    running,
    saving,
    secrets,
    stored_values,
    stores,
    storing,
    tool_servers,
    tooling,
    wiring,
)
from tests.messages.telling import Row, told
from tests.messages.texts import EXEMPT, UNSHOWN, texts_of_messages

TABLES = {
    module.__name__.rpartition(".")[2]: module.ROWS
    for module in (
        agentflow,
        agentron,
        asking,
        cagent,
        clickweave,
        commands,
        control,
        conversing,
        declaring,
        digests,
        documents,
        expressions,
        foreign,
        forks,
        hifide,
        living,
        memos,
        models,
        packs,
        raised_by,
        rounds,
        running,
        saving,
        secrets,
        stored_values,
        stores,
        storing,
        tool_servers,
        tooling,
        wiring,
    )
}
CODE = re.compile(r"\b[A-Z]{2}\d{4}\b")
RUN_ID = re.compile(r"\b\d{8}T\d{6}Z-\w+")


def is_as_written(row: Row, text: str) -> bool:
    """Compare whole; `…` in a row stands for what is not the engine's."""
    return not row.text or re.fullmatch(re.escape(row.text).replace("…", ".*"), text, re.DOTALL) is not None


@pytest.mark.parametrize("table", TABLES)
def test_messages_are_those_of_the_snapshot(table: str, snapshot: SnapshotAssertion) -> None:
    found = {row.name: told(row.stimulus) for row in TABLES[table]}
    rows = TABLES[table]
    wrong = [f"{row.name}: {found[row.name]}" for row in rows if not is_as_written(row, found[row.name])]
    assert not wrong
    coded = [row for row in rows if not row.text]
    assert {row.name: mask(row.hide, found[row.name]) for row in coded} == snapshot


def mask(pattern: str, text: str) -> str:
    """Hide the ids of runs, and what a row hides."""
    text = RUN_ID.sub("…", text)
    return re.sub(pattern, "…", text) if pattern else text


def test_each_kind_of_problem_is_in_a_snapshot() -> None:
    shown = set(CODE.findall(in_snapshots()))
    assert {*by_code(*installed_diagnostics())} - shown == UNSHOWN.keys()


def test_the_names_of_the_rows_of_a_table_differ() -> None:
    for rows in TABLES.values():
        assert len({row.name for row in rows}) == len(rows)


def in_snapshots() -> str:
    file = Path(__file__).with_name("__snapshots__") / "test_messages.ambr"
    return file.read_text(encoding="utf-8")


@cache
def all_texts() -> str:
    rows = "\n".join(row.text for rows in TABLES.values() for row in rows)
    return rows + in_snapshots().replace("\\'", "'")


TEXTS = [*texts_of_messages()]


@pytest.mark.parametrize(("place", "text"), [(place, text) for place, text in TEXTS if text not in EXEMPT])
def test_each_text_of_a_message_in_the_source_stands_in_a_row(place: str, text: str) -> None:
    assert text in all_texts(), f"{place} tells {text!r}, which no row of tests/messages shows"


def test_no_text_is_exempt_that_is_not_there() -> None:
    assert not EXEMPT.keys() - {text for _, text in TEXTS}


def test_each_class_of_errors_has_a_row() -> None:
    classes = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and issubclass(kind, errors.DataflowError)
        and kind is not errors.DataflowError
    }
    assert classes == {row.name for row in raised_by.ROWS}
