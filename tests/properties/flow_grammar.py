"""Random flows as plain data: a block of statements, each of which reads what stands above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Apply",
    "Block",
    "Branch",
    "Either",
    "Fallback",
    "Listing",
    "Loop",
    "Map",
    "Merge",
    "Port",
    "Program",
    "Source",
    "Statement",
    "Sum",
    "ports_of",
    "reads_of",
    "size_of",
]

Port: TypeAlias = str  # "n3", "b4.yes", "l5.carry0", "m6.item", "m6.0"


@dataclass(frozen=True)
class Merge:
    sources: tuple[Port, ...]


@dataclass(frozen=True)
class Fallback:
    source: Port
    default: Port | int


@dataclass(frozen=True)
class Either:
    """Both exits of one branch, as two edges on one port."""

    branch: str


Source: TypeAlias = Port | Merge | Fallback | Either


@dataclass(frozen=True)
class Apply:
    """A node with required ports, optional ports and a many-port.

    With `gap` it gives nothing now and then, with `breaks` it fails now and then.
    """

    name: str
    required: tuple[Source, ...] = ()
    optional: tuple[Source, ...] = ()
    many: tuple[Source, ...] = ()
    after: tuple[str, ...] = ()
    gap: int = 0
    breaks: int = 0


@dataclass(frozen=True)
class Branch:
    name: str
    source: Port
    modulus: int


@dataclass(frozen=True)
class Sum:
    """A node that adds up a list, or what `gather` makes of ports."""

    name: str
    source: Port | tuple[Port, ...]


@dataclass(frozen=True)
class Listing:
    """A node that gives a list of up to four items."""

    name: str
    source: Port


@dataclass(frozen=True)
class Map:
    name: str
    over: Port
    body: Block
    outputs: tuple[Port, ...]


@dataclass(frozen=True)
class Loop:
    name: str
    kind: Literal["until", "while"]
    firsts: tuple[Source | int, ...]
    nexts: tuple[Port, ...]
    test: Port
    modulus: int
    limit: int
    body: Block
    results: tuple[Port, ...]


Statement: TypeAlias = Apply | Branch | Sum | Listing | Map | Loop
Block: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True)
class Program:
    inputs: tuple[int, ...]
    block: Block


def ports_of(statement: Statement) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Return the ports that carry numbers and those that carry lists."""
    match statement:
        case Apply(name=name) | Sum(name=name):
            return (name,), ()
        case Branch(name=name):
            return (f"{name}.yes", f"{name}.no"), ()
        case Listing(name=name):
            return (), (name,)
        case Map(name=name, outputs=outputs):
            return (), tuple(f"{name}.{number}" for number in range(len(outputs)))
        case Loop(name=name, firsts=firsts, results=results):
            finals = (f"{name}.final{number}" for number in range(len(firsts)))
            return (*finals, *(f"{name}.result{number}" for number in range(len(results)))), ()


def _within(source: Source | int) -> Iterator[Port]:
    match source:
        case str():
            yield source
        case Merge(sources=sources):
            yield from sources
        case Fallback(source=first, default=default):
            yield first
            if isinstance(default, str):
                yield default
        case Either(branch=branch):
            yield from (f"{branch}.yes", f"{branch}.no")


def reads_of(statement: Statement) -> Iterator[Port]:
    """Go through every port that a statement reads, those read in its body too."""
    match statement:
        case Apply(required=required, optional=optional, many=many):
            for wired in (*required, *optional, *many):
                yield from _within(wired)
        case Branch(source=source) | Listing(source=source):
            yield source
        case Sum(source=summed):
            yield from (summed,) if isinstance(summed, str) else summed
        case Map(over=over, body=body):
            yield over
            for inner in body:
                yield from reads_of(inner)
        case Loop(firsts=firsts, nexts=nexts, test=test, body=body, results=results):
            for first in firsts:
                yield from _within(first)
            yield from (*nexts, test, *results)
            for inner in body:
                yield from reads_of(inner)


def size_of(block: Iterable[Statement]) -> int:
    """Count the nodes, loops and maps of a block and all inside it."""
    return sum(1 + size_of(s.body if isinstance(s, Map | Loop) else ()) for s in block)
