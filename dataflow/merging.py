"""Merging conversations: one context made of several (S10.4)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from dataflow.context import ExecutionContext, history_of
from dataflow.errors import NodeFailed
from dataflow.history import shared_length

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["POLICIES", "MergeFunction", "MergePolicy", "merge_live"]

MergePolicy: TypeAlias = Literal["pick", "append", "results"]
#: Makes one context of the live ones, in the order of their edges.
MergeFunction: TypeAlias = Callable[[list[ExecutionContext]], ExecutionContext]


def _pick(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Take the first."""
    return contexts[0]


def _append(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Go on from the first with the messages of each other that no earlier one has."""
    first = contexts[0]
    merged = history_of(first)
    for position, context in enumerate(contexts[1:], start=1):
        known = max(_shared(earlier, context) for earlier in contexts[:position])
        merged = merged.extended(islice(context.message_history, known, None))
    return replace(first, message_history=merged)


def _results(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Go on from what all have in common with the last answer that each got."""
    first = contexts[0]
    common = min(_shared(first, context) for context in contexts)
    answers = []
    for context in contexts:
        new = islice(reversed(context.message_history), len(context.message_history) - common)
        answers += [message for message in new if message.role == "assistant"][:1]
    return replace(first, message_history=history_of(first).first(common).extended(answers))


def _shared(one: ExecutionContext, other: ExecutionContext) -> int:
    """Count the messages that two contexts have in common; of different ids they have none (S10.5)."""
    if one.context_id != other.context_id:
        return 0
    return shared_length(history_of(one), history_of(other))


POLICIES: Final[dict[MergePolicy, MergeFunction]] = {
    "pick": _pick,
    "append": _append,
    "results": _results,
}


def merge_live(node: str, labels: Sequence[str], live: list[object], how: MergeFunction) -> ExecutionContext:
    """Merge the live values of a port; raises NodeFailed where one, or what it comes to, is no context."""
    contexts = []
    for label, value in zip(labels, live, strict=True):
        if not isinstance(value, ExecutionContext):
            raise NodeFailed(node, f"got {type(value).__name__} from {label}; expected an ExecutionContext")
        contexts.append(value)
    merged: object = copy_context().run(how, contexts)  # what it sets is seen by no other (S14.5)
    if not isinstance(merged, ExecutionContext):
        name = getattr(how, "__name__", "how")
        raise NodeFailed(node, f"got {type(merged).__name__} from {name}; expected an ExecutionContext")
    return merged
