"""Node types that evaluate an expression over `item` for each item of a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, Field

from dataflow import ArgumentInvalid, Expression, Ports, node
from dataflow_control.comparison import Key, Kind, described, key_of, ordered
from dataflow_control.config import StrictConfig, ports_for, without_names
from dataflow_control.diagnostics import KEYS_MIXED, NOT_COMPARABLE
from dataflow_control.limits import Work, plain_list

__all__ = ["Filter", "Sort", "Unique", "filter_list", "sort_list", "unique_list"]

R = TypeVar("R")
T = TypeVar("T")

ITEM: Final = "item"

OverItem = Annotated[Expression, AfterValidator(without_names("config", "items"))]


class Filter(StrictConfig):
    """Config of `control.filter_list`."""

    condition: OverItem = Field(
        description="an expression over `item` that gives a boolean; its other names are input ports"
    )


class Sort(StrictConfig):
    """Config of `control.sort_list`."""

    key: OverItem | None = Field(
        default=None,
        description="an expression over `item` that gives what is compared; its other names are input ports",
    )
    descending: bool = Field(default=False, description="whether the largest comes first")


class Unique(StrictConfig):
    """Config of `control.unique_list`."""

    key: OverItem | None = Field(
        default=None,
        description="an expression over `item` that gives what is compared; its other names are input ports",
    )


def _ports_of_filter(config: Filter) -> Ports:
    return ports_for(config.condition.names - {ITEM})


def _ports_of_key(config: Sort | Unique) -> Ports:
    return ports_for(config.key.names - {ITEM} if config.key is not None else ())


@node(ports=_ports_of_filter)
async def filter_list(items: list[T], config: Filter, **values: Any) -> list[T]:
    """Keep the items for which a condition holds, in their order.

    Raises ExpressionError for a condition that gives no boolean or cannot be computed, ValueError if all
    items together take too much work.
    """
    items = plain_list(items)
    held = await _of_each(config.condition.holds, items, values, Work())
    return [item for item, holds in zip(items, held, strict=True) if holds]


@node(ports=_ports_of_key)
async def sort_list(items: list[T], config: Sort = Sort(), **values: Any) -> list[T]:  # noqa: B008 - frozen
    """Sort the items, by themselves or by a key of each; equal ones keep their order.

    What is compared is all numbers or all texts, and texts by their code points. Raises ValueError for
    anything else, or if all items together take too much work, ExpressionError for a key that cannot be
    computed.
    """
    items, work = plain_list(items), Work()
    expected = "all numbers or all strings"
    keys = await _keys(items, config.key, values, work, expected)
    kinds = {key.kind for key in keys}
    if not (kinds <= {Kind.NUMBER} or kinds <= {Kind.TEXT}):
        found = " and ".join(sorted(kind.value for kind in kinds))
        raise ArgumentInvalid(KEYS_MIXED(expected=expected, found=found))
    return [items[position] for position in await ordered(keys, work, descending=config.descending)]


@node(ports=_ports_of_key)
async def unique_list(items: list[T], config: Unique = Unique(), **values: Any) -> list[T]:  # noqa: B008 - frozen
    """Keep the first of the items that are equal, or whose keys are, in their order.

    What is compared are numbers, texts, booleans and None, each only with their own kind: 1 is 1.0, but
    neither "1" nor true. Raises ValueError for anything else, or if all items together take too much work,
    ExpressionError for a key that cannot be computed.
    """
    items, work = plain_list(items), Work()
    keys = await _keys(items, config.key, values, work, "a number, a string, a boolean or null")
    first: dict[object, T] = {}
    for item, key in zip(items, keys, strict=True):
        first.setdefault(key.identity, item)
        work.spend(key.steps)
        await work.turn()
    return list(first.values())


async def _of_each(
    compute: Callable[[Mapping[str, Any], Callable[[int], None]], R],
    items: list[Any],
    values: Mapping[str, Any],
    work: Work,
) -> list[R]:
    """Compute a value of each item, with turns for other tasks in between."""
    found: list[R] = []
    for item in items:
        found.append(compute({**values, ITEM: item}, work.spend))
        await work.turn()
    return found


async def _keys(
    items: list[Any], key: Expression | None, values: Mapping[str, Any], work: Work, expected: str
) -> list[Key]:
    """Return the comparison key of each item; raises ValueError for an item that has none."""
    given = items if key is None else await _of_each(key.evaluate, items, values, work)
    keys: list[Key] = []
    for position, value in enumerate(given):
        found = key_of(value)
        if found is None:
            what, advice = ("item", "give a key that is one") if key is None else ("the key of item", "")
            raise ArgumentInvalid(
                NOT_COMPARABLE(
                    item=f"{what} {position}", expected=expected, found=described(value), advice=advice
                )
            )
        keys.append(found)
        work.spend(found.steps)
        await work.turn()
    return keys
