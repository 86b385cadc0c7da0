"""Node types that create, join, flatten and slice lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from dataflow import ArgumentInvalid
from dataflow_control.diagnostics import STEP_ZERO, TOO_LARGE
from dataflow_control.limits import check_items, plain_list

__all__ = ["flatten_list", "join_lists", "numbers", "slice_list"]

T = TypeVar("T")

#: The most bits of a number: a million large ones would be a huge list.
MOST_BITS: Final = 256


async def numbers(stop: int, start: int = 0, step: int = 1) -> list[int]:
    """List the integers from `start` up to, and without, `stop`; with a negative step down to it.

    At most 1,000,000 numbers of at most 256 bits. Raises ValueError for step 0, more or larger numbers.
    """
    if step == 0:
        raise ArgumentInvalid(STEP_ZERO("step"))
    for name, number in (("start", start), ("stop", stop)):
        if number.bit_length() > MOST_BITS:
            expected, found = f"at most {MOST_BITS} bits", f"{number.bit_length():,}"
            raise ArgumentInvalid(TOO_LARGE(what=name, expected=expected, found=found))
    check_items(-((start - stop) // step))  # without len(), which has no room for a huge range
    return list(range(start, stop, step))


async def join_lists(*lists: list[T]) -> list[T]:
    """Put the lists of all edges together, in the order of the edges.

    Edges that bring no value are left out. At most 1,000,000 items. Raises ValueError for more.
    """
    return _joined(lists)


async def flatten_list(lists: list[list[T]]) -> list[T]:
    """Put the lists in a list together, one level.

    At most 1,000,000 items. Raises ValueError for more.
    """
    return _joined(plain_list(lists))


def _joined(lists: Iterable[list[T]]) -> list[T]:
    plain = [plain_list(one) for one in lists]
    check_items(sum(map(len, plain)))
    return [item for one in plain for item in one]


async def slice_list(items: list[T], start: int = 0, stop: int | None = None) -> list[T]:
    """Take the items from position `start` up to, and without, position `stop`.

    Positions count from 0, negative ones from the end, `stop` None is the end. Positions outside the list
    take what is there.
    """
    return plain_list(items)[start:stop]
