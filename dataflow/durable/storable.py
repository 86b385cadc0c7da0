"""Storable: what the runs of a plan need to live in a store, or why a port rules that out (S12.3)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from dataflow.compiler.addresses import classes_in, scopes_of, types_given
from dataflow.core.ports import MISSING
from dataflow.durable.flow_reads import reads_of
from dataflow.durable.shape import shape_of
from dataflow.errors import FlowInvalid, SecretMissing, ValueRefused
from dataflow.secrets.secret import Secret
from dataflow.values.classes import unstorable
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.compiler.plan import FlowPlan
    from dataflow.values.classes import Classes

__all__ = ["Storable", "make_known", "storable_of", "throwaway_writer"]


@dataclass(frozen=True, slots=True)
class Storable:
    """What follows from a plan alone for all its runs in stores."""

    classes: Classes
    shape: str  # as `FlowShape.write` writes it
    reads: str  # as `FlowReads.write` writes it
    secrets: tuple[Secret, ...]  # that stand in the flow itself


_KNOWN: Final[WeakKeyDictionary[FlowPlan, Storable]] = WeakKeyDictionary()


def storable_of(plan: FlowPlan) -> Storable:
    """Tell what runs of a plan need to be stored; raises FlowInvalid if a port or a default rules it out."""
    known = _KNOWN.get(plan)
    if known is None:
        types = list(types_given(plan))
        problems = [
            f"{where} cannot be stored: {reason}"
            for where, kind in types
            if (reason := unstorable(kind)) is not None
        ]
        classes = classes_in(plan)
        problems += _defaults_refused(plan, classes)
        if problems:
            raise FlowInvalid(plan.name, problems)
        known = _KNOWN[plan] = Storable(
            classes, shape_of(plan).write(), reads_of(plan).write(), tuple(_secrets_in(plan))
        )
    return known


def throwaway_writer(classes: Classes) -> Writer:
    """Make a writer that only finds out whether a value can be written: its blobs go nowhere."""
    return Writer(classes, lambda _name, _data: None)


def make_known(values: Iterable[object]) -> None:
    """Reveal the secrets among these values, so that none of them is written in clear before (S12.4)."""
    for value in values:
        if type(value) is Secret:
            with suppress(SecretMissing):  # who needs it is told when it is revealed to him
                value.reveal()


def _secrets_in(plan: FlowPlan) -> Iterator[Secret]:
    """Find the secrets among the constants and in the configs of a flow."""
    for scope in scopes_of(plan):
        for constant in scope.plan.initial:
            parts = vars(constant).values() if isinstance(constant, BaseModel) else (constant,)
            yield from (part for part in parts if type(part) is Secret)


def _defaults_refused(plan: FlowPlan, classes: Classes) -> Iterator[str]:
    """Tell of the values that nodes give where they fail, and that cannot be stored (S9.3)."""
    writer = throwaway_writer(classes)
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if node.policy is not None and node.policy.default is not MISSING:
                try:
                    writer.write(node.policy.default, f"{scope.address_of(node)}.out")
                except ValueRefused as refused:
                    yield f"the default of node '{scope.address_of(node)}': {refused}"
