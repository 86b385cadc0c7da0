"""Merging conversations: one context made of several (S10.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from dataflow.base.history import new_parts, shared_length
from dataflow.base.wording import choices
from dataflow.core.context import ExecutionContext, history_of, with_pinned
from dataflow.errors import NodeFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dataflow.base.history import History, Part
    from dataflow.core.messages import Message

__all__ = ["POLICIES", "MergeFunction", "MergePolicy", "merge_live", "merged_context"]

MergePolicy: TypeAlias = Literal["pick", "append", "results"]
#: Makes one context of the live ones, in the order of their edges.
MergeFunction: TypeAlias = Callable[[list[ExecutionContext]], ExecutionContext]


def _pick(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Take the first."""
    return contexts[0]


def _append(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Go on from the first with the messages of each other that no earlier one has."""
    first = contexts[0]
    history, head = history_of(first), first.head
    earlier: defaultdict[str, list[History[Message]]] = defaultdict(list)
    known: defaultdict[str, set[Part[Message]]] = defaultdict(set)
    for context in contexts:  # of different ids nothing is known (S10.5)
        told, known_parts = history_of(context), known[context.context_id]
        if context is not first:
            history = history.taken_over(new_parts(told, known_parts, earlier[context.context_id]))
            head = _with_new_pins(head, context)
        earlier[context.context_id].append(told)
        known_parts.update(told.originals())
    return replace(first, message_history=history, head=head, variables=_variables(contexts))


def _results(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Go on from what all have in common with the last answer that each got."""
    first = contexts[0]
    common = history_of(first).first(min(_shared(first, context) for context in contexts))
    known_parts, head = common.originals(), first.head
    answers: dict[tuple[Part[Message], int], Message] = {}  # by where they come from: each is taken once
    for context in contexts:
        is_first = context.context_id == first.context_id
        new = new_parts(history_of(context), known_parts if is_first else (), [common] if is_first else ())
        answers |= islice(_answers(reversed(new)), 1)
        head = _with_new_pins(head, context)
    merged = replace(
        first, message_history=common.extended(answers.values()), head=head, variables=_variables(contexts)
    )
    if first.left_out <= len(common):
        return merged
    return replace(merged, head=tuple(message for message in head if message.pin), left_out=0)


def _answers(parts: Iterable[Part[Message]]) -> Iterator[tuple[tuple[Part[Message], int], Message]]:
    """Yield the answers in these parts, from the end of each, with where they come from."""
    for part in parts:
        for place in reversed(range(len(part.items))):
            message = part.items[place]
            if message.role == "assistant" and not message.tool_calls:
                yield (part.original, place), message


def _shared(one: ExecutionContext, other: ExecutionContext) -> int:
    """Count the messages, from the start of one, that another has too; of different ids none (S10.5)."""
    if one.context_id != other.context_id:
        return 0
    return shared_length(history_of(one), history_of(other))


def _with_new_pins(head: tuple[Message, ...], context: ExecutionContext) -> tuple[Message, ...]:
    """Add what a context has pinned, under names that the head does not have."""
    pins = {message.pin for message in head}
    return with_pinned(head, [message for message in context.head if message.pin and message.pin not in pins])


def _variables(contexts: Sequence[ExecutionContext]) -> Mapping[str, Any]:
    """Add to the variables of the first those of the others that no earlier one has."""
    found = contexts[0].variables
    for context in contexts[1:]:
        new = [name for name in context.variables if name not in found]
        found = {**found, **{name: context.variables[name] for name in new}} if new else found
    return found


POLICIES: Final[dict[MergePolicy, MergeFunction]] = {
    "pick": _pick,
    "append": _append,
    "results": _results,
}


def merged_context(contexts: Sequence[ExecutionContext], how: MergePolicy) -> ExecutionContext:
    """Make one conversation of these, as `merge_contexts` does of ports (S10.4).

    Raises ValueError for a policy that there is not, or no context at all.
    """
    if how not in POLICIES:
        raise ValueError(f"how is {how!r}; {choices(list(POLICIES))}")
    if not contexts:
        raise ValueError("there is no context to merge; expected at least one")
    return POLICIES[how](list(contexts))


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
