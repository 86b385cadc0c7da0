"""Replay: settle firings from the journal instead of calling their functions."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.lowlevel import checkpoint

from dataflow.base.failure import Failure
from dataflow.compiler.plan import Call
from dataflow.core.events import EventKind, Reporter
from dataflow.core.inputs import Decision, Request
from dataflow.core.ports import DONE as DONE_PORT
from dataflow.core.ports import ERROR as ERROR_PORT
from dataflow.core.ports import MISSING, SKIP
from dataflow.core.states import FAILED, READY, TIMED_OUT, WAITING, Errored, NodeState, RunStatus, Skip
from dataflow.core.threads import call_in_thread
from dataflow.durable.journal_view import FAILURES, fold
from dataflow.durable.storable import storable_of
from dataflow.errors import StoreError
from dataflow.runtime.result import Earlier, Result
from dataflow.runtime.start import memo_for
from dataflow.scheduler.asks import ReadAnswer, answered_text
from dataflow.scheduler.hits import read_memo_report
from dataflow.scheduler.scheduler import Scheduler
from dataflow.values.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.policy import Settings
    from dataflow.durable.journal_view import Past, PastAsk, PastFiring
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.stores import Store

__all__ = ["Replay", "look_at", "replay_run"]

#: Final states of lazy nodes that show that they were demanded.
ASKED_FOR: Final = frozenset({NodeState.DONE, NodeState.SKIPPED})
_INSIDE: Final = re.compile(r"[/\[~]")  # ends of the paths of enclosing nodes


class Replay:
    """The part of the scheduler that settles firings recorded in earlier execution sessions.

    `read` decodes a stored value. Events that were reported once are not reported again.
    """

    def __init__(
        self, scheduler: Scheduler, past: Past, forgotten: Collection[str], read: Callable[[Any], Any]
    ) -> None:
        self._asked = tuple(past.open_asks)  # asks that may still be answered
        past.forget(forgotten)
        self.scheduler = scheduler
        self.past = past
        self._read = read
        self._left = dict(past.firings)  # not settled again so far
        self.reported = ReportedEvents(past)
        self._reopened: list[str] = []
        self._shut: set[str] = set()  # asks that were closed since nothing leads to them yet
        self._whole: set[str] = set()  # loops, maps and subflows that were settled without being opened
        self._over: set[str] = set()  # scope instances of superseded attempts at subflows
        self._unknown: list[FiringId] = []  # ready, and without a recorded outcome

    @property
    def has_items_left(self) -> bool:
        """Whether unopened items of maps may have recorded outcomes."""
        return bool(self._left) and any("[" in path for path in self._left)

    def first_to_close(self, failed: Collection[tuple[Frame, Errored]]) -> tuple[Frame, Errored] | None:
        """Choose which failed scope instance to close once nothing else is left to be done.

        Recorded outcomes remain valid even beside a failure: the innermost scope instance comes first, none
        before all recorded items have begun, and the root only when new events happen.
        """
        if not failed or (self.scheduler.has_items and self.has_items_left):
            return None
        # a scope instance has a higher number than those around it
        innermost = max(failed, key=lambda one: one[0].number)
        return innermost if innermost[0].parent is not None else None

    def go_live(self) -> None:
        """Report the asks that are open or closed after the replay; new events happen from now on."""
        self.reported.is_replaying = False
        scheduler = self.scheduler
        for id in self._reopened:
            if id in scheduler.asking.open:
                scheduler.asking.report(scheduler.asking.open[id])
        for id in self._asked:
            if not scheduler.asking.knows(id):
                self._shut.add(id)
                scheduler.reporter.emit(EventKind.ASK_CLOSED, id, {"reason": "what has led to it was edited"})

    def demanded_before(self, frame: Frame) -> list[int]:
        """List the output ports that were demanded before: their readers may not demand them again (S8.3)."""
        known = (
            node
            for node in frame.plan.nodes
            if node.index in frame.undemanded and self.past.state_of(frame.path_of(node)) in ASKED_FOR
        )
        return [slot for node in known for slot in node.outputs.values()]

    def settle(self, ready: Iterable[FiringId]) -> None:
        """Settle the firings with recorded outcomes; the others fire."""
        self._unknown += [(frame, index) for frame, index in ready if not self._settle(frame, index)]

    def to_fire(self) -> list[FiringId]:
        """Return the firings without a recorded outcome, each once."""
        unknown, self._unknown = self._unknown, []
        return unknown

    def _settle(self, frame: Frame, index: int) -> bool:
        node = frame.plan.nodes[index]
        firing = self._left.pop(frame.path_of(node), None)
        if firing is None or frame.states[index] != READY:
            return False
        call = node.action
        assert isinstance(call, Call), "only calls become ready"
        if self._stands(frame, node, firing):
            return True
        ask = firing.ask
        if ask is not None and ask.decision is Decision.GIVE_UP:
            firing.was_cut_off = True  # the failed run was resumed: it asks again
            firing.ask = ask = None
        if ask is not None and firing.state in (None, NodeState.CANCELLED):
            if ask.repeats:
                self._count_attempts(frame, node, firing)
            elif firing.attempt > 1:
                frame.attempts_at(index).number = firing.attempt  # the attempt that has asked
            self._ask(frame, node, call, ask)
            return True
        waits = self._count_attempts(frame, node, firing)
        if call.policy.asks_to_repeat and (firing.is_running or firing.was_cut_off):
            self.scheduler.asking.ask_to_repeat(frame, node, call, firing.started)
            return True
        return waits

    def settle_opener(self, frame: Frame, node: PlanNode) -> bool:
        """Settle a loop, map or subflow as a whole, if its end is recorded; return whether it is."""
        firing = self._left.pop(frame.path_of(node), None)
        if firing is None or frame.states[node.index] != WAITING:
            return False
        if firing.state is NodeState.DONE and _has_new_ports(node, firing):
            return False  # it was edited and is opened again; recorded outcomes inside it remain valid
        if not self._stands(frame, node, firing):
            return False
        self._whole.add(frame.path_of(node))
        return True

    def attempt_at_flow(self, path: str) -> int:
        """Return the number of the current attempt at a subflow; earlier ones are not opened again."""
        number = self.past.attempt_at_flow(path)
        self._over.update(path if earlier == 1 else f"{path}~{earlier}" for earlier in range(1, number))
        return number

    def has_keys(self, path: str) -> bool:
        """Return whether keys of a map are recorded."""
        return self.past.keys.get(path, (None, None))[0] is not None

    def item_names(self, path: str, count: int, digest: str | None) -> Sequence[str | int] | None:
        """Return the recorded names of items, positions for None; None if of another list or not recorded."""
        if path not in self.past.keys:
            return None
        written, before = self.past.keys[path]
        if written is None:
            return range(count) if self.past.maps.get(path) == count else None
        if path not in self.past.maps and (digest is None or digest != before):
            return None
        found: list[str] = self._read(written)
        return found if len(found) == count else None

    def merged(self, path: str, digest: str | None) -> Any:
        """Return the recorded outcome of a merge of the conversations with this content hash, else None."""
        written, before = self.past.merges.get(path, (None, None))
        return None if written is None or digest is None or digest != before else self._read(written)

    @property
    def earlier(self) -> Earlier:
        """What earlier execution sessions have done, with the firings that were not opened again."""
        firings = self.past.firings
        states = {
            path: firing.state
            for path, firing in firings.items()
            if firing.state is not None and _is_inside(path, self._whole, self._over)
        }
        failed = (firings[path].failure for path, state in states.items() if state in FAILURES)
        return Earlier(
            states,
            [self._read(failure) for failure in failed if failure is not None],
            {path: firing.seconds for path, firing in firings.items() if firing.seconds},
        )

    def _stands(self, frame: Frame, node: PlanNode, firing: PastFiring) -> bool:
        """Settle a firing that is done, or whose failure was handled; return whether it was."""
        self.scheduler.reporter.is_listening = False  # these events are in the journal
        try:
            match firing.state:
                case NodeState.DONE:
                    self._done(frame, node, firing)
                    return True
                case NodeState.FAILED | NodeState.TIMED_OUT:
                    return self._fail(frame, node, firing)
                case _:
                    return False
        except StoreError as error:
            raise _at_node(frame.path_of(node), self.past.run, error) from error
        finally:
            self.scheduler.reporter.is_listening = True

    def _done(self, frame: Frame, node: PlanNode, firing: PastFiring) -> None:
        if firing.metadata:
            frame.note_metadata(node.index, self._read(firing.metadata))
        if firing.memo is not None:
            kind, report = firing.memo
            frame.note_memo(node.index, read_memo_report(kind, self._read(report)))
        action = node.action
        if isinstance(action, Call):
            outputs = {}
            for port, told in firing.ports.items():
                if port[:1] != "$":
                    outputs[port] = self._read(told["value"]) if "value" in told else SKIP
            self.scheduler.releasing.succeeded(frame, node, action, outputs)
            if firing.ask is not None and firing.ask.values is not None:
                frame.note_memo(node.index, answered_text(self._read(firing.ask.values), firing.ask.by))
            return
        path = frame.path_of(node)
        for port, told in firing.ports.items():
            if port in node.outputs and port[:1] != "$":
                self.scheduler.put(frame, node.outputs[port], _token(path, told, self._read))
        self.scheduler.releasing.opener_done(frame, node)

    def _fail(self, frame: Frame, node: PlanNode, firing: PastFiring) -> bool:
        """Keep a failure that was handled; return whether it was kept.

        In a paused run every failure is kept: the run continues, and its open asks may depend on them.
        """
        failure = None if firing.failure is None else self._read(firing.failure)
        if not isinstance(failure, Failure) or failure.path in self.past.failures:
            return False
        failing = self.scheduler.failing
        if not failing.stands(frame, node, failure):
            # else the failures inside are found in its scope instances
            is_own = failure.path == frame.path_of(node)
            if self.past.status is not RunStatus.PAUSED or not is_own:
                return False
        failing.restored(frame, node, failure, TIMED_OUT if firing.state is NodeState.TIMED_OUT else FAILED)
        return True

    def _ask(self, frame: Frame, node: PlanNode, call: Call, ask: PastAsk) -> None:
        """Open an ask again, or settle it with its answer; its node is not called again."""
        asking, path = self.scheduler.asking, frame.path_of(node)
        request, given, values = _read_ask(ask, self._read, path, self.past.run)
        opened = ask.opened if ask.closed is None else self.scheduler.reporter.now()
        self.scheduler.reporter.is_listening = False  # these events are in the journal
        try:
            asking.open_ask(frame, node, call, request, given, opened, repeats=ask.repeats)
        finally:
            self.scheduler.reporter.is_listening = True
        if ask.values is not None:
            asking.answer(path, ReadAnswer(values, ask.by, ask.decision))
        elif ask.closed is not None and self.reported.is_replaying:
            self._reopened.append(path)
        elif ask.closed is not None or path in self._shut:
            asking.report(asking.open[path])

    def _count_attempts(self, frame: Frame, node: PlanNode, firing: PastFiring) -> bool:
        """Continue counting attempts; return whether the next one has to wait for its time (S9.1)."""
        if not firing.attempt:
            return False
        attempts = frame.attempts_at(node.index)
        attempts.number = firing.attempt + 1
        frame.note_dead_input(node.index)  # so that the fast path is not used
        attempts.earlier = firing.attempt if firing.next_at is None else firing.earlier
        if firing.next_at is None:
            return False
        wait = (firing.next_at - self.scheduler.reporter.now()).total_seconds()
        if wait <= 0:
            return False
        again = partial(self.scheduler.make_ready, frame, node.index)
        attempts.waits = self.scheduler.timers.set(wait, again, frame)
        return True


async def replay_run(scheduler: Scheduler, replay: Replay, inputs: dict[str, Any]) -> list[FiringId]:
    """Start a run and settle its recorded firings; return the firings without a recorded outcome.

    Other tasks of the event loop run in between.
    """
    unknown = scheduler.start(inputs)
    while scheduler.has_more or (scheduler.has_items and replay.has_items_left):
        await checkpoint()
        unknown += scheduler.advance() if scheduler.has_more else scheduler.begin_items()
    return unknown


async def look_at(plan: FlowPlan, settings: Settings, store: Store, run: str) -> Result:
    """Return what has settled in a run, without its outputs and its unhandled failures.

    The plan must be that of the run's flow. Raises StoreError.
    """
    past = await call_in_thread(_read, (store, run))
    reader = Reader(storable_of(plan).classes, store.blob, str(store))
    scheduler = Scheduler(plan, settings, Reporter(run), anyio.current_time, memo_for(plan))
    replay = scheduler.replay = Replay(scheduler, past, (), reader.read)
    await replay_run(scheduler, replay, reader.read(past.told["inputs"], f"the inputs of run {past.run}"))
    asks = scheduler.asking.asks
    return Result(run, past.status.value, {}, asks=asks, _plan=plan, _root=scheduler.root)


def _read(store: Store, run: str) -> Past:
    return fold(run, store.records(run), str(store))


class ReportedEvents:
    """The events that were reported in earlier execution sessions, and are not reported again."""

    def __init__(self, past: Past) -> None:
        self.is_replaying = True  # nothing new has happened in this execution session
        self._past = past
        self._unmatched_ends = {path for path, firing in past.firings.items() if firing.state is not None}

    def has(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> bool:
        """Return whether the journal has an event that occurs again during the replay."""
        past = self._past
        match kind:
            case EventKind.NODE_FINISHED:
                return self._has_ended(path, data["state"])
            case EventKind.NODE_STARTED:
                firing = past.firings.get(path)
                attempt: int = data["attempt"]
                return firing is not None and firing.is_opener and firing.attempt >= attempt
            case EventKind.LOOP_ROUND:
                rounds: int = data["round"]
                return past.rounds.get(path, 0) > rounds
            case EventKind.LOOP_EXITED:
                return path in past.exits and past.exits[path] == (data["reason"], data["iterations"])
            case EventKind.MAP_OPENED:
                return path in past.maps and (data.get("keys") is None or path in past.keys)
            case EventKind.CONTEXTS_MERGED:
                return path in past.merges and past.merges[path][1] == data["digest"]
            case EventKind.RACE_DECIDED:
                return path in past.races
            case EventKind.ASK_ANSWERED:
                return path in past.firings and past.firings[path].is_answered
            case EventKind.ASK_CLOSED:
                return self.is_replaying and path in past.firings and past.firings[path].is_closed
            case EventKind.WARNING:
                return (path, data["code"], data["text"]) in past.warnings
            case _:
                return False

    def _has_ended(self, path: str, state: str) -> bool:
        firing = self._past.firings.get(path)
        if firing is None or firing.state is None or path not in self._unmatched_ends:
            return False
        if firing.state.value != state or not (self.is_replaying or state == NodeState.SKIPPED.value):
            return False
        self._unmatched_ends.discard(path)
        return True


def _is_inside(path: str, openers: Collection[str], frames: Collection[str]) -> bool:
    """Return whether a path is inside one of these loops, maps and subflows or scope instances."""
    return any(
        path[: end.start()] in openers or (end[0] == "/" and path[: end.start()] in frames)
        for end in _INSIDE.finditer(path)
    )


def _read_ask(
    ask: PastAsk, read: Callable[[Any], Any], path: str, run: str
) -> tuple[Request, Mapping[str, Any], Any]:
    """Read an ask, the outputs that its node gave before, and the answer."""
    told = ask.told
    try:
        default = read(told["default"]) if "default" in told else MISSING
        request = Request(told["prompt"], read(told["show"]), read(told["schema"]), told["expires"], default)
        return request, read(told["given"]), read(ask.values)
    except StoreError as error:
        raise _at_node(path, run, error) from error


def _at_node(path: str, run: str, error: StoreError) -> StoreError:
    """Add the path of a node to the error for a value that cannot be read."""
    return StoreError(error.store, error.problem.within(f"node {path!r} of run {run}"))


def _has_new_ports(node: PlanNode, firing: PastFiring) -> bool:
    """Return whether a loop, map or subflow has a port that the journal does not record (S11.4)."""
    return any(port not in firing.ports for port in node.outputs if port not in (DONE_PORT, ERROR_PORT))


def _token(path: str, told: Mapping[str, Any], read: Callable[[Any], Any]) -> Any:
    """Return the recorded token of a port of a loop, map or subflow."""
    if "value" in told:
        return read(told["value"])
    return Skip(path, told["skip"]) if "skip" in told else Errored(path, read(told["error"]))
