"""`ExecutionContext`, an immutable conversation, its tools, and the merging of conversations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from dataflow.base.copies import own_copy
from dataflow.base.history import History, new_parts, shared_length
from dataflow.base.wording import choices
from dataflow.core.turns import Message, TooLarge, choose, estimated_tokens, fault_in, fault_in_turn, turns_of
from dataflow.errors import BudgetExceeded, ConversationInvalid, NodeFailed

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
    "history_of",
    "merge_live",
    "merged_context",
    "with_pinned",
]

#: The id of the node type that begins a conversation.
CONTEXT_ID: Final = "control.context"
MergePolicy: TypeAlias = Literal["pick", "append", "results"]


class Variables(Mapping[str, Any]):
    """Read-only variables. Lists, dicts and sets in them are given to each reader as copies (S3.4)."""

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
    """An immutable conversation; `append` makes a new one and leaves this one as it is.

    `message_history` is all that was said, `messages` what of it a model is sent. Contexts with different
    `context_id` have nothing in common when they are merged (S10.5). `variables` can only be read; lists,
    dicts and sets in them are given out as copies. `session_id` is the `context_id` unless it is given. The
    other fields are for nodes, and kept as they are given.

    `head` and `left_out` are what trimming and pins have come to: `messages` are those of the head, and then
    the history without its first ones, so many as are left out.
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
        """What a model is sent: the pinned messages, and the history as far as it was not trimmed away."""
        return (*self.head, *history_of(self).since(self.left_out))

    def append(self, *messages: Message) -> ExecutionContext:
        """Return a context whose history goes on with these messages; the history so far is shared.

        A message with a `pin` goes to the head instead, in the place of those with this pin that are there.
        """
        head = with_pinned(self.head, [message for message in messages if message.pin])
        history = history_of(self).extended(message for message in messages if not message.pin)
        return replace(self, message_history=history, head=head)

    def append_turn(self, *messages: Message) -> ExecutionContext:
        """Append one whole turn: a user message, and what came of it up to the answer (S10.3).

        Raises ConversationInvalid for anything else.
        """
        self._refuse(fault_in_turn(messages), "a turn of ")
        return self.append(*messages)

    def turns(self) -> list[tuple[Message, ...]]:
        """Put the messages of each turn together, as far as they are sent (S10.5)."""
        return turns_of(self.messages)

    def check(self) -> None:
        """Check that each tool call has exactly one result, behind it; raises ConversationInvalid (S10.2)."""
        self._refuse(fault_in(self.messages))

    def trimmed(self, budget: int, size: Callable[[Message], int] = estimated_tokens) -> ExecutionContext:
        """Return a context whose messages fit a budget, system text included (S10.5).

        The oldest turns go first. System text, pinned messages and the last user message stay; where the last
        turn alone is too large, its oldest tool calls go with their results. `size` measures a message: the
        default estimates tokens, by four characters each. Raises BudgetExceeded where what has to stay does
        not fit, ConversationInvalid as `check` does, ValueError for a budget that is no whole number.
        """
        _check_budget(budget)
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
            raise ConversationInvalid(self.context_id, fault.position, fault.reason, part)


def _check_budget(budget: object) -> None:
    if not isinstance(budget, int) or isinstance(budget, bool) or budget < 0:
        raise ValueError(f"budget must be a whole number of 0 or more, found {budget!r}")


def with_pinned(head: tuple[Message, ...], pinned: Sequence[Message]) -> tuple[Message, ...]:
    """Put pinned messages into a head: in the place of those with the same pins, else behind all pins."""
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
    """Return the history of a context as what it is."""
    history = context.message_history
    assert isinstance(history, History), "a context keeps its messages as a history"
    return history


class Tools:
    """A description of tools; the base class that gives a port the kind tools, which makes it lazy (S8.3).

    `made_by` says what makes one, for whoever has given something else in its place.
    """

    __slots__ = ()

    made_by: ClassVar[str] = ""


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
