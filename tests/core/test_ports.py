"""Ports, their kinds, and the markers that stand for the lack of a value."""

from __future__ import annotations

import copy
import pickle
from typing import Annotated, Any

import pytest

from dataflow import SKIP, ExecutionContext, Maybe, Port, Ports, Signal, Tools
from dataflow.core.ports import (
    MISSING,
    InPort,
    OutPort,
    PortKind,
    in_port,
    is_maybe,
    kind_of,
    out_port,
    plain_type,
)


class Desk(Tools):
    """Tools of one kind."""


def test_annotated_is_stripped_from_the_outside() -> None:
    cases: list[tuple[object, object]] = [
        (int, int),
        (Any, Any),
        (None, None),
        (Annotated[int, "metres"], int),
        (Maybe[int], int),
        (Annotated[Maybe[list[int]], "metres"], list[int]),
        (list[Annotated[int, "metres"]], list[Annotated[int, "metres"]]),
    ]
    assert [plain_type(annotation) for annotation, _ in cases] == [plain for _, plain in cases]


def test_only_maybe_may_be_left_out() -> None:
    optional = [Maybe[int], Annotated[Maybe[int], "metres"], Maybe[Annotated[int, "metres"]]]
    assert all(map(is_maybe, optional))
    assert not any(map(is_maybe, [int, int | None, Annotated[int, "maybe"], list[Maybe[int]]]))


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


def test_a_marker_takes_no_attributes() -> None:
    with pytest.raises(AttributeError):
        SKIP.value = 3


def test_a_signal_says_only_that_it_is_one() -> None:
    assert repr(Signal()) == "Signal()"


def test_an_input_port_without_a_default_is_required() -> None:
    assert InPort("a", int, PortKind.DATA).required
    falsy_values: list[object] = [None, 0, "", False, [], SKIP]
    for falsy in falsy_values:
        assert not InPort("a", int, PortKind.DATA, default=falsy).required


def test_a_described_port_keeps_what_it_was_given() -> None:
    bare, full = Port(int), Port(str, default="x", many=True, conditional=True)
    assert (bare.type, bare.default, bare.many, bare.conditional) == (int, MISSING, False, False)
    assert (full.type, full.default, full.many, full.conditional) == (str, "x", True, True)
    assert Ports() == ({}, {})
    assert Ports(inputs={"a": int}).inputs == {"a": int}
    port = OutPort("a", int, PortKind.DATA)
    assert (port.conditional, port.same_as) == (False, None)


def test_ports_of_plain_types_that_are_alike_are_shared() -> None:
    assert in_port("told", str, "") is in_port("told", str, "")
    assert out_port("told", str, conditional=True) is out_port("told", str, conditional=True)
    for default in (MISSING, "", "a", 1, True, None):
        assert in_port("told", str, default).default is default
    for one, other in ((int, bool), (float, int), (str, Any)):
        assert (in_port("told", one).type, in_port("told", other).type) == (one, other)
