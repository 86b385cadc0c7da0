"""Node types that look at each item of a list by an expression over `item`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

from anyio.lowlevel import checkpoint
from pydantic import AfterValidator, Field

from dataflow import Expression, Ports, node
from dataflow_control.settings import Settings, ports_for, without_names

__all__ = ["Filter", "Sort", "Unique", "filter_list", "sort_list", "unique_list"]

R = TypeVar("R")
T = TypeVar("T")

ITEM: Final = "item"
#: The kinds that are compared, each with its own only.
COMPARED: Final = frozenset({"boolean", "number", "text", "NoneType"})
#: How many items are looked at before others get a turn.
AT_ONCE: Final = 1_000

OverItem = Annotated[Expression, AfterValidator(without_names("config", "items"))]


class Filter(Settings):
    """Config of `control.filter_list`."""

    condition: OverItem = Field(
        description="an expression over `item` that gives a boolean; its other names are input ports"
    )


class Sort(Settings):
    """Config of `control.sort_list`."""

    key: OverItem | None = Field(
        default=None,
        description="an expression over `item` that gives what is compared; its other names are input ports",
    )
    descending: bool = Field(default=False, description="whether the largest comes first")


class Unique(Settings):
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

    Raises ExpressionError for a condition that gives no boolean or cannot be computed.
    """
    held = await _of_each(config.condition.holds, items, values)
    return [item for item, holds in zip(items, held, strict=True) if holds]


@node(ports=_ports_of_key)
async def sort_list(items: list[T], config: Sort = Sort(), **values: Any) -> list[T]:  # noqa: B008 - frozen
    """Sort the items, by themselves or by a key of each; equal ones keep their order.

    What is compared is all numbers or all texts, and texts by their code points. Raises ValueError for
    anything else, ExpressionError for a key that cannot be computed.
    """
    keys = await _keys(config, items, values)
    kinds = {_kind(key) for key in keys}
    if not (kinds <= {"number"} or kinds <= {"text"}):
        found = " and ".join(sorted(f"a {kind}" for kind in kinds))
        raise ValueError(f"found {found} to sort by; expected all numbers or all texts")
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=config.descending)
    return [items[position] for position in order]


@node(ports=_ports_of_key)
async def unique_list(items: list[T], config: Unique = Unique(), **values: Any) -> list[T]:  # noqa: B008 - frozen
    """Keep the first of the items that are equal, or whose keys are, in their order.

    What is compared are numbers, texts, booleans and None, each only with their own kind: 1 is 1.0, but
    neither "1" nor true. Raises ValueError for anything else, ExpressionError for a key that cannot be
    computed.
    """
    first: dict[object, T] = {}
    for item, key in zip(items, await _keys(config, items, values), strict=True):
        first.setdefault((_kind(key), key), item)
    return list(first.values())


async def _of_each(
    compute: Callable[[Mapping[str, Any]], R], items: list[Any], values: Mapping[str, Any]
) -> list[R]:
    """Compute something of each item, and let others have their turn in between."""
    found: list[R] = []
    for count, item in enumerate(items, 1):
        found.append(compute({**values, ITEM: item}))
        if count % AT_ONCE == 0:
            await checkpoint()
    return found


async def _keys(config: Sort | Unique, items: list[Any], values: Mapping[str, Any]) -> list[Any]:
    """Return what is compared of each item; raises ValueError for what cannot be."""
    keys = items if config.key is None else await _of_each(config.key.evaluate, items, values)
    for position, key in enumerate(keys):
        if _kind(key) not in COMPARED or key != key:  # nan is not equal to itself
            what = "item" if config.key is None else "the key of item"
            advice = "; give a key that is one" if config.key is None else ""
            found = f"a {_kind(key)}" if _kind(key) not in COMPARED else "nan"
            raise ValueError(f"{what} {position} is {found}; expected a number or a text{advice}")
    return keys


def _kind(key: object) -> str:
    """Name the kind of what is compared; one of another kind is never equal to it."""
    match key:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case _:
            return type(key).__name__
