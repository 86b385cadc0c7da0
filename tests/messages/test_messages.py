"""Each message says whole what its row says; no text of a message and no class of errors is without one."""

from __future__ import annotations

import re
from functools import cache

import pytest

from dataflow import errors
from tests.messages import (
    agentflow,
    agentron,
    asking,
    cagent,
    clickweave,
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
from tests.messages.texts import EXEMPT, texts_of_messages

TABLES = {
    module.__name__.rpartition(".")[2]: module.ROWS
    for module in (
        agentflow,
        agentron,
        asking,
        cagent,
        clickweave,
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
ROWS = [pytest.param(row, id=f"{table}: {row.name}") for table, rows in TABLES.items() for row in rows]


def is_as_told(row: Row, text: str) -> bool:
    """Compare whole; `…` in a row stands for what is not the engine's."""
    return re.fullmatch(re.escape(row.text).replace("…", ".*"), text, re.DOTALL) is not None


@pytest.mark.parametrize("row", ROWS)
def test_a_situation_is_told_in_these_words(row: Row) -> None:
    text = told(row.stimulus)
    assert is_as_told(row, text), f"{text}\n\nexpected: {row.text}"


def test_the_names_of_the_rows_of_a_table_differ() -> None:
    for rows in TABLES.values():
        assert len({row.name for row in rows}) == len(rows)


@cache
def all_texts() -> str:
    return "\n".join(row.text for rows in TABLES.values() for row in rows)


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
