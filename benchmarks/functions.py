"""The functions that are fired, here and by what is compared: they do as little as a node can."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from benchmarks.shapes import MODULUS, SLEEP

__all__ = [
    "FUNCTIONS",
    "NodeFunction",
    "Sleep",
    "add_all",
    "function_for",
    "increment",
    "napping",
    "suspending",
]

#: Any of the functions below; they differ in how many numbers they take.
NodeFunction = Callable[..., Awaitable[int]]
#: What sleeps on the event loop at hand, `asyncio.sleep` or `trio.sleep`.
Sleep = Callable[[float], Awaitable[object]]


async def start() -> int:
    """Begin a flow."""
    return 1


async def increment(number: int) -> int:
    """Add 1."""
    return number + 1


async def add_two(first: int, second: int) -> int:
    """Join two."""
    return (first + second) % MODULUS


async def add_three(first: int, second: int, third: int) -> int:
    """Join three."""
    return (first + second + third) % MODULUS


async def add_all(*numbers: int) -> int:
    """Join any number of them."""
    return sum(numbers) % MODULUS


#: The function of a node with so many inputs; with more, it is `add_all`.
FUNCTIONS: Final[tuple[NodeFunction, ...]] = (start, increment, add_two, add_three)


def function_for(inputs: int) -> NodeFunction:
    """Return the function of a node with so many inputs."""
    return FUNCTIONS[inputs] if inputs < len(FUNCTIONS) else add_all


def napping(sleep: Sleep) -> NodeFunction:
    """Make a function that sleeps for a while and adds 1."""

    async def nap(number: int) -> int:
        await sleep(SLEEP)
        return number + 1

    return nap


def suspending(sleep: Sleep) -> NodeFunction:
    """Make a function that lets others go first, once, and adds 1."""

    async def suspend(number: int) -> int:
        await sleep(0)
        return number + 1

    return suspend
