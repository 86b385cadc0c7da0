"""Ports, their kinds, and the markers that stand for the lack of a value."""

from __future__ import annotations

import copy
import pickle
from typing import Annotated, Any

import pytest

from dataflow import SKIP, ExecutionContext, Maybe, Signal, Tools
from dataflow.core.ports import (
    MISSING,
    PortKind,
    in_port,
    kind_of,
    out_port,
)


class Desk(Tools):
    """Tools of one kind."""


def test_the_kind_follows_from_the_type() -> None:
    kinds: dict[PortKind, list[object]] = {
        PortKind.DATA: [str, Any, list[ExecutionContext]],
        PortKind.CONTEXT: [
            ExecutionContext,
            Annotated[ExecutionContext, "main"],
            Maybe[ExecutionContext],
        ],
        PortKind.TOOLS: [Tools, Desk],
        PortKind.SIGNAL: [Signal],
    }
    found = {kind: {kind_of(one) for one in annotations} for kind, annotations in kinds.items()}
    assert found == {kind: {kind} for kind in kinds}


def test_a_marker_stays_itself_and_is_neither_true_nor_false() -> None:
    for marker, name in ((SKIP, "SKIP"), (MISSING, "MISSING")):
        assert repr(marker) == name
        assert copy.copy(marker) is marker
        assert copy.deepcopy([marker])[0] is marker
        assert pickle.loads(pickle.dumps(marker)) is marker
        with pytest.raises(TypeError, match=name):
            bool(marker)


def test_ports_of_plain_types_that_are_alike_are_shared() -> None:
    assert in_port("told", str, "") is in_port("told", str, "")
    assert out_port("told", str, conditional=True) is out_port("told", str, conditional=True)
    for default in (MISSING, "", "a", 1, True, None):
        assert in_port("told", str, default).default is default
    for one, other in ((int, bool), (float, int), (str, Any)):
        assert (in_port("told", one).type, in_port("told", other).type) == (one, other)
