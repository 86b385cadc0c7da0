"""The ways of running a shape, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.flows import run_shape
from benchmarks.limits import bare, by_hand
from benchmarks.prototype_works import prototype_of
from benchmarks.question import Way, WorkOf, Works

if TYPE_CHECKING:
    from benchmarks.shapes import Shape
    from benchmarks.timing import Work

__all__ = ["works_of"]


def works_of(shape_of: Callable[[int], Shape]) -> Works:
    """Return each way of running a shape."""

    def of_shape(run: Callable[[Shape], Work]) -> WorkOf:
        return lambda size: run(shape_of(size))

    return {
        Way.ASYNCIO: of_shape(run_shape),
        Way.TRIO: of_shape(run_shape),
        Way.BARE: of_shape(bare),
        Way.HAND: of_shape(by_hand),
        Way.PROTOTYPE: of_shape(prototype_of),
    }
