"""`ExecutionContext`, an immutable conversation, `Tools`, and how conversations are merged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from dataflow.base.copies import own_copy
from dataflow.base.history import History, new_parts, shared_length
from dataflow.core.limits import check_whole
from dataflow.core.policy import one_of
from dataflow.core.turns import Message, TooLarge, choose, estimated_tokens, fault_in, fault_in_turn, turns_of
from dataflow.diagnostics.conversations import NOTHING_TO_MERGE
from dataflow.diagnostics.runs import ANSWER_MISMATCH
from dataflow.diagnostics.values import VALUE_MISMATCH
from dataflow.errors import ArgumentInvalid, BudgetExceeded, ConversationInvalid, NodeFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataflow.base.history import Part
    from dataflow.core.turns import Fault

__all__ = [
    "CONTEXT_ID",
    "POLICIES",
    "ExecutionContext",
    "MergeFunction",
    "MergePolicy",
    "Tools",
    "Variables",
    "history_of",
    "merge_live",
    "merged_context",
]

#: The id of the node type that begins a conversation.
CONTEXT_ID: Final = "control.context"
MergePolicy: TypeAlias = Literal["pick", "append", "results"]


class Variables(Mapping[str, Any]):
    """Read-only variables. Each reader gets its own copies of the lists, dicts and sets in them."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values: Any = own_copy(dict(values))

    def __getitem__(self, name: str) -> Any:
        return own_copy(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


NO_VARIABLES: Final = Variables({})


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """An immutable conversation; `append` returns a new one and leaves this one unchanged.

    `message_history` is the whole conversation, `messages` the part of it that is sent to a model. Contexts
    with different `context_id` have nothing in common when they are merged. `variables` are read-only; each
    reader gets its own copies of lists, dicts and sets in them. `session_id` defaults to the `context_id`.
    The other fields are for nodes, and kept as given.

    `head` and `left_out` are the result of trimming and pins: `messages` are those of the head, then the
    history without its first `left_out` messages.
    """

    context_id: str
    provider: str = ""
    model: str = ""
    system_instructions: str | None = None
    message_history: Sequence[Message] = ()
    session_id: str = ""
    current_output: str = ""
    variables: Mapping[str, Any] = field(default_factory=lambda: NO_VARIABLES)
    head: tuple[Message, ...] = ()
    left_out: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.message_history, History):
            given = tuple(self.message_history)
            head = with_pinned(self.head, [message for message in given if message.pin])
            object.__setattr__(self, "head", head)
            object.__setattr__(self, "left_out", 0)  # of another history
            object.__setattr__(
                self, "message_history", History(message for message in given if not message.pin)
            )
        if not isinstance(self.variables, Variables):
            object.__setattr__(self, "variables", Variables(self.variables))
        if not self.session_id:
            object.__setattr__(self, "session_id", self.context_id)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages sent to a model: the pinned messages, then the history that was not trimmed."""
        return (*self.head, *history_of(self).since(self.left_out))

    def append(self, *messages: Message) -> ExecutionContext:
        """Return a context with these messages appended; it shares the existing history.

        A message with a `pin` is put into the head instead, where it replaces those with the same pin.
        """
        head = with_pinned(self.head, [message for message in messages if message.pin])
        history = history_of(self).extended(message for message in messages if not message.pin)
        return replace(self, message_history=history, head=head)

    def append_turn(self, *messages: Message) -> ExecutionContext:
        """Append one complete turn: a user message, and all that follows up to the answer.

        Raises ConversationInvalid for anything else.
        """
        self._refuse(fault_in_turn(messages), "a turn of ")
        return self.append(*messages)

    def turns(self) -> list[tuple[Message, ...]]:
        """Group the messages that are sent to a model by turn."""
        return turns_of(self.messages)

    def check(self) -> None:
        """Check that exactly one result follows each tool call; raises ConversationInvalid."""
        self._refuse(fault_in(self.messages))

    def trimmed(self, budget: int, size: Callable[[Message], int] = estimated_tokens) -> ExecutionContext:
        """Return a context whose messages, including the system text, fit a budget.

        The oldest turns are removed first. System text, pinned messages and the last user message are kept;
        if the last turn alone is too large, its oldest tool calls are removed with their results. `size`
        measures a message: the default estimates tokens, at four characters each. Raises BudgetExceeded if
        the messages to keep do not fit, ConversationInvalid as `check` does, ValueError for a budget that is
        not an integer of 0 or more.
        """
        check_whole("budget", budget, 0)
        self.check()
        system = self.system_instructions
        messages = self.messages
        measured = budget - (size(Message("system", system)) if system else 0)
        staying = choose(messages, measured, size)
        if isinstance(staying, TooLarge):
            raise BudgetExceeded(self.context_id, staying.needed + budget - measured, budget)
        if all(staying):
            return self
        behind = next(n for n, stays in enumerate(reversed(staying)) if not stays)
        first = max(len(messages) - behind, len(self.head))
        head = tuple(message for message, stays in zip(messages[:first], staying, strict=False) if stays)
        return replace(self, head=head, left_out=self.left_out + first - len(self.head))

    def _refuse(self, fault: Fault | None, part: str = "") -> None:
        if fault is not None:
            raise ConversationInvalid(self.context_id, fault.position, fault.problem, part)


def with_pinned(head: tuple[Message, ...], pinned: Sequence[Message]) -> tuple[Message, ...]:
    """Add pinned messages to a head: they replace those with the same pins, others follow all pins."""
    if not pinned:
        return head
    by_pin: dict[str, list[Message]] = {}
    for message in head:
        by_pin.setdefault(message.pin, []).append(message)
    kept = by_pin.pop("", [])
    new: dict[str, list[Message]] = {}
    for message in pinned:
        new.setdefault(message.pin, []).append(message)
    made = (*(message for group in (by_pin | new).values() for message in group), *kept)
    return head if made == head else made


def history_of(context: ExecutionContext) -> History[Message]:
    """Return the message history of a context, with its type."""
    history = context.message_history
    assert isinstance(history, History), "a context keeps its messages as a history"
    return history


class Tools:
    """A description of tools; a port of this class, or one derived from it, has the kind tools and is lazy.

    `made_by` says how to create one, for the message about a value of another type.
    """

    __slots__ = ()

    made_by: ClassVar[str] = ""


#: Merges the contexts of the active edges, in the order of the edges.
MergeFunction: TypeAlias = Callable[[list[ExecutionContext]], ExecutionContext]


def _pick(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Return the first."""
    return contexts[0]


def _append(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Append to the first the messages of each other context that no earlier one has."""
    first = contexts[0]
    history, head = history_of(first), first.head
    earlier: defaultdict[str, list[History[Message]]] = defaultdict(list)
    known: defaultdict[str, set[Part[Message]]] = defaultdict(set)
    for context in contexts:  # those with different ids have nothing in common (S10.5)
        own, known_parts = history_of(context), known[context.context_id]
        if context is not first:
            history = history.taken_over(new_parts(own, known_parts, earlier[context.context_id]))
            head = _with_new_pins(head, context)
        earlier[context.context_id].append(own)
        known_parts.update(own.originals())
    return replace(first, message_history=history, head=head, variables=_variables(contexts))


def _results(contexts: Sequence[ExecutionContext]) -> ExecutionContext:
    """Append to the common prefix of all the last answer of each."""
    first = contexts[0]
    common = history_of(first).first(min(_shared(first, context) for context in contexts))
    known_parts, head = common.originals(), first.head
    answers: dict[tuple[Part[Message], int], Message] = {}  # by their original: each is taken once
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
    """Yield the answers in these parts, from the end of each, with their original part and index."""
    for part in parts:
        for place in reversed(range(len(part.items))):
            message = part.items[place]
            if message.role == "assistant" and not message.tool_calls:
                yield (part.original, place), message


def _shared(one: ExecutionContext, other: ExecutionContext) -> int:
    """Return the length of the common prefix of two conversations; 0 for different ids (S10.5)."""
    if one.context_id != other.context_id:
        return 0
    return shared_length(history_of(one), history_of(other))


def _with_new_pins(head: tuple[Message, ...], context: ExecutionContext) -> tuple[Message, ...]:
    """Add the pinned messages of a context whose pins the head does not have."""
    pins = {message.pin for message in head}
    return with_pinned(head, [message for message in context.head if message.pin and message.pin not in pins])


def _variables(contexts: Sequence[ExecutionContext]) -> Mapping[str, Any]:
    """Merge the variables of the contexts; the first context that has a variable wins."""
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
    """Merge conversations into one, as `merge_contexts` does for ports.

    Raises ValueError for an unknown policy, or if there are no contexts.
    """
    one_of("how", how, MergePolicy)
    if not contexts:
        raise ArgumentInvalid(NOTHING_TO_MERGE())
    return POLICIES[how](list(contexts))


def merge_live(node: str, labels: Sequence[str], live: list[object], how: MergeFunction) -> ExecutionContext:
    """Merge the values of active edges; raises NodeFailed if one, or the result, is not a context."""
    contexts = []
    for label, value in zip(labels, live, strict=True):
        if not isinstance(value, ExecutionContext):
            problem = VALUE_MISMATCH(
                f"value of {label}", expected=ExecutionContext.__name__, found=type(value).__name__
            )
            raise NodeFailed(node, problem)
        contexts.append(value)
    merged: object = copy_context().run(how, contexts)  # contextvars that it sets stay there (S14.5)
    if not isinstance(merged, ExecutionContext):
        function, found = getattr(how, "__name__", "how"), type(merged).__name__
        problem = ANSWER_MISMATCH(function=function, expected=ExecutionContext.__name__, found=found)
        raise NodeFailed(node, problem)
    return merged
