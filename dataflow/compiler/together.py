"""Which edges can be live together: not those behind different exits of one branch (S5.2, S10.4).

A value that comes may tell how questions of the run were answered: which exit a branch has taken, and
whether a node has failed. Two values whose answers differ never come both.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dataflow.base.failure import takes_failure
from dataflow.compiler.graph import CallAction, Constant, Input, LoopAction, Scope, Terminal, Vertex
from dataflow.compiler.scoping import resolved
from dataflow.core.ports import ERROR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


__all__ = ["Together"]


class Answer(NamedTuple):
    """What a live value tells of a vertex: the exit it took, or whether it failed."""

    vertex: Vertex
    question: str
    answer: str

    def a_round_before(self) -> Answer:
        return self._replace(question=f"{self.question}, a round before")


Answers: TypeAlias = frozenset[Answer]
NOTHING: Answers = frozenset()


class Together:
    """Tells what live values have in common; `ordered` has sources before their readers."""

    def __init__(self, ordered: Sequence[Vertex], routed: Iterable[object]) -> None:
        self._routed = set(routed)  # whose failures are wired
        self._fired: dict[Vertex, Answers] = {}
        for vertex in ordered:
            self._fired[vertex] = self._of_vertex(vertex)

    def first_pair(self, wires: Sequence[Terminal]) -> tuple[Terminal, Terminal] | None:
        """Return two of the wires that can both bring a value, the first in order; None if no two can."""
        told = [self._of(wire) for wire in wires]
        for one, other in combinations(range(len(wires)), 2):
            if not _differ(told[one], told[other]):
                return wires[one], wires[other]
        return None

    def _of_vertex(self, vertex: Vertex) -> Answers:
        """Say what is known once a vertex has fired: what all its required ports tell together.

        Without required ports one of those that are connected has a value. What a body tells is not known
        outside, where the values of several rounds or items come together.
        """
        opener = vertex.scope.owner if vertex.scope is not None else None
        found = self._fired.get(opener, NOTHING) if opener is not None else NOTHING
        inputs = list(vertex.inputs.values())
        required = [given for given in inputs if given.required]
        for given in required:
            found |= self._of_input(given)
        if inputs and not required:
            found |= _common([self._of_input(given) for given in inputs])
        return found

    def _of_input(self, given: Input) -> Answers:
        if given.port is not None and takes_failure(given.port.type):  # which an error may come to as well
            return _common([_of_failure(wire) for wire in given.wires])
        return _common([self._of(wire) for wire in given.wires])

    def _of(self, terminal: Terminal) -> Answers:
        owner, port = resolved(terminal)
        match owner:
            case Constant():
                return NOTHING
            case Scope(is_lifted=True, owner=Vertex(action=LoopAction() as action) as loop):
                return self._of_carried(loop, action, port)
            case Scope():
                return self._fired.get(owner.owner, NOTHING) if owner.owner is not None else NOTHING
            case Vertex():
                return self._fired.get(owner, NOTHING) | self._told_by(owner, port)

    def _of_carried(self, loop: Vertex, action: LoopAction, port: str) -> Answers:
        """Say what an edge tells that counts in the first round of a loop, or in all others (S6.3)."""
        first = loop.inputs.get(port)
        told = {Answer(loop, "is it the first round", str(first is not None))}
        if first is not None:
            told |= self._of(first.wires[0])
        else:
            told |= {one.a_round_before() for one in self._of(action.nexts[port])}
        return self._fired.get(loop, NOTHING) | told

    def _told_by(self, vertex: Vertex, port: str) -> Answers:
        if not isinstance(vertex.action, CallAction):
            return NOTHING
        told = {_has_failed(vertex, port == ERROR)} if vertex in self._routed else set()
        if (taken := vertex.action.exits.get(port)) is not None:
            told.add(Answer(vertex, "which exit", taken))
        return frozenset(told)


def _has_failed(vertex: Vertex, answer: bool) -> Answer:
    return Answer(vertex, "has it failed", str(answer))


def _of_failure(terminal: Terminal) -> Answers:
    """Say what a port that takes failures tells: of `$error` that the other ports have no value."""
    match resolved(terminal):
        case Terminal(Vertex(action=CallAction()) as vertex, port) if port == ERROR:
            return frozenset({_has_failed(vertex, True)})
        case _:
            return NOTHING


def _common(several: Sequence[Answers]) -> Answers:
    return frozenset.intersection(*several) if several else NOTHING


def _differ(one: Answers, other: Answers) -> bool:
    answers = {(told.vertex, told.question): told.answer for told in one}
    return any(answers.get((t.vertex, t.question), t.answer) != t.answer for t in other)
