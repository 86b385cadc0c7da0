"""Errors can be copied and sent to another process."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import pytest

from dataflow import DataflowError
from tests.messages.raised_by import RAISING, error_of


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
