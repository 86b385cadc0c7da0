"""A program wired as a flow, with nodes that count their firings and may suspend."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from anyio.lowlevel import checkpoint

from dataflow import SKIP, Flow, Maybe, Step, collect, each, fallback, gather, merge, node
from dataflow.wiring import Block as WiredBlock
from dataflow.wiring import LoopBlock
from tests.properties.flow_grammar import (
    Apply,
    Block,
    Branch,
    Either,
    Fallback,
    Listing,
    Loop,
    Map,
    Merge,
    Port,
    Program,
    Source,
    Statement,
    Sum,
    ports_of,
)
from tests.properties.flow_reference import DEFAULT, apply, holds, listing

__all__ = ["BrokenError", "Wiring", "shuffle"]


class BrokenError(Exception):
    """What a node of a program fails with."""


@dataclass
class Wiring:
    """Wires one program; `pace` is None, or tells how many checkpoints the next firing passes."""

    program: Program
    pace: Callable[[], int] | None = None
    fired: Counter[str] = field(default_factory=Counter)
    ports: dict[Port, Any] = field(default_factory=dict)
    steps: dict[str, Step[Any]] = field(default_factory=dict)
    flow: Flow = field(default_factory=Flow)

    def wire(self) -> Flow:
        for number in range(len(self.program.inputs)):
            self.ports[f"in{number}"] = self.flow.input(f"in{number}", int)
        self.block(self.program.block)
        for statement in self.program.block:
            for ports in ports_of(statement):
                for port in ports:
                    self.flow.output(port, self.ports[port])
        return self.flow

    @property
    def inputs(self) -> dict[str, int]:
        return {f"in{number}": value for number, value in enumerate(self.program.inputs)}

    async def fire(self, name: str) -> None:
        self.fired[name] += 1
        for _ in range(self.pace() if self.pace is not None else 0):
            await checkpoint()

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Apply():
                self.apply(statement)
            case Branch(name, source, modulus):
                exits = self.flow.when(self.ports[source], partial(holds, modulus=modulus))
                self.ports[f"{name}.yes"], self.ports[f"{name}.no"] = exits.yes, exits.no
            case Sum(name, source):
                self.sum(name, source)
            case Listing(name, source):
                self.place(name, self.listing_node(name), self.ports[source])
            case Map(name, over, body, outputs):
                self.ports[f"{name}.item"] = each(self.ports[over])
                self.block(body)
                for number, port in enumerate(outputs):
                    self.ports[f"{name}.{number}"] = collect(self.ports[port])
            case Loop():
                self.loop(statement)

    def source(self, source: Source | int) -> Any:
        match source:
            case int():
                return source
            case str():
                return self.ports[source]
            case Merge(sources):
                return merge(*(self.ports[port] for port in sources))
            case Fallback(first, default):
                return fallback(
                    self.ports[first], default if isinstance(default, int) else self.ports[default]
                )
            case Either():
                raise AssertionError("two edges are no one source")

    def place(
        self, name: str, function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any
    ) -> Step[Any]:
        placed: Any = node(function)
        step: Step[Any] = self.flow.add(placed.with_(name=name), *args, **kwargs)
        self.ports[name], self.steps[name] = step.out, step
        return step

    def apply(self, node: Apply) -> None:
        function = self.apply_node(node)
        if node.required and isinstance(node.required[0], Either):
            branch = node.required[0].branch
            for end in ("yes", "no"):
                self.flow.connect(repr(self.ports[f"{branch}.{end}"]).strip("'"), f"{node.name}.a")
            self.place(node.name, function)
        else:
            wired = (*node.required, *node.optional, *node.many)
            step = self.place(node.name, function, *(self.source(source) for source in wired))
            self.flow.after(step, *(self.steps[name].done for name in node.after))

    def apply_node(self, node: Apply) -> Callable[..., Awaitable[Any]]:
        async def answer(*values: int) -> Any:
            await self.fire(node.name)
            value = apply(node.name, list(values))
            if node.breaks and value % node.breaks == 0:
                raise BrokenError(node.name)
            return SKIP if node.gap and value % node.gap == 0 else value

        async def one(a: int) -> Maybe[int]:
            return await answer(a)  # type: ignore[no-any-return]  # an int or SKIP

        async def two(a: int, b: int) -> Maybe[int]:
            return await answer(a, b)  # type: ignore[no-any-return]  # as above

        async def one_optional(a: int, b: int = DEFAULT) -> Maybe[int]:
            return await answer(a, b)  # type: ignore[no-any-return]  # as above

        async def optional(a: int = DEFAULT) -> Maybe[int]:
            return await answer(a)  # type: ignore[no-any-return]  # as above

        async def two_optional(a: int = DEFAULT, b: int = DEFAULT) -> Maybe[int]:
            return await answer(a, b)  # type: ignore[no-any-return]  # as above

        async def many(*xs: int) -> Maybe[int]:
            return await answer(*xs)  # type: ignore[no-any-return]  # as above

        async def one_many(a: int, *xs: int) -> Maybe[int]:
            return await answer(a, *xs)  # type: ignore[no-any-return]  # as above

        shapes: dict[tuple[int, int, bool], Callable[..., Awaitable[Any]]] = {
            (1, 0, False): one, (2, 0, False): two, (1, 1, False): one_optional, (0, 1, False): optional,
            (0, 2, False): two_optional, (0, 0, True): many, (1, 0, True): one_many,
        }  # fmt: skip
        return shapes[len(node.required), len(node.optional), bool(node.many)]

    def sum(self, name: str, source: Port | tuple[Port, ...]) -> None:
        async def add_up(xs: list[int]) -> int:
            await self.fire(name)
            return apply(name, xs)

        values = (
            self.ports[source] if isinstance(source, str) else gather(*(self.ports[port] for port in source))
        )
        self.place(name, add_up, values)

    def listing_node(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def make_list(x: int) -> list[int]:
            await self.fire(name)
            return listing(x)

        return make_list

    def loop(self, loop: Loop) -> None:
        firsts = [self.source(first) for first in loop.firsts]
        with self.flow.loop(name=loop.name, limit=loop.limit) as it:
            carries = [it.carry(first) for first in firsts]
            for number, carry in enumerate(carries):
                self.ports[f"{loop.name}.carry{number}"] = carry.out
            self.block(loop.body)
            for carry, port in zip(carries, loop.nexts, strict=True):
                carry.next(self.ports[port])
            if loop.kind == "until":
                it.until(self.ports[loop.test], partial(holds, modulus=loop.modulus))
            else:
                it.while_(self.ports[loop.test], lambda value: not holds(value, loop.modulus))
        for number, carry in enumerate(carries):
            self.ports[f"{loop.name}.final{number}"] = carry.final
        for number, port in enumerate(loop.results):
            self.ports[f"{loop.name}.result{number}"] = it.result(self.ports[port])


def shuffle(flow: Flow, choose: random.Random) -> None:
    """Declare the nodes of every block in another order."""
    blocks: list[WiredBlock] = [flow.wiring.block]
    for block in blocks:  # grows while it is walked
        placed = list(block.nodes.items())
        choose.shuffle(placed)
        block.nodes.clear()
        block.nodes.update(placed)
        blocks += [inner.body for inner in block.nodes.values() if isinstance(inner, LoopBlock)]
    flow.wiring.version += 1
