"""Human-in-the-loop requests: nodes that pause, the asks they open, and the answers (S11.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

from dataflow.base.copies import own_copy
from dataflow.base.scalars import finite_number
from dataflow.base.wording import short_repr
from dataflow.core.events import EventKind
from dataflow.core.inputs import (
    BY_DEFAULT,
    Ask,
    Decision,
    Request,
    check_schema,
    decision_schema,
    ports_left,
    read_answer,
    read_decision,
    read_request,
    schema_of,
)
from dataflow.core.ports import MISSING, SKIP
from dataflow.core.states import PAUSED
from dataflow.diagnostics.runs import ANSWER_NOT_JSON, ASK_CLOSED, ASK_EXPIRED, ASK_UNKNOWN, EFFECT_GIVEN_UP
from dataflow.errors import AnswerRefused, NodeFailed, ValueRefused, problem_of
from dataflow.scheduler.arguments import note_secrets_in, outputs_given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from dataflow.compiler.plan import Call, PlanNode
    from dataflow.core.ports import NodeOutput, OutPort
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.scheduler import Scheduler
    from dataflow.scheduler.timers import Timer

__all__ = ["ANSWERED_WITH", "Asking", "OpenAsk", "ReadAnswer", "answered_text"]

ANSWERED: Final = ASK_CLOSED(reason="it has been answered already")
OVERDUE: Final = "it has expired"
EXPIRED: Final = ASK_CLOSED(reason=OVERDUE)
#: The head of the text that an ask was answered.
ANSWERED_WITH: Final = "answered with"


class ReadAnswer(NamedTuple):
    """A validated answer: its values for the missing ports, and its author."""

    values: Mapping[str, Any]
    by: str
    decision: Decision | None = None  # about a call that was cut off


@dataclass(slots=True, eq=False)
class OpenAsk:
    """An ask that waits for its answer, with the outputs that its node gave before."""

    ask: Ask
    frame: Frame
    node: PlanNode
    call: Call
    request: Request
    given: Mapping[str, Any]  # outputs and context that the node returned with it
    left: Sequence[OutPort]  # the ports that the answer fills
    opened: datetime
    timer: Timer | None = None
    repeats: bool = False  # whether a call that was cut off is to be repeated


class Asking:
    """The part of the scheduler that opens, answers and closes asks."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.open: dict[str, OpenAsk] = {}  # by id
        self._over: dict[str, Diagnostic] = {}  # asks that no longer accept answers, and why
        self._expected: dict[str, tuple[object, str]] = {}  # answers for asks that will be opened again
        self._promised: set[str] = set()  # asks with an accepted answer that is about to be applied

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The open asks in the order of their nodes, whichever opened first (S14.1)."""
        return tuple(one.ask for one in self._in_order())

    def _in_order(self) -> list[OpenAsk]:
        return sorted(self.open.values(), key=_place)

    def pause(self, frame: Frame, node: PlanNode, call: Call, output: NodeOutput) -> None:
        """Open the ask of a raw node that paused; raises NodeFailed for an invalid one."""
        request = read_request(node.id, output.metadata)
        given = outputs_given(node.id, call.type, output)
        if self.scheduler.journal_writer is not None:
            _check_written(self.scheduler.journal_writer.check, node.id, request, given)
        check_schema(node.id, request)
        self.open_ask(frame, node, call, request, given, self.scheduler.reporter.now())

    def ask_to_repeat(self, frame: Frame, node: PlanNode, call: Call, began: datetime | None) -> None:
        """Ask whether to repeat a call that was cut off and may have had its effect (S12.2)."""
        reporter, path = self.scheduler.reporter, frame.path_of(node)
        prompt = f"{path} was cut off after it had begun, so it may have had its effect. Run it again?"
        show = {"key": f"{reporter.run}/{path}", "began": None if began is None else began.isoformat()}
        schema = decision_schema(ports_left(call.type.outputs, {}))
        self.open_ask(frame, node, call, Request(prompt, show, schema), {}, reporter.now(), repeats=True)

    def open_ask(
        self,
        frame: Frame,
        node: PlanNode,
        call: Call,
        request: Request,
        given: Mapping[str, Any],
        opened: datetime,
        *,
        repeats: bool = False,
    ) -> None:
        """Open an ask; its expiry counts from the time when it was first opened."""
        scheduler, path = self.scheduler, frame.path_of(node)
        left = ports_left(call.type.outputs, given)
        schema = dict(request.schema) if request.schema is not None else schema_of(left)
        expires = None if request.expires is None else opened + timedelta(seconds=request.expires)
        ask = Ask(path, request.prompt, own_copy(request.show), schema, expires)
        self.open[path] = one = OpenAsk(ask, frame, node, call, request, given, left, opened, repeats=repeats)
        self._over.pop(path, None)
        frame.states[node.index] = PAUSED
        if scheduler.live is not None:
            scheduler.live.asked(one)
        if scheduler.reporter.is_listening:
            self.report(one)
        self._watch(one)
        if path in self._expected:
            scheduler.opening.do_later(partial(self._take_expected, path))

    def report(self, one: OpenAsk) -> None:
        """Report that an ask is open, with all data needed to open it again."""
        default = {} if one.request.default is MISSING else {"default": one.request.default}
        given = {port: value for port, value in one.given.items() if value is not SKIP}
        repeats = {"repeats": True} if one.repeats else {}
        self.scheduler.report(
            EventKind.ASK_OPENED, one.frame, one.node, prompt=one.ask.prompt, schema=one.ask.schema,
            show=one.ask.show, expires=one.request.expires, given=given, **default, **repeats,
        )  # fmt: skip

    def _watch(self, one: OpenAsk) -> None:
        """Have an ask expire; the timer is not awaited, as a run may pause meanwhile."""
        if one.ask.expires is None:
            return
        seconds = (one.ask.expires - self.scheduler.reporter.now()).total_seconds()
        step = partial(self._expire, one)
        one.timer = self.scheduler.timers.set(max(0.0, seconds), step, one.frame, is_awaited=False)

    def watch_again(self) -> None:
        """Set the timers of all open asks again, in a resumed run; asks that are overdue expire."""
        for one in self._in_order():
            if one.timer is not None:
                self.scheduler.timers.drop(one.timer)
            if self._is_over(one):
                self._expire(one)
            else:
                self._watch(one)

    def _is_over(self, one: OpenAsk) -> bool:
        return one.ask.expires is not None and one.ask.expires <= self.scheduler.reporter.now()

    def read(self, id: str, value: object, by: str, *, is_json: bool = False) -> ReadAnswer:
        """Read an answer to an open ask; raises AnswerRefused."""
        one = self.open.get(id)
        if one is None:
            raise AnswerRefused(id, self.why_refused(id))
        if id in self._promised:
            raise AnswerRefused(id, ANSWERED)
        if self._is_over(one):
            raise AnswerRefused(id, EXPIRED)
        if one.repeats:
            found = read_decision(id, one.left, value, is_json=is_json)
            if isinstance(found, Decision):
                return ReadAnswer({}, by, found)
            values = found
        else:
            values = read_answer(id, one.left, value, one.request.schema, is_json=is_json)
        if self.scheduler.journal_writer is not None:
            try:
                self.scheduler.journal_writer.check(values, id)
            except ValueRefused as refused:
                raise AnswerRefused(id, problem_of(refused)) from refused
        return ReadAnswer(values, by)

    def read_json(self, id: str, text: str, by: str) -> ReadAnswer:
        """Read an answer given as JSON text, which anyone may have written; raises AnswerRefused."""
        try:
            value = json.loads(text, parse_float=finite_number)
        except (ValueError, RecursionError) as error:
            raise AnswerRefused(id, ANSWER_NOT_JSON(error=error)) from error
        return self.read(id, value, by, is_json=True)

    def why_refused(self, id: str) -> Diagnostic:
        """Return why an ask that is not open takes no answer."""
        over = self._over.get(id) or self._of_earlier(id)
        return over or ASK_UNKNOWN(available=[ask.id for ask in self.asks])

    def _of_earlier(self, id: str) -> Diagnostic | None:
        """Return why an ask of an earlier execution session no longer accepts answers; None if unknown."""
        replay = self.scheduler.replay
        ask = None if replay is None else replay.past.ask_at(id)
        if ask is None or (ask.values is None and ask.closed is None):
            return None
        if ask.values is None:
            return ASK_CLOSED(reason=ask.closed)
        return EXPIRED if ask.by == BY_DEFAULT and "default" in ask.told else ANSWERED

    def expect(self, id: str, value: object, by: str) -> None:
        """Keep an answer for an ask that is about to be opened again, and read it then."""
        self._expected[id] = value, by

    def _take_expected(self, id: str) -> None:
        value, by = self._expected.pop(id)
        if id not in self.open:  # it was closed in the same step
            return
        try:
            read = self.read(id, value, by)
        except AnswerRefused as error:
            self.scheduler.warn("", "answer_refused", str(error))
        else:
            self.answer(id, read)

    def warn_of_unused(self) -> None:
        """Warn of answers that were given for asks which were not opened again."""
        for id in self._expected:
            self.scheduler.warn("", "answer_refused", str(AnswerRefused(id, self.why_refused(id))))
        self._expected.clear()

    def knows(self, id: str) -> bool:
        """Return whether an ask is open, or was in this execution session."""
        return id in self.open or id in self._over

    def promise(self, ids: Iterable[str]) -> None:
        """Accept answers that were read; until they are applied, other answers are refused."""
        self._promised.update(ids)

    def take(self, id: str, answer: ReadAnswer) -> list[FiringId]:
        """Apply an answer as a separate step, unless its ask was closed; return the newly ready firings."""
        self._promised.discard(id)
        if id not in self.open:
            return []
        return self.scheduler.take_step(partial(self.answer, id, answer))

    def answer(self, id: str, answer: ReadAnswer) -> None:
        """Fill the ports of a node with a validated answer and settle it, or do what was decided."""
        one = self.open.pop(id)
        self._over[id] = ANSWERED
        if one.timer is not None:
            self.scheduler.timers.drop(one.timer)
        frame, node = one.frame, one.node
        note_secrets_in(node, one.call, answer.values, ())
        decision, values = answer.decision, own_copy(dict(answer.values))
        decided = {} if decision is None else {"decision": decision.value}
        self.scheduler.report(EventKind.ASK_ANSWERED, frame, node, by=answer.by, values=values, **decided)
        match decision:
            case None:
                self._settle(one, answer)
            case Decision.AGAIN:
                self.scheduler.make_ready(frame, node.index)
            case Decision.GIVE_UP:
                self.scheduler.failing.failed(frame, node, NodeFailed(node.id, EFFECT_GIVEN_UP()))
            case _:
                assert_never(decision)

    def _settle(self, one: OpenAsk, answer: ReadAnswer) -> None:
        frame, node, values = one.frame, one.node, answer.values
        outputs = {**one.given, **{name: own_copy(value) for name, value in values.items()}}
        self.scheduler.releasing.succeeded(frame, node, one.call, outputs)
        frame.note_memo(node.index, answered_text(values, answer.by))

    def _expire(self, one: OpenAsk) -> None:
        """Apply the default of an ask that has expired; without one its node fails."""
        if one.ask.id not in self.open or one.ask.id in self._promised:
            return
        if one.request.default is not MISSING:
            try:
                values = read_answer(one.ask.id, one.left, one.request.default, one.request.schema)
            except AnswerRefused as refused:
                self._fail(one, refused.problem.within("default of its ask"))
            else:
                self.answer(one.ask.id, ReadAnswer(values, BY_DEFAULT))
                self._over[one.ask.id] = EXPIRED
        else:
            self._fail(one, ASK_EXPIRED(seconds=f"{one.request.expires:g}"))

    def _fail(self, one: OpenAsk, problem: Diagnostic) -> None:
        self.close(one.frame, one.node, OVERDUE)
        self.scheduler.failing.failed(one.frame, one.node, NodeFailed(one.node.id, problem))

    def close(self, frame: Frame, node: PlanNode, reason: str) -> None:
        """Close the ask of a node, which no longer accepts answers (S5.3, S11.5)."""
        path = frame.path_of(node)
        one = self.open.pop(path, None)
        if one is None:
            return
        if one.timer is not None:
            self.scheduler.timers.drop(one.timer)
        self._over[path] = ASK_CLOSED(reason=reason)
        self.scheduler.report(EventKind.ASK_CLOSED, frame, node, reason=reason)


def answered_text(values: Mapping[str, Any], by: str) -> str:
    """Return the text that an ask was answered; a value of several ports is named by its port."""
    shown = short_repr(next(iter(values.values())) if len(values) == 1 else dict(values))
    return f"{ANSWERED_WITH} {shown}" + (f" by {by}" if by else "")


def _place(one: OpenAsk) -> list[tuple[int, int]]:
    """Return the position of an ask: node and item or iteration, from the root inwards."""
    frame, places = one.frame, [(one.node.index, 0)]
    while frame.parent is not None:
        places.append((frame.owner, frame.name if isinstance(frame.name, int) else frame.position))
        frame = frame.parent
    return places[::-1]


def _check_written(
    check: Callable[[object, str], None], node: str, request: Request, given: Mapping[str, Any]
) -> None:
    """Raise ValueRefused if an ask cannot be written; its node does not end yet."""
    for port, value in given.items():
        if value is not SKIP:
            check(value, f"{node}.{port}")
    check(request.show, f"{node}: what its ask shows")
    check(request.schema, f"{node}: the schema of its ask")
    if request.default is not MISSING:
        check(request.default, f"{node}: the default of its ask")
