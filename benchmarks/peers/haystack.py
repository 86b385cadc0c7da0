"""Haystack: a Pipeline of components. Its faster, synchronous `run`; `run_async` for sleepers."""

import asyncio
import logging
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from benchmarks.peers.playing import building, in_async, play
from benchmarks.shapes import MODULUS, SLEEP, Shape, chain, diamonds, fan_out, layered, loop_result
from benchmarks.timing import Work, whole

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Pipeline, component
from haystack.core.component.types import Variadic

logging.disable(logging.WARNING)

NO_LIMIT: Final = 1_000_000_000


@component
class Start:
    """Begin a pipeline."""

    @component.output_types(value=int)
    def run(self, first: int) -> dict[str, int]:
        """Return 1."""
        return {"value": first}


@component
class Increment:
    """Add 1."""

    @component.output_types(value=int)
    def run(self, value: int) -> dict[str, int]:
        """Add it."""
        return {"value": value + 1}


@component
class Nap:
    """Sleep for a while and add 1."""

    @component.output_types(value=int)
    def run(self, value: int) -> dict[str, int]:
        """Sleep in a thread."""
        time.sleep(SLEEP)
        return {"value": value + 1}

    @component.output_types(value=int)
    async def run_async(self, value: int) -> dict[str, int]:
        """Sleep."""
        await asyncio.sleep(SLEEP)
        return {"value": value + 1}


@component
class Add:
    """Join any number of them."""

    @component.output_types(value=int)
    def run(self, values: Variadic[int]) -> dict[str, int]:
        """Add them up."""
        return {"value": sum(values) % MODULUS}


@component
class Head:
    """Begin a round with the first value, or with what the last round gave."""

    @component.output_types(value=int)
    def run(self, first: int | None = None, back: int | None = None) -> dict[str, int | None]:
        """Add 1 to whichever is there."""
        value = first if back is None else back
        return {"value": None if value is None else value + 1}


@component
class Tail:
    """End a round, or the loop."""

    def __init__(self, stop: int) -> None:
        self.stop = stop

    @component.output_types(again=int, done=int)
    def run(self, value: int) -> dict[str, int]:
        """Add 1 and go one of two ways."""
        return {"again" if value + 1 < self.stop else "done": value + 1}


def build_shape(shape: Shape, step: Callable[[], Any] = Increment) -> Any:
    """Build a shape."""
    pipeline = Pipeline(max_runs_per_component=NO_LIMIT)
    for node, sources in enumerate(shape.sources):
        kind = Start if not sources else step if len(sources) == 1 else Add
        pipeline.add_component(f"n{node}", kind())
        port = "values" if len(sources) > 1 else "value"
        for source in sources:
            pipeline.connect(f"n{source}.value", f"n{node}.{port}")
    return pipeline


def inputs_of(shape: Shape) -> dict[str, dict[str, int]]:
    """Give 1 to what begins a shape."""
    return {f"n{node}": {"first": 1} for node, sources in enumerate(shape.sources) if not sources}


def total(outputs: dict[str, dict[str, int]]) -> int:
    """Add up what nobody has read."""
    return sum(value for ports in outputs.values() for value in ports.values())


def shaped(shape: Shape) -> Work:
    """Run a shape."""
    pipeline, inputs = build_shape(shape), inputs_of(shape)
    return Work(in_async(lambda: total(pipeline.run(inputs))), shape.result, len(shape))


def sleeping(width: int) -> Work:
    """Run nodes that sleep."""
    shape = fan_out(width)
    pipeline, inputs = build_shape(shape, Nap), inputs_of(shape)

    async def run() -> int:
        return total(await pipeline.run_async(inputs, concurrency_limit=width))

    return Work(run, shape.result, len(shape))


def looping(rounds: int) -> Work:
    """Run a loop of three nodes."""
    stop = loop_result(rounds)
    pipeline = Pipeline(max_runs_per_component=NO_LIMIT)
    for name, part in (("head", Head()), ("middle", Increment()), ("tail", Tail(stop))):
        pipeline.add_component(name, part)
    for source, target in (
        ("head.value", "middle.value"),
        ("middle.value", "tail.value"),
        ("tail.again", "head.back"),
    ):
        pipeline.connect(source, target)
    return Work(in_async(lambda: total(pipeline.run({"head": {"first": 0}}))), stop, stop)


WORKS = {
    "chain": lambda size: shaped(chain(size)),
    "fan-out": lambda size: shaped(fan_out(size)),
    "layered": lambda size: shaped(layered(size)),
    "diamonds": lambda size: shaped(diamonds(size)),
    "loop": looping,
    "sleepers": sleeping,
    "fixed": lambda size: whole(shaped(chain(size))),
    "building": lambda size: building(partial(build_shape, chain(size)), size),
}

if __name__ == "__main__":
    play(WORKS)
