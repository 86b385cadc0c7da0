"""Fold a journal into the state of a run, and find its unhandled failures."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.addresses import form_of, opener_of, scopes_of
from dataflow.compiler.plan import FlowOf
from dataflow.core.events import EventKind
from dataflow.core.inputs import Decision
from dataflow.core.states import LoopEnd, NodeState, RunStatus
from dataflow.diagnostics.stores import RECORD_UNREADABLE, RUN_EMPTY
from dataflow.errors import StoreError
from dataflow.scheduler.failures import handles_failures, tolerates_failures

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.stores.store import Record

__all__ = ["FAILURES", "Past", "PastAsk", "PastFiring", "began", "fold", "unhandled_in"]

#: Events that show that the enclosing nodes are running.
BEGINNING: Final = frozenset(
    {EventKind.NODE_STARTED, EventKind.LOOP_ROUND, EventKind.MAP_OPENED, EventKind.ASK_OPENED}
)
#: Events about the cache lookup of a node.
MEMO: Final = frozenset({EventKind.MEMO_HIT, EventKind.MEMO_MISSED, EventKind.MEMO_SKIPPED})
#: Fields about the flow itself, recorded when a run begins and when it is resumed with another flow.
OF_FLOW: Final = ("shape", "reads")
#: The types that loops, maps and subflows are reported with.
OPENERS: Final = frozenset({"loop", "map", "flow"})
_PLACES: Final = re.compile(r"[/\[~]")  # ends of the paths of enclosing nodes
# A journal may have a million records, and a dictionary finds a member faster than its enum does.
DONE: Final = NodeState.DONE.value
_KINDS: Final = {kind.value: kind for kind in EventKind}
_STATES: Final = {state.value: state for state in NodeState}
_decoded: Final = json.JSONDecoder().decode
FAILURES: Final = frozenset({NodeState.FAILED, NodeState.TIMED_OUT})
_ATTEMPT: Final = re.compile(r"~(\d+)$")


@dataclass(slots=True, eq=False)
class PastAsk:
    """An ask that a firing has opened, and its answer; values are still encoded."""

    opened: datetime
    told: Mapping[str, Any]
    values: Any = None  # by port, once it was answered
    by: str = ""
    closed: str | None = None  # why it no longer accepts an answer
    decision: Decision | None = None  # about a call that was cut off

    @property
    def answer(self) -> Mapping[str, Any]:
        """The encoded values of the answer by port, or what was decided; empty before it was answered."""
        return self.values or {} if self.decision is None else {"decision": self.decision.value}

    @property
    def repeats(self) -> bool:
        """Whether it is about a call that was cut off."""
        return bool(self.told.get("repeats"))


@dataclass(slots=True, eq=False)
class PastFiring:
    """The recorded state of one firing, or of a loop, map or subflow; values are still encoded."""

    type: str = ""
    attempt: int = 0  # the newest attempt that has started
    # attempts that no longer count: up to where it last ended, was interrupted or was forgotten
    earlier: int = 0
    started: datetime | None = None
    ended: datetime | None = None
    seconds: float = 0.0  # of its attempts together, up to where they asked or ended
    is_running: bool = False  # it has started and not ended
    was_cut_off: bool = False  # its newest attempt had begun when its process ended, or the run was cancelled
    state: NodeState | None = None  # the state that it ended in
    ports: Mapping[str, Any] = field(default_factory=dict)
    metadata: Any = None
    failure: Any = None  # the failure that it ended with
    reason: str = ""
    next_at: datetime | None = None  # when the next attempt begins, if it waits for one
    ask: PastAsk | None = None
    memo: tuple[EventKind, Mapping[str, Any]] | None = None  # the newest cache lookup

    @property
    def is_opener(self) -> bool:
        """Whether it is a loop, map or subflow."""
        return self.type in OPENERS

    @property
    def failed_at(self) -> str | None:
        """The path of the firing whose failure it ended with: its own, or one inside it."""
        return None if self.failure is None else str(self.failure["v"]["path"])

    @property
    def is_asking(self) -> bool:
        """Whether it has asked and waits for the answer."""
        return self.ask is not None and self.ask.values is None and self.ask.closed is None

    @property
    def is_answered(self) -> bool:
        """Whether it has asked and was answered."""
        return self.ask is not None and self.ask.values is not None

    @property
    def is_closed(self) -> bool:
        """Whether it has asked and no longer accepts an answer."""
        return self.ask is not None and self.ask.closed is not None


@dataclass(slots=True, eq=False)
class Past:
    """The state of a run, folded from its journal."""

    run: str
    store: str  # its name, for messages
    seq: int = 0  # of the newest record
    status: RunStatus = RunStatus.RUNNING
    flow: str = ""
    started: datetime | None = None
    # data of the first record, with the newest graph signature
    told: Mapping[str, Any] = field(default_factory=dict)
    elapsed: float = 0.0  # seconds of execution before this execution session
    firings: dict[str, PastFiring] = field(default_factory=dict)  # by path
    rounds: dict[str, int] = field(default_factory=dict)  # number of iterations that each loop has begun
    # of loops: reason and number of iterations
    exits: dict[str, tuple[str, int]] = field(default_factory=dict)
    # number of items of each map; None for a map over edges
    maps: dict[str, int | None] = field(default_factory=dict)
    # of maps: the encoded keys of their items, and the content hash of the list that they are of
    keys: dict[str, tuple[Any, str | None]] = field(default_factory=dict)
    # of loops: the last iteration whose test was recorded, and whether the loop ends with it
    tests: dict[str, tuple[int, bool]] = field(default_factory=dict)
    # of joins: the encoded conversation that a user's function has made, and the content hash of the merged
    merges: dict[str, tuple[Any, str | None]] = field(default_factory=dict)
    races: dict[str, str] = field(default_factory=dict)  # the edge that won
    warnings: dict[tuple[str, str, str], None] = field(default_factory=dict)  # path, code, text; in order
    flow_times: dict[str, list[float]] = field(default_factory=dict)  # of subflows: see Standing.times
    failures: frozenset[str] = frozenset()  # firings whose failures are unhandled: see `unhandled_in`
    all_done: bool = True  # every ended node is done: nothing has to be taken back when more begins
    is_torn: bool = False  # its newest record was cut off and dropped
    session_began: datetime | None = None  # when the newest execution session began
    last: datetime | None = None  # when the newest record was made

    @property
    def session_elapsed(self) -> float:
        """The seconds from the beginning of the newest execution session to the newest record."""
        if self.session_began is None or self.last is None:
            return 0.0
        seconds = (self.last - self.session_began).total_seconds()
        return max(0.0, seconds)  # records copied by a fork are older than its execution sessions

    @property
    def open_asks(self) -> dict[str, PastAsk]:
        """The asks that wait for an answer, by id, in the order in which they opened."""
        asks = {
            path: firing.ask
            for path, firing in self.firings.items()
            if firing.ask is not None and firing.is_asking
        }
        return dict(sorted(asks.items(), key=lambda pair: pair[1].opened))

    def paused_blocks(self) -> set[str]:
        """Return the paths of the loops, maps and subflows in which nothing but open asks is left."""
        paused: set[str] = set()
        active: set[str] = set()
        for path, firing in self.firings.items():
            if firing.state is None and not firing.is_opener:
                around = (path[: place.start()] for place in _PLACES.finditer(path))
                (paused if firing.is_asking else active).update(around)
        return paused - active

    def has_ended(self, path: str) -> bool:
        """Return whether a firing has ended."""
        firing = self.firings.get(path)
        return firing is not None and firing.state is not None

    def firing(self, path: str) -> PastFiring:
        """Return the recorded state of a firing, which is created empty if missing."""
        found = self.firings.get(path)
        if found is None:
            found = self.firings[path] = PastFiring()
        return found

    def loop_goes_on(self, path: str, rounds: int) -> bool | None:
        """Return whether the test let another iteration follow after so many; None if not recorded."""
        if self.rounds.get(path, 0) > rounds:
            return True
        round_, ends = self.tests.get(path, (-1, False))
        if round_ + 1 == rounds and round_ >= 0:
            return not ends
        reason, iterations = self.exits.get(path, (LoopEnd.FAILED, -1))
        return None if iterations != rounds or reason == LoopEnd.FAILED else reason != LoopEnd.CONDITION

    def ask_at(self, path: str) -> PastAsk | None:
        """Return the ask of a firing, None if it has not asked."""
        known = self.firings.get(path)
        return None if known is None else known.ask

    def has_settled_in(self, frame: str) -> bool:
        """Return whether a firing in a scope instance has settled, or was answered."""
        return any(
            (firing.state is NodeState.DONE or firing.is_answered) and is_within(path, frame)
            for path, firing in self.firings.items()
        )

    def has_begun_in(self, frame: str) -> bool:
        """Return whether anything in a scope instance has begun."""
        return any(is_within(path, frame) for path in self.firings)

    def state_of(self, path: str) -> NodeState | None:
        """Return the state that a firing has ended in, None if it has not."""
        known = self.firings.get(path)
        return None if known is None else known.state

    def attempt_at_flow(self, path: str) -> int:
        """Return the number of the current attempt at a subflow, or of the next one."""
        known = self.firings.get(path)
        return 1 if known is None else known.attempt + (known.next_at is not None) or 1

    def begins(self, path: str) -> None:
        """Note that a firing begins: the nodes around it are running, even if they had failed before."""
        for place in _PLACES.finditer(path):
            around = self.firings.get(path[: place.start()])
            if around is not None and around.is_opener and around.state is not NodeState.DONE:
                around.state, around.failure = None, None

    def forget_failures(self) -> None:
        """Forget the unhandled failures that the run has ended with: those firings run again."""
        for firing in self.firings.values():
            if firing.failed_at in self.failures:
                firing.state, firing.failure = None, None
        self.failures = frozenset()

    def forget_keys(self, paths: Iterable[str]) -> None:
        """Forget the keys of the items of these maps."""
        for path in tuple(paths):
            del self.keys[path]

    def forget(self, paths: Collection[str]) -> None:
        """Forget that these firings, loops and maps have settled; attempts stay counted."""
        for path in paths:
            self.rounds.pop(path, None)
            self.exits.pop(path, None)
            self.maps.pop(path, None)  # its keys remain valid for an equal list
            self.tests.pop(path, None)
            self.races.pop(path, None)
            known = self.firings.get(path)
            if known is not None:
                self.firings[path] = PastFiring(
                    known.type,
                    known.attempt,
                    earlier=known.attempt,
                    started=known.started,
                    is_running=known.is_running,
                    was_cut_off=known.was_cut_off,
                )


def is_within(path: str, frame: str) -> bool:
    """Return whether a firing is in a scope instance, directly or further inside."""
    return path.startswith(frame) and path[len(frame) : len(frame) + 1] in ("", "/", "[", "~")


def fold(run: str, records: Iterable[Record], store: str) -> Past:
    """Fold a journal; raises StoreError, naming the store, if it cannot be read.

    Unknown kinds of records are ignored: a later release has written them (S20). A newest record that was cut
    off is dropped and reported (S12.2); so is a cut record after which the run was resumed.
    """
    past = Past(run, store)
    torn: Record | None = None
    for record in records:
        past.seq = record.seq
        if torn is not None and record.kind != EventKind.RUN_RESUMED:
            raise StoreError(store, RECORD_UNREADABLE(f"run {run}", seq=torn.seq))
        torn = None if _fold(past, record) else record
    past.is_torn = torn is not None
    if past.status is RunStatus.RUNNING:
        past.elapsed += past.session_elapsed
    return past


def began(past: Past) -> Past:
    """Return the past of a run that has records; raises StoreError for any other."""
    if not past.told:
        raise StoreError(past.store, RUN_EMPTY(f"run {past.run}"))
    return past


def _fold(past: Past, record: Record) -> bool:
    """Fold one record; return whether it could be read."""
    try:
        data = _decoded(record.data)
        kind, time = _KINDS.get(record.kind), datetime.fromisoformat(data["time"])
        if kind in MEMO:
            _of_memo(past, kind, record.path, data)
        elif kind is not None:
            _take(past, kind, record.path, data, time)
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    past.last = time
    return True


def _take(past: Past, kind: EventKind, path: str, data: Mapping[str, Any], time: datetime) -> None:
    """Fold one record; the kinds that are not listed are derived from these."""
    if not past.all_done and kind in BEGINNING:
        past.begins(f"{path}[")
    match kind:
        case EventKind.NODE_STARTED:
            _started(past.firing(path), data, time)
        case EventKind.NODE_FINISHED:
            _ended(past.firing(path), data, time)
            past.all_done = past.all_done and data["state"] == DONE
        case EventKind.ATTEMPT_FAILED:
            _attempt_failed(past.firing(path), data, time)
        case EventKind.ASK_OPENED | EventKind.ASK_ANSWERED | EventKind.ASK_CLOSED:
            _of_ask(past.firing(path), kind, data, time)
        case EventKind.LOOP_ROUND:
            past.rounds[path] = data["round"] + 1
        case EventKind.LOOP_EXITED:
            past.exits[path] = data["reason"], data["iterations"]
        case EventKind.WARNING:
            past.warnings[path, data["code"], data["text"]] = None
        case EventKind.RUN_STARTED | EventKind.RUN_RESUMED | EventKind.RUN_PAUSED | EventKind.RUN_FINISHED:
            _of_run(past, kind, data, time)
        case _:
            _of_decision(past, kind, path, data)


def _of_decision(past: Past, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
    """Fold a record of what the engine or a function of the user has decided."""
    match kind:
        case EventKind.MAP_OPENED:
            past.maps[path] = data["items"]
            if "keys" in data:
                past.keys[path] = data["keys"], data.get("digest")
        case EventKind.LOOP_TESTED:
            past.tests[path] = data["round"], data["ends"]
        case EventKind.CONTEXTS_MERGED:
            past.merges[path] = data["value"], data["digest"]
        case EventKind.RACE_DECIDED:
            past.races[path] = data["edge"]
        case _:
            pass


def _of_fork(past: Past, decided: Mapping[str, Mapping[str, tuple[Any, str]]]) -> None:
    """Fold the decisions that a fork has from the other run without their records."""
    for path, (keys, digest) in decided.get("keys", {}).items():
        past.keys[path] = keys, digest
    for path, (value, digest) in decided.get("merges", {}).items():
        past.merges[path] = value, digest


def _started(firing: PastFiring, data: Mapping[str, Any], time: datetime) -> None:
    firing.type, firing.attempt, firing.was_cut_off = data["type"], data["attempt"], False
    if firing.ask is not None and firing.ask.repeats:
        firing.ask = None  # it runs again
    firing.started, firing.is_running, firing.next_at, firing.state = time, True, None, None


def _of_memo(past: Past, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
    if not past.all_done and kind is EventKind.MEMO_HIT:
        past.begins(f"{path}[")
    firing = past.firing(path)
    firing.memo, firing.type = (kind, data), data.get("type", firing.type)


def _attempt_failed(firing: PastFiring, data: Mapping[str, Any], time: datetime) -> None:
    _stopped(firing, time)
    firing.attempt, delay = data["attempt"], data["delay"]
    firing.was_cut_off = data.get("interrupted", False)
    if delay is None:
        firing.next_at, firing.earlier = None, firing.attempt
    else:
        firing.next_at = time + timedelta(seconds=delay)


def _of_ask(firing: PastFiring, kind: EventKind, data: Mapping[str, Any], time: datetime) -> None:
    match kind:
        case EventKind.ASK_OPENED:
            _stopped(firing, time)
            firing.state, firing.ask = None, PastAsk(time, data)
        case EventKind.ASK_ANSWERED if firing.ask is not None:
            firing.ask.values, firing.ask.by = data["values"], data["by"]
            firing.ask.decision = Decision(data["decision"]) if "decision" in data else None
        case EventKind.ASK_CLOSED if firing.ask is not None:
            firing.ask.closed = data["reason"]


def _ended(firing: PastFiring, data: Mapping[str, Any], time: datetime) -> None:
    failure = _checked(data.get("failure"))
    state, firing.ports, firing.metadata = _STATES[data["state"]], data["ports"], data["metadata"]
    firing.state, firing.reason = state, data.get("reason", "")
    firing.failure, firing.earlier = failure, firing.attempt
    firing.was_cut_off = state is NodeState.CANCELLED and (firing.is_running or firing.was_cut_off)
    _stopped(firing, time)
    firing.ended, firing.next_at = time, None


def _stopped(firing: PastFiring, time: datetime) -> None:
    """Count the time of an attempt that is over, or waits for an answer."""
    if firing.is_running and firing.started is not None:
        firing.seconds += max(0.0, (time - firing.started).total_seconds())
    firing.is_running = False


def _checked(failure: Any) -> Any:
    """Return a stored failure if it has a path; otherwise its record cannot be read."""
    if failure is not None and not isinstance(failure["v"]["path"], str):
        raise TypeError
    return failure


def _of_run(past: Past, kind: EventKind, data: Mapping[str, Any], time: datetime) -> None:
    match kind:
        case EventKind.RUN_STARTED:
            past.flow, past.told, past.started, past.session_began = data["flow"], data, time, time
            _of_fork(past, data.get("decided", {}))
        case EventKind.RUN_RESUMED:
            if past.status is RunStatus.RUNNING:
                past.elapsed += past.session_elapsed
            past.forget_failures()
            past.status, past.session_began = RunStatus.RUNNING, time
            past.forget(data.get("forgotten", ()))
            past.told = {**past.told, **{name: data[name] for name in OF_FLOW if name in data}}
        case EventKind.RUN_PAUSED:
            past.status, past.elapsed = RunStatus.PAUSED, data["elapsed"]
            past.flow_times = dict(data.get("flow_times", {}))
        case _:
            if "elapsed" in data:  # it was ended without being executed
                past.elapsed = data["elapsed"]
            elif past.status is RunStatus.RUNNING:
                past.last = time
                past.elapsed += past.session_elapsed
            past.status, past.failures = RunStatus(data["status"]), frozenset(data.get("failures", ()))


def unhandled_in(plan: FlowPlan, past: Past) -> frozenset[str]:
    """Return the firings whose failures are unhandled.

    The record of the end of a run names them; without one they are derived from the flow.
    """
    failed = [
        path for path, firing in past.firings.items() if firing.state in FAILURES and firing.failed_at == path
    ]
    if past.status is not RunStatus.RUNNING or not failed:
        return past.failures
    nodes = {
        scope.form_of(node): (scope, node)
        for scope in scopes_of(plan)
        for node in scope.plan.nodes
        if node.is_visible
    }
    return frozenset(path for path in failed if not _is_handled(path, nodes, past))


def _is_handled(path: str, nodes: dict[str, tuple[PlacedScope, PlanNode]], past: Past) -> bool:
    """Return whether a failure is handled by its node, by an enclosing node or by a later attempt."""
    while True:
        found = nodes.get(form_of(path))
        if found is None:
            return True  # the flow was edited
        scope, node = found
        if handles_failures(node) or tolerates_failures(scope.owner):
            return True
        if scope.owner is None:
            return False
        frame = path if node.names_frame else path.rpartition("/")[0]
        path = opener_of(frame, scope.owner)
        if isinstance(scope.owner.action, FlowOf) and _attempt(frame) != past.attempt_at_flow(path):
            return True
        if past.state_of(path) is NodeState.DONE:
            return True


def _attempt(frame: str) -> int:
    """Return the number of the attempt at a subflow that opened a scope instance."""
    found = _ATTEMPT.search(frame)
    return 1 if found is None else int(found[1])
