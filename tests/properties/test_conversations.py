"""Conversations under any sequence of appends, pins, forks, merges, trims and resumes, against a model (S10).

The model holds for each conversation the turns that were said, in order, and which messages are left out of
what is sent. Every message has a text of its own, so that one that comes twice is seen. Sizes are counted in
messages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dataflow import BudgetExceeded, ExecutionContext, Message, ToolCall, merged_context
from dataflow.values.classes import classes_of
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer

CLASSES: Final = classes_of([])
PINS: Final = ("rules", "facts")

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Talk:
    """One conversation, as the model has it: what was said, what is pinned, and which messages are left out.

    `said` has each turn, or the answers of a merge, by a number of its own, as the texts of its messages; a
    text tells the role. `left_out` are places in all that was said.
    """

    said: tuple[tuple[int, Texts], ...] = ()
    pins: tuple[tuple[str, str], ...] = ()
    left_out: frozenset[int] = field(default_factory=frozenset)

    def texts(self) -> list[str]:
        return [text for _, turn in self.said for text in turn]

    def unpinned(self) -> list[tuple[int, str]]:
        return [(place, text) for place, text in enumerate(self.texts()) if place not in self.left_out]

    def sent(self) -> list[str]:
        return [text for _, text in self.pins] + [text for _, text in self.unpinned()]


def trimmed(talk: Talk, budget: int) -> Talk | None:
    """Leave out the oldest turn as long as there is too much, then the oldest answer of the last turn."""
    room = budget - len(talk.pins)
    sent = talk.unpinned()
    while len(sent) > room:
        begins = [at for at, (_, text) in enumerate(sent) if text.startswith("user") and at]
        if begins:
            sent = sent[begins[0] :]
            continue
        answers = [at for at, (_, text) in enumerate(sent) if text.startswith("assistant")]
        if len(answers) < 2:
            return None
        sent = sent[: answers[0]] + sent[answers[1] :]
    kept = {place for place, _ in sent}
    return replace(talk, left_out=frozenset(range(len(talk.texts()))) - kept)


def appended(talks: list[Talk]) -> Talk:
    said = list(talks[0].said)
    for talk in talks:
        said += [turn for turn in talk.said if turn not in said]
    return replace(talks[0], said=tuple(said), pins=all_pins(talks))


def results(talks: list[Talk], number: int) -> Talk:
    common = []
    for turn in talks[0].said:
        if not all(turn in talk.said for talk in talks):
            break
        common.append(turn)
    found: list[tuple[int, str]] = []
    for talk in talks:
        answers = [
            (turn, text)
            for turn, texts in talk.said
            if (turn, texts) not in common
            for text in texts
            if text.startswith("assistant answers")
        ]
        found += [answer for answer in answers[-1:] if answer not in found]
    said = (*common, (number, tuple(text for _, text in found))) if found else tuple(common)
    is_within = all(place < sum(len(texts) for _, texts in common) for place in talks[0].left_out)
    return Talk(said, all_pins(talks), talks[0].left_out if is_within else frozenset())


def all_pins(talks: list[Talk]) -> tuple[tuple[str, str], ...]:
    pins = dict(talks[0].pins)
    for talk in talks:
        pins |= {pin: text for pin, text in talk.pins if pin not in pins}
    return tuple(pins.items())


def as_message(text: str) -> Message:
    role, *words = text.split()
    calls = words[2:] if words[0] == "calls" else []
    return Message(
        role,  # type: ignore[arg-type]  # one of the four
        text,
        tuple(ToolCall(call, "look", "{}") for call in calls),
        words[0] if role == "tool" else "",
    )


def orphans(messages: tuple[Message, ...]) -> list[str]:
    """List calls without the result right behind them, and results without the call before them."""
    found = []
    due: list[str] = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in due:
                found.append(message.content)
            else:
                due.remove(message.tool_call_id)
            continue
        found += due
        due = [call.id for call in message.tool_calls]
    return found + due


class Conversations(RuleBasedStateMachine):
    """All conversations made so far; each may be gone on from again, which is a fork."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.has_results = False
        self.made: list[tuple[ExecutionContext, Talk]] = []

    def number(self) -> int:
        self.count += 1
        return self.count

    def pick(self, which: int) -> tuple[ExecutionContext, Talk]:
        return self.made[which % len(self.made)]

    def add(self, context: ExecutionContext, talk: Talk) -> None:
        self.made = [*self.made[-7:], (context, talk)]

    def turn(self, exchanges: list[int]) -> tuple[int, Texts]:
        texts = [f"user asks {self.number()}"]
        for calls in exchanges:
            ids = [f"c{self.number()}" for _ in range(calls)]
            texts.append(" ".join([f"assistant calls {self.number()}", *ids]))
            texts += [f"tool {one}" for one in reversed(ids)]
        texts.append(f"assistant answers {self.number()}")
        return self.number(), tuple(texts)

    @initialize(turns=st.integers(0, 3))
    def begin(self, turns: int) -> None:
        said = tuple(self.turn([1]) for _ in range(turns))
        context = ExecutionContext("c")
        for _, texts in said:
            context = context.append(*map(as_message, texts))
        self.add(context, Talk(said))

    @rule(which=st.integers(0, 7), exchanges=st.lists(st.integers(1, 2), max_size=3))
    def append(self, which: int, exchanges: list[int]) -> None:
        context, talk = self.pick(which)
        turn = self.turn(exchanges)
        self.add(context.append_turn(*map(as_message, turn[1])), replace(talk, said=(*talk.said, turn)))

    @rule(which=st.integers(0, 7), pin=st.sampled_from(PINS), times=st.integers(1, 2))
    def inject(self, which: int, pin: str, times: int) -> None:
        context, talk = self.pick(which)
        text = f"user asks {self.number()}"
        for _ in range(times):
            context = context.append(Message("user", text, pin=pin))
        self.add(context, replace(talk, pins=tuple((dict(talk.pins) | {pin: text}).items())))

    @rule(which=st.integers(0, 7), budget=st.integers(0, 12))
    def trim(self, which: int, budget: int) -> None:
        context, talk = self.pick(which)
        expected = trimmed(talk, budget)
        try:
            made = context.trimmed(budget, lambda _: 1)
        except BudgetExceeded:
            assert expected is None
            return
        assert expected is not None
        self.add(made, expected)

    @rule(
        which=st.lists(st.integers(0, 7), min_size=1, max_size=3), how=st.sampled_from(["append", "results"])
    )
    def merge(self, which: list[int], how: Any) -> None:
        contexts, talks = zip(*map(self.pick, which), strict=True)
        self.has_results |= how == "results"
        expected = appended(list(talks)) if how == "append" else results(list(talks), self.number())
        self.add(merged_context(contexts, how), expected)

    @rule()
    def resume(self) -> None:
        blobs: dict[str, bytes] = {}
        writer = Writer(CLASSES, blobs.__setitem__)
        stored = [json.dumps(writer.write(context, "a.out")) for context, _ in self.made]
        reader = Reader(CLASSES, blobs.__getitem__, "runs.db")
        read = [reader.read(json.loads(one)) for one in stored]
        self.made = [(context, talk) for context, (_, talk) in zip(read, self.made, strict=True)]

    @invariant()
    def the_newest_is_as_the_model_has_it(self) -> None:
        if not self.made:
            return
        context, talk = self.made[-1]
        assert [message.content for message in context.message_history] == talk.texts()
        assert [message.content for message in context.messages] == talk.sent()

    @invariant()
    def nothing_is_orphaned_or_repeated(self) -> None:
        for context, _ in self.made[-1:]:
            assert orphans(context.messages) == []
            context.check()
            texts = [message.content for message in context.message_history]
            if self.has_results:  # an answer taken alone may come again with its turn
                texts = [text for text in texts if not text.startswith("assistant answers")]
            assert len(texts) == len(set(texts))


TestConversations = Conversations.TestCase
TestConversations.settings = settings(max_examples=300, stateful_step_count=25, deadline=None)
