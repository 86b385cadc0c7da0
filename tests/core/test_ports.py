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


@pytest.mark.parametrize(
    ("annotation", "plain"),
    [
        (int, int),
        (Any, Any),
        (None, None),
        (Annotated[int, "metres"], int),
        (Maybe[int], int),
        (Annotated[Maybe[list[int]], "metres"], list[int]),
        (list[Annotated[int, "metres"]], list[Annotated[int, "metres"]]),
    ],
)
def test_annotated_is_stripped_from_the_outside(annotation: object, plain: object) -> None:
    assert plain_type(annotation) == plain


@pytest.mark.parametrize(
    ("annotation", "is_one"),
    [
        (Maybe[int], True),
        (Annotated[Maybe[int], "metres"], True),
        (Maybe[Annotated[int, "metres"]], True),
        (int, False),
        (int | None, False),
        (Annotated[int, "maybe"], False),
        (list[Maybe[int]], False),
    ],
)
def test_only_maybe_may_be_left_out(annotation: object, is_one: bool) -> None:
    assert is_maybe(annotation) is is_one


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (str, PortKind.DATA),
        (Any, PortKind.DATA),
        (list[ExecutionContext], PortKind.DATA),
        (ExecutionContext, PortKind.CONTEXT),
        (Annotated[ExecutionContext, "main"], PortKind.CONTEXT),
        (Maybe[ExecutionContext], PortKind.CONTEXT),
        (Tools, PortKind.TOOLS),
        (Desk, PortKind.TOOLS),
        (Signal, PortKind.SIGNAL),
    ],
)
def test_the_kind_follows_from_the_type(annotation: object, kind: PortKind) -> None:
    assert kind_of(annotation) is kind


@pytest.mark.parametrize(("marker", "name"), [(SKIP, "SKIP"), (MISSING, "MISSING")])
def test_a_marker_stays_itself_when_it_is_copied(marker: object, name: str) -> None:
    assert repr(marker) == name
    assert copy.copy(marker) is marker
    assert copy.deepcopy([marker])[0] is marker
    assert pickle.loads(pickle.dumps(marker)) is marker


@pytest.mark.parametrize(("marker", "name"), [(SKIP, "SKIP"), (MISSING, "MISSING")])
def test_a_marker_is_neither_true_nor_false(marker: object, name: str) -> None:
    with pytest.raises(TypeError) as caught:
        bool(marker)
    assert str(caught.value) == f"{name} is neither true nor false; compare it with `is`"


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


def test_an_output_port_is_unconditional_unless_told() -> None:
    port = OutPort("a", int, PortKind.DATA)
    assert not port.conditional
    assert port.same_as is None


def test_the_described_port_keeps_what_it_was_given() -> None:
    bare, full = Port(int), Port(str, default="x", many=True, conditional=True)
    assert (bare.type, bare.default, bare.many, bare.conditional) == (int, MISSING, False, False)
    assert (full.type, full.default, full.many, full.conditional) == (str, "x", True, True)


def test_ports_name_nothing_by_default() -> None:
    assert Ports() == ({}, {})
    assert Ports(inputs={"a": int}).inputs == {"a": int}


def test_inputs_of_plain_types_that_are_alike_are_one() -> None:
    assert in_port("told", str, "") is in_port("told", str, "")


def test_outputs_of_plain_types_that_are_alike_are_one() -> None:
    assert out_port("told", str, conditional=True) is out_port("told", str, conditional=True)


@pytest.mark.parametrize("default", [MISSING, "", "a", 1, True, None])
def test_an_input_has_the_default_that_it_is_given(default: object) -> None:
    assert in_port("told", str, default).default is default


@pytest.mark.parametrize(("type", "other"), [(int, bool), (float, int), (str, Any)])
def test_inputs_of_one_name_have_each_its_type(type: object, other: object) -> None:
    assert (in_port("told", type).type, in_port("told", other).type) == (type, other)
