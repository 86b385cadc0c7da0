"""What the counts of random flows share: each seed that fails is printed, and so are the figures."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter

import anyio

from tests.properties.effort import in_part
from tests.properties.random_flows import Program


def say(text: str) -> None:
    """Print a line."""
    print(text)  # noqa: T201 - figures are printed


def asked(whole: int, place: int = 1) -> int:
    """Return how many are played: a part of all, or as many as an argument of the command says."""
    return int(sys.argv[place]) if len(sys.argv) > place else in_part(whole)


@contextmanager
def shown(seed: int, program: Program) -> Iterator[None]:
    """Print the seed and the flow of what fails in here."""
    try:
        yield
    except BaseException:
        say(f"seed {seed}, {program}")
        raise


def counted(
    what: str,
    number: int,
    count: Callable[[Iterable[int]], Awaitable[Counter[str]]],
    names: Iterable[str] = (),
) -> Counter[str]:
    """Count in what is played of so many seeds, and print the figures: those named, or all."""
    begun = perf_counter()
    found = anyio.run(count, range(number))
    for name in sorted(names or found):
        say(f"{found[name]:7}  {name}")
    say(f"{number} {what} in {perf_counter() - begun:.0f} s")
    return found


def verdict(rare: Iterable[str], *, is_enough: bool = True) -> int:
    """Print what is too rare, and return the exit code: 1 if anything is, or too little was held."""
    names = sorted(rare)
    if names:
        say(f"too rare: {', '.join(names)}")
    return int(bool(names) or not is_enough)
