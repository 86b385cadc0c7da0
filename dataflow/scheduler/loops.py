"""Loops: successive iterations, the test, the limit and the outputs (S6)."""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from dataflow.base.copies import own_copy
from dataflow.base.wording import counted
from dataflow.compiler.plan import LoopOf
from dataflow.core.events import EventKind
from dataflow.core.nodetype import checked_answer
from dataflow.core.states import (
    NO_EDGE,
    NOT_RUN,
    RUNNING,
    UNSETTLED,
    WAITING,
    Errored,
    LoopEnd,
    Skip,
    is_dead,
)
from dataflow.diagnostics.runs import LIMIT_LOWERED, LOOP_ENDED
from dataflow.errors import LoopLimit
from dataflow.scheduler.frames import OpenedLoop, Unhandled

if TYPE_CHECKING:
    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Loops"]


class Loops:
    """The part of the scheduler that opens and ends iterations."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def open(self, frame: Frame, node: PlanNode, loop: LoopOf) -> None:
        """Begin a loop whose first values have settled (S2.4)."""
        frame.states[node.index] = RUNNING
        self.scheduler.report(EventKind.NODE_STARTED, frame, node, type="loop", attempt=1)
        firsts = {
            feed.port: self.scheduler.take(frame, feed.slots[0])
            for feed in node.feeds
            if feed.port in loop.carried
        }
        opened = OpenedLoop(carried=firsts | dict.fromkeys(sorted(loop.feedback), NO_EDGE))
        opened.begun = self.scheduler.clock()
        frame.note_opened(node.index, opened)
        self._next_round(frame, node, loop, opened)

    def _next_round(self, frame: Frame, node: PlanNode, loop: LoopOf, opened: OpenedLoop) -> None:
        """Begin the next iteration, unless a `while` test or the limit ends the loop."""
        if loop.kind == "while":
            token = opened.carried[_tested_carry(loop)]
            if type(token) is Errored:
                self._exited(frame, node, opened, LoopEnd.FAILED)
                unhandled = Unhandled(node.index, token.failure, None)
                self.scheduler.releasing.opener_ended(frame, node, [unhandled])
                return
            try:
                opened.ends = self._while_ends(frame, node, loop, opened, token)
            except BaseException as error:  # noqa: BLE001 - the test is the user's function
                self._fail(frame, node, opened, error)
                return
        if opened.ends is None and self._is_over(frame, node, loop, opened.round):
            opened.ends = LoopEnd.LIMIT
        if opened.ends is not None:
            self._leave(frame, node, loop, opened)
            return
        body = self.scheduler.opening.new_frame(loop.body, frame, node.index, opened.round)
        opened.live[body.number] = body
        opened.frames.append(body)
        if self.scheduler.reporter.is_listening:
            self.scheduler.report(EventKind.LOOP_ROUND, frame, node, round=opened.round)
        self.scheduler.opening.begin(
            body, [(loop.body.parameters[name], token) for name, token in opened.carried.items()]
        )
        opened.carried = {name: opened.carried[name] for name in loop.finals.values()}

    def _while_ends(
        self, frame: Frame, node: PlanNode, loop: LoopOf, opened: OpenedLoop, token: Any
    ) -> LoopEnd | None:
        if type(token) is Skip:
            return LoopEnd.EXHAUSTED
        if (known := self._known(frame, node, opened.round)) is not None:
            return LoopEnd.CONDITION if known else None
        return None if _holds(node, loop, own_copy(token)) else LoopEnd.CONDITION

    def _known(self, frame: Frame, node: PlanNode, rounds: int) -> bool | None:
        """Return whether the test ended the loop after so many iterations, if recorded (S11.3)."""
        replay = self.scheduler.replay
        goes_on = None if replay is None else replay.past.loop_goes_on(frame.path_of(node), rounds)
        return None if goes_on is None else not goes_on

    def tested(self, body: Frame) -> None:
        """Decide an `until` loop as soon as its test has settled (S6.1)."""
        frame = body.parent
        assert frame is not None, "a round is inside a frame"
        node = frame.plan.nodes[body.owner]
        loop, opened = node.action, frame.opened[body.owner]
        assert isinstance(loop, LoopOf)
        assert isinstance(opened, OpenedLoop)
        assert loop.test is not None
        token = body.values[loop.test]
        try:
            if type(token) is Errored:
                opened.ends = LoopEnd.FAILED
                body.note_failures([Unhandled(len(body.plan.nodes), token.failure, None)])
            elif type(token) is Skip:
                opened.ends = LoopEnd.EXHAUSTED
            elif self._until_holds(body, node, loop, opened):
                opened.ends = LoopEnd.CONDITION
            elif self._is_over(frame, node, loop, opened.round + 1):
                opened.ends = LoopEnd.LIMIT
        except BaseException as error:  # noqa: BLE001 - as above
            opened.ends = LoopEnd.FAILED
            self.scheduler.failing.test_failed(frame, node, body, error)
        if loop.gate is not None and opened.ends is None:
            self.scheduler.put(body, loop.gate, True)
            if body.undemanded:
                self.scheduler.pulling.demand(body, [slot for _, slot in loop.carried.values()])
        elif opened.ends is not None:
            self._drop_what_only_next_values_need(body)

    def _until_holds(self, body: Frame, node: PlanNode, loop: LoopOf, opened: OpenedLoop) -> bool:
        assert body.parent is not None, "a round is inside a frame"
        assert loop.test is not None, "the loop has a test"
        if (known := self._known(body.parent, node, opened.round + 1)) is not None:
            return known
        holds = _holds(node, loop, self.scheduler.take(body, loop.test))
        if loop.predicate is not None and (body.unsettled or body.undemanded):  # else the next record tells
            self.scheduler.report(EventKind.LOOP_TESTED, body.parent, node, round=opened.round, ends=holds)
        return holds

    def _is_over(self, frame: Frame, node: PlanNode, loop: LoopOf, rounds: int) -> bool:
        """Return whether the limit lets no iteration follow after so many.

        In a resumed run, whose limit may have been lowered, iterations in which something has settled
        remain valid (S6.2).
        """
        if loop.limit is None or rounds < loop.limit:
            return False
        replay, path = self.scheduler.replay, frame.path_of(node)
        if replay is None or not replay.past.has_settled_in(f"{path}[{rounds}]"):
            return True
        if rounds == loop.limit:
            problem = LIMIT_LOWERED(path, limit=counted(loop.limit, "round"))
            self.scheduler.warn(path, "limit_lowered", str(problem))
        return False

    def _drop_what_only_next_values_need(self, body: Frame) -> None:
        self.scheduler.opening.await_no_more(body, body.plan.awaited_nexts)
        cause = Skip(body.path(), "no further round follows")
        for index in body.plan.after_test:
            if body.states[index] == WAITING:
                body.note_reason(index, cause)
                self.scheduler.finish(body, body.plan.nodes[index], NOT_RUN)

    def round_ended(self, body: Frame, node: PlanNode, opened: OpenedLoop) -> None:
        """Keep the outputs of an iteration, then end the loop or continue it."""
        frame, loop = body.parent, node.action
        assert frame is not None, "a round is inside a frame"
        assert isinstance(loop, LoopOf)
        opened.round += 1
        if body.failures or body.is_closing:
            self._exited(frame, node, opened, LoopEnd.FAILED)
            self.scheduler.releasing.opener_ended(frame, node, sorted(body.failures))
            return
        self._keep_results(body, loop, opened)
        if opened.ends is None:
            opened.carried = {
                name: self.scheduler.take(body, slot) for name, (_, slot) in loop.carried.items()
            }
            if loop.feedback and all(is_dead(opened.carried[name]) for name in loop.feedback):
                opened.ends = LoopEnd.EXHAUSTED
            self._next_round(frame, node, loop, opened)
        else:
            self._leave(frame, node, loop, opened)

    def _keep_results(self, body: Frame, loop: LoopOf, opened: OpenedLoop) -> None:
        """Keep the outputs of an iteration; an error in one replaces a list of all of them (S5.3)."""
        for own, slot in loop.results.items():
            token = body.values[slot]
            if is_dead(token):
                if own not in loop.alls or (type(token) is Errored and own not in opened.dead):
                    opened.dead[own] = token
            elif own in loop.alls:
                opened.alls.setdefault(own, []).append(self.scheduler.take(body, slot))
            else:
                opened.results[own] = self.scheduler.take(body, slot)
        for own, slot in loop.shown.items():
            token = body.values[slot]
            if is_dead(token):
                opened.dead[own] = token
            elif token is not UNSETTLED:
                opened.results[own] = self.scheduler.take(body, slot)

    def _leave(self, frame: Frame, node: PlanNode, loop: LoopOf, opened: OpenedLoop) -> None:
        """Settle the outputs of the loop (S6.1, S6.2)."""
        assert opened.ends is not None
        path = frame.path_of(node)
        if opened.ends == LoopEnd.LIMIT and (loop.kind is not None or loop.feedback):
            assert loop.limit is not None
            asked = "a feedback edge" if loop.feedback else "its test"
            if loop.on_limit == "fail":
                self._fail(frame, node, opened, LoopLimit(node.id, loop.limit, asked))
                return
            problem = LOOP_ENDED(path, rounds=counted(loop.limit, "round"), asks=asked)
            self.scheduler.warn(path, "loop_limit", str(problem))
        for own, carry in loop.finals.items():
            self.scheduler.put(frame, own, opened.carried[carry])
        for own in (*loop.results, *loop.shown):
            last = opened.dead.get(own)
            if own in loop.alls and last is None:
                self.scheduler.put(frame, own, opened.alls.get(own, []))
            else:
                self.scheduler.put(frame, own, opened.results.get(own, _nothing(path, last)))
        self._exited(frame, node, opened, opened.ends)
        self.scheduler.releasing.opener_ended(frame, node, ())

    def _fail(self, frame: Frame, node: PlanNode, opened: OpenedLoop, error: BaseException) -> None:
        self._exited(frame, node, opened, LoopEnd.FAILED)
        opened.release(self.scheduler.clock())
        self.scheduler.failing.failed(frame, node, error)

    def _exited(self, frame: Frame, node: PlanNode, opened: OpenedLoop, reason: LoopEnd) -> None:
        self.scheduler.report(
            EventKind.LOOP_EXITED, frame, node, reason=reason.value, iterations=opened.round
        )


def _tested_carry(loop: LoopOf) -> str:
    return next(name for name, slot in loop.body.parameters.items() if slot == loop.test)


def _nothing(path: str, last: Skip | Errored | None) -> Skip | Errored:
    """Return the token of a port that never had a value: its error, or a skip (S6.4)."""
    if isinstance(last, Errored):
        return Errored(path, last.failure, last)
    return Skip(path, "no round brought a value", last)


def _holds(node: PlanNode, loop: LoopOf, value: Any) -> bool:
    """Apply the test, in its own context (S14.5); the answer must be a bool (S16.3)."""
    answer = value if loop.predicate is None else copy_context().run(loop.predicate, value)
    return checked_answer(answer, node.id, "test")
