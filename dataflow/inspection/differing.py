"""Differing: what two runs of a store differ in, first cause first, as their journals tell it (S13.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.base.wording import counted, visible
from dataflow.core.threads import call_in_thread
from dataflow.inspection.two_runs import Side, TwoRuns, side_of
from dataflow.inspection.value_diff import expanded, first_difference, first_message, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.stores import Store

__all__ = ["Difference", "DifferenceKind", "Differences", "diff"]


class DifferenceKind(StrEnum):
    """What it is that differs."""

    INPUT = "input"
    NODE = "node"  # what the flow says of it
    ANSWER = "answer"
    STATE = "state"
    FAILURE = "failure"
    VALUE = "value"
    MESSAGE = "message"
    OUTPUT = "output"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs. It is a cause if nothing that it comes from differs.

    `path` is that of the firing, `port` the name of a port, input or output. `where` leads into the value, to
    what differs first in it; `first` and `second` stand there, as JSON, None where there is nothing.
    """

    kind: DifferenceKind
    path: str
    port: str
    is_cause: bool
    text: str
    where: str = ""
    first: Any = None
    second: Any = None

    def __str__(self) -> str:
        return f"{'cause  ' if self.is_cause else 'follows'}  {self.text}"


@dataclass(frozen=True, slots=True)
class Differences:
    """What two runs differ in, in the order in which one thing leads to the next; empty if in nothing."""

    first: str
    second: str
    all: tuple[Difference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.all)

    @property
    def causes(self) -> tuple[Difference, ...]:
        """Those that come from no other."""
        return tuple(one for one in self.all if one.is_cause)

    def __str__(self) -> str:
        if not self.all:
            return f"{self.first} and {self.second} do not differ"
        head = f"{self.first} -> {self.second}: {counted(len(self.all), 'difference')}"
        return visible("\n".join([head, *map(str, self.all)]))


async def diff(store: Store, first: str, second: str) -> Differences:
    """Tell what two runs of a store differ in, by their journals, the first cause first (S13.6).

    Compares inputs, nodes, answers, states, values and messages. It needs no flow, and each run may be in
    any state. Values are compared as they are stored, so types count. Raises StoreError.
    """
    found: Differences = await call_in_thread(compare_runs, (store, first, second))
    return found


def compare_runs(store: Store, first: str, second: str) -> Differences:
    """Do what `diff` does, in the thread of the caller."""
    comparing = _Comparing(TwoRuns(side_of(store, first), side_of(store, second)), store)
    return Differences(first, second, tuple(comparing.all()))


class _Comparing:
    """Tells what two runs differ in."""

    def __init__(self, runs: TwoRuns, store: Store) -> None:
        self._runs = runs
        self._expanded = partial(expanded, blob=store.blob)

    def all(self) -> Iterator[Difference]:
        runs = self._runs
        for name in runs.inputs:
            yield self._value(DifferenceKind.INPUT, "", name, runs.inputs[name], f"$in.{name}", is_cause=True)
        told: set[str] = set()
        for path in runs.paths:
            for address, text in runs.edits_at(path, told):
                yield Difference(DifferenceKind.NODE, address, "", is_cause=True, text=f"{address}: {text}")
            yield from self._of_firing(path, is_cause=not (runs.follows(path) or runs.is_edited(path)))
        for name, pair in runs.outputs():
            is_cause = not runs.comes_from_others(name)
            yield self._value(DifferenceKind.OUTPUT, "", name, pair, f"output {name!r}", is_cause=is_cause)
        statuses = [side.past.status.value for side in runs.sides]
        if statuses[0] != statuses[1]:
            text = f"the run: {statuses[0]} -> {statuses[1]}"
            is_cause = not runs.paths and not runs.inputs
            yield Difference(DifferenceKind.RUN, "", "", is_cause, text, "", *statuses)

    def _of_firing(self, path: str, *, is_cause: bool) -> Iterator[Difference]:
        """Tell in what a firing differs: of its answer, its state, its failure and its values the first."""
        runs = self._runs
        states = [side.state_of(path) for side in runs.sides]
        answers = [side.answer_of(path) for side in runs.sides]
        if answers[0] != answers[1] and None not in states:
            first, second = (None if answer is None else {"value": answer} for answer in answers)
            name = f"answer to {path}"
            yield self._value(DifferenceKind.ANSWER, path, "", (first, second), name, is_cause=is_cause)
        elif None in states:
            there = runs.sides[states[0] is None]
            text = f"{path}: only in {there.past.run} ({there.state_of(path)})"
            yield Difference(DifferenceKind.STATE, path, "", is_cause, text, "", *states)
        elif states[0] != states[1]:
            text = f"{path}: {_state(runs.sides[0], path)} -> {_state(runs.sides[1], path)}"
            yield Difference(DifferenceKind.STATE, path, "", is_cause, text, "", *states)
        elif (failures := [side.failure_of(path) for side in runs.sides])[0] != failures[1]:
            text = f"{path} failed otherwise: {failures[0]} -> {failures[1]}"
            yield Difference(DifferenceKind.FAILURE, path, "", is_cause, text, "", *failures)
        else:
            for port, pair in runs.ports(path):
                yield self._value(DifferenceKind.VALUE, path, port, pair, f"{path}.{port}", is_cause=is_cause)

    def _value(
        self, kind: DifferenceKind, path: str, port: str, pair: tuple[Any, Any], name: str, *, is_cause: bool
    ) -> Difference:
        """Tell how two tokens differ: at the first place in their values, or the first message."""
        values = [self._expanded(one["value"]) if one and "value" in one else None for one in pair]
        if not all(one and "value" in one for one in pair):
            texts = [_token(one, value) for one, value in zip(pair, values, strict=True)]
            return Difference(kind, path, port, is_cause, f"{name}: {texts[0]} -> {texts[1]}", "", *values)
        message = first_message(*values)
        if message is not None:
            return self._message(path, port, message.number, (message.first, message.second), name, is_cause)
        place = first_difference(*values)
        left, right = shown(place.first, place.second)
        text = f"{name}{place.where}: {left} -> {right}"
        return Difference(kind, path, port, is_cause, text, place.where, place.first, place.second)

    def _message(
        self, path: str, port: str, number: int, pair: tuple[Any, Any], name: str, is_cause: bool
    ) -> Difference:
        roles = dict.fromkeys(one["role"] for one in pair if one is not None)
        contents = [None if one is None else one["content"] for one in pair]
        left, right = shown(*contents)
        texts = [text if one is not None else "none" for one, text in zip(pair, (left, right), strict=True)]
        text = f"{name}, message {number} ({' -> '.join(roles)}): {texts[0]} -> {texts[1]}"
        return Difference(DifferenceKind.MESSAGE, path, port, is_cause, text, f"[{number}]", *contents)


def _state(side: Side, path: str) -> str:
    """Write the state of a firing with what has led to it."""
    state, why = side.state_of(path), side.failure_of(path) or side.reason_of(path)
    return f"{state} ({why})" if why else f"{state}"


def _token(told: Mapping[str, Any] | None, value: Any) -> str:
    """Write what a port has come to, where the other has come to something else than a value."""
    if told is None:
        return "nothing yet"
    if "value" in told:
        return shown(value, None)[0]
    return f"no value ({told['skip']})" if "skip" in told else "no value (an error)"
