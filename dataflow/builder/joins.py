"""Port expressions: maps and the explicit joins, typed as the value they will carry (S5.3, S7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from dataflow.builder.placeholders import Expression, literally
from dataflow.core.policy import EachOptions
from dataflow.core.wiring import Collect, Each, Fallback, Gather, Merge, MergeContexts, Race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.core.context import ExecutionContext, MergePolicy
    from dataflow.core.wiring import Source

__all__ = ["collect", "each", "fallback", "gather", "merge", "race"]

T = TypeVar("T")
D = TypeVar("D")


def _expression(
    name: str, operands: tuple[object, ...], build: Callable[[tuple[Source, ...]], Source]
) -> Any:
    return Expression(name, tuple(literally(operand) for operand in operands), build)


def each(
    xs: Iterable[T],
    *,
    key: Callable[[T], str] | None = None,
    max_concurrency: int | None = None,
    on_error: Literal["fail", "collect", "skip"] = "fail",
) -> T:
    """Open a map over the list: what reads the item runs once per item, and so does what reads that.

    With `key` the items are named by it instead of by position; equal keys fail. `max_concurrency` bounds
    the items in flight. An item that fails fails the map; with `on_error="skip"` it is left out of the
    lists, with `"collect"` a `Failure` stands in its place (S7.2). Raises ValueError for an option that
    cannot be.
    """
    options = EachOptions(key, max_concurrency, on_error)
    result: T = _expression("each", (xs,), lambda parts: Each(parts[0], options))
    return result


def collect(x: T) -> list[T]:
    """Close the innermost map: the items' values in item order, without those that are skips (S7.1)."""
    result: list[T] = _expression("collect", (x,), lambda parts: Collect(parts[0]))
    return result


def gather(*xs: T) -> list[T]:
    """List the live values in declared order; none live is a skip."""
    result: list[T] = _expression("gather", xs, Gather)
    return result


def merge(*xs: T) -> T:
    """Take the first in declared order that is not a skip, as soon as it is known; none live is a skip."""
    result: T = _expression("merge", xs, Merge)
    return result


def merge_contexts(*contexts: ExecutionContext, how: MergePolicy | Callable[..., Any]) -> ExecutionContext:
    """Make one conversation of those that are live (S10.4).

    `pick` takes the first; `append` goes on from the first with the new messages of each other; `results`
    goes on from what all have in common with the last answer of each. A function gets the list of them. In
    documents the node type `agent.merge_contexts` does the same.
    """
    result: ExecutionContext = _expression(
        "merge_contexts", contexts, lambda parts: MergeContexts(parts, how)
    )
    return result


def race(*xs: T) -> T:
    """Take the first to settle with a value; what only the others need is cancelled (S5.3).

    A source that fails does not win; if all do, the failures count. None live is a skip.
    """
    result: T = _expression("race", xs, Race)
    return result


def fallback(x: T, default: D) -> T | D:
    """Take the value unless it is a skip, else the default, which may be a port (S5.3)."""
    result: T | D = _expression("fallback", (x, default), lambda parts: Fallback(*parts))
    return result
