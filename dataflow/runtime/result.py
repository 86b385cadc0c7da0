"""The result of a run: its outputs, the state of every node, and why a port has its value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from dataflow.base.copies import own_copy
from dataflow.base.wording import LONGEST_PROBLEM, short_repr, shortened
from dataflow.compiler.addresses import Addresses, RootPort, name_of, released_error
from dataflow.compiler.plan import LoopOf
from dataflow.core.ports import DONE, MISSING, Signal
from dataflow.core.states import (
    RELEASED,
    STATES,
    UNSETTLED,
    Errored,
    NodeState,
    Skip,
    chain,
    is_dead,
    value_of,
)
from dataflow.diagnostics.runs import OUTPUT_UNKNOWN, RUN_RESUMED, VALUE_MISSING
from dataflow.errors import DataflowError, NameUnknown, RunTaken
from dataflow.scheduler.frames import firings_in
from dataflow.scheduler.timers import state_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.base.failure import Failure
    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.inputs import Ask
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.runtime.reasons import Explanation
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Earlier", "PausedRun", "Result", "no_value", "special_token", "value_missing"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a resumed run has done in earlier execution sessions, by the paths of firings."""

    states: Mapping[str, NodeState] = field(default_factory=dict)  # of firings that were not opened again
    failures: Sequence[Failure] = ()  # of the same firings
    seconds: Mapping[str, float] = field(default_factory=dict)  # of all firings


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of a run. Skipped outputs are not in `outputs`; `why` explains them.

    A run that failed raises `RunFailed`, which has the result. A paused run has open `asks`, and
    `flow.resume` resumes it; without a store it exists only in its result.
    """

    run_id: str
    status: Literal["completed", "paused", "failed", "cancelled"]
    outputs: Mapping[str, Any]
    warnings: Sequence[str] = ()
    asks: Sequence[Ask] = ()
    _plan: FlowPlan = field(kw_only=True, repr=False)
    _root: Frame = field(kw_only=True, repr=False)
    _earlier: Earlier = field(kw_only=True, repr=False, default=Earlier())
    _paused: PausedRun | None = field(kw_only=True, repr=False, default=None)

    def __repr__(self) -> str:
        """Return the fields, with large values shortened and secrets masked."""
        outputs = ", ".join(f"{name!r}: {short_repr(value)}" for name, value in self.outputs.items())
        warnings, asks = (short_repr(tuple(one)) for one in (self.warnings, self.asks))
        start = f"Result(run_id={self.run_id!r}, status={self.status!r}, outputs="
        return shortened(f"{start}{{{outputs}}}, warnings={warnings}, asks={asks})", LONGEST_PROBLEM)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Show the result in a notebook: its failures, outputs, asks, warnings and states."""
        from dataflow.base.pages import bundle, caption, table  # only notebooks show results

        states = list(self.states.items())
        rows = [(path, state.value) for path, state in states[:MOST_ROWS]]
        if len(states) > MOST_ROWS:
            rows.append((f"and {len(states) - MOST_ROWS:,} more", ""))
        failed = [one.failure for one in sorted(self._root.failures)[:MOST_ROWS]]
        reasons = [(one.path, shortened(f"{one.type}: {one.message}", LONGEST_PROBLEM)) for one in failed]
        parts = [
            caption(f"run {self.run_id}: {self.status}"),
            table(("failed", "reason"), reasons),
            table(("output", "value"), [(name, short_repr(value)) for name, value in self.outputs.items()]),
            table(("ask", "prompt"), [(ask.id, ask.prompt) for ask in self.asks]),
            table(("warnings",), [(shortened(text, LONGEST_PROBLEM),) for text in self.warnings]),
            table(("node", "state"), rows),
        ]
        return bundle(repr(self), filter(None, parts))

    def __getitem__(self, output: str) -> Any:
        """Return an output; raises a KeyError that explains why it has no value, or lists the outputs."""
        if output in self.outputs:
            return self.outputs[output]
        slot = self._plan.outputs.get(output)
        if slot is None:
            raise NameUnknown(OUTPUT_UNKNOWN(f"output {output!r}", available=self._plan.outputs))
        raise NameUnknown(self._no_value(f"output {output!r}", self._addresses.output(output)))

    @property
    def lives_in_memory(self) -> bool:
        """Whether the run has paused and exists only in this result."""
        return self._paused is not None

    @property
    def declared(self) -> Sequence[str]:
        """The names of all outputs, including those without a value."""
        return tuple(self._plan.outputs)

    @cached_property
    def states(self) -> Mapping[str, NodeState]:
        """The state of every node by its path, including nodes inside maps and loops."""
        paused = self.status == "paused"
        firings = firings_in(self._root)
        found = {path: state_of(frame, node, is_paused=paused) for path, frame, node in firings}
        return MappingProxyType({**found, **self._earlier.states})

    @cached_property
    def failures(self) -> Sequence[Failure]:
        """The failures of all nodes that have failed, also inside maps and loops, and also handled ones.

        Each is listed once, with the path of the firing that raised; an attempt that was repeated is not.
        """
        found = [
            reason.failure
            for _, frame, node in firings_in(self._root)
            if STATES[frame.states[node.index]] in _FAILED
            and isinstance(reason := frame.reasons.get(node.index), Errored)
        ]
        at_root = (one.failure for one in self._root.failures)  # also that of the run itself
        return tuple(dict.fromkeys((*found, *self._earlier.failures, *at_root)))

    @cached_property
    def durations(self) -> Mapping[str, float]:
        """The seconds that each firing took, by its path: those of its attempts together.

        Waits before a retry, for a free slot or for an answer do not count. A loop, map or subflow that has
        ended has the time from its beginning to its end, without pauses. A node that was not called has none.
        """
        found = dict(self._earlier.seconds)
        for path, frame, node in firings_in(self._root):
            opened = frame.opened.get(node.index)
            seconds = frame.durations[node.index] if opened is None else opened.seconds
            if seconds:
                found[path] = found.get(path, 0.0) + seconds
        return MappingProxyType(found)

    @cached_property
    def metadata(self) -> Mapping[str, Mapping[str, Any]]:
        """The metadata of raw nodes, by the path of each firing that has some."""
        found = {
            path: MappingProxyType(frame.metadata[node.index])
            for path, frame, node in firings_in(self._root)
            if node.index in frame.metadata
        }
        return MappingProxyType(found)

    def get(self, port: T) -> T:
        """Return the value of a port or output; raises DataflowError with the reason if it has none.

        The port is a port of the builder, a string like `node.port`, or the name of an output; ports inside a
        loop or map are not available. Each call returns a copy of lists and dicts.
        """
        output = self._addresses.output(port)
        token = value_of(self._token(output or self._addresses.port(port)))
        if token is RELEASED:
            raise released_error(port)
        if is_dead(token) or token is UNSETTLED:
            name = f"port {name_of(port)}" if output is None else f"output {port!r}"
            raise DataflowError(self._no_value(name, output or self._addresses.port(port)))
        value: Any = own_copy(token)
        return value  # type: ignore[no-any-return]  # a port is typed as its value

    def why(self, port: object) -> str:
        """Explain the state of a port, or of the node at a path, back to the decision or failure.

        The first line is the answer, each further line a cause. A string is read as the path of a node, then
        as the name of an output, then as `node.port`. Raises DataflowError for anything else.
        """
        return str(self.explain(port))

    def explain(self, port: object) -> Explanation:
        """Return the explanation of `why` as data: reasons, each with its causes; raises DataflowError."""
        from dataflow.runtime.reasons import (  # most results are not explained
            explain_earlier,
            explain_firing,
            explain_token,
            makers_of,
        )

        if isinstance(port, str) and port in self._by_path:
            _, frame, node = self._by_path[port]
            return explain_firing(frame, node, self.asks, is_paused=self.status == "paused")
        if isinstance(port, str) and port in self._earlier.states:
            return explain_earlier(port, self._earlier.states[port])
        output = self._addresses.output(port)
        if output is not None:
            slot = output.slot
            waits = list(makers_of(self._root, slot)) if self.status == "paused" and slot is not None else []
            name, token = f"output {port!r}", self._token(output)
            return explain_token(name, token, self.status, waits, self.asks, self._root)
        alone = self._addresses.node(port)
        if alone is not None:
            return self.explain(alone.label)
        found = self._addresses.port(port, or_node=True)
        token = self._token(found)
        if token is UNSETTLED and found.node is not None:
            return self.explain(found.node.label)
        return explain_token(name_of(port), token, self.status, root=self._root)

    def _no_value(self, name: str, found: RootPort | None) -> Diagnostic:
        """Return the problem of a missing value, and why; a running loop has no outputs yet (S6.4)."""
        token = UNSETTLED if found is None else self._token(found)
        node = None if found is None else found.node
        if token is UNSETTLED and node is not None and _is_going_round(self._root, node):
            return VALUE_MISSING(name, reasons=f"loop {node.id!r} has not ended, and has no outputs before")
        return value_missing(name, token)

    @cached_property
    def _by_path(self) -> dict[str, tuple[str, Frame, PlanNode]]:
        return {path: (path, frame, node) for path, frame, node in firings_in(self._root)}

    @cached_property
    def _addresses(self) -> Addresses:
        return Addresses(self._plan)

    def _token(self, found: RootPort) -> Any:
        if found.slot is not None:
            return self._root.values[found.slot]
        assert found.node is not None, "only ports of nodes have no slot"
        return special_token(self._root, found.node, found.port)


_FAILED: Final = frozenset({NodeState.FAILED, NodeState.TIMED_OUT})
#: The nodes whose states a notebook shows.
MOST_ROWS: Final = 50


class PausedRun:
    """A paused run without a store; it can be resumed once."""

    __slots__ = ("_scheduler",)

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler: Scheduler | None = scheduler

    def look(self, run: str) -> Scheduler:
        """Return its scheduler; raises RunTaken if it has been resumed already."""
        if self._scheduler is None:
            raise RunTaken("the memory of this process", run, RUN_RESUMED())
        return self._scheduler

    def take(self) -> None:
        """Note that the run is resumed: its result no longer keeps it."""
        self._scheduler = None


def _is_going_round(root: Frame, node: PlanNode) -> bool:
    """Return whether a node is a loop that has not ended."""
    return isinstance(node.action, LoopOf) and STATES[root.states[node.index]] is NodeState.RUNNING


def special_token(root: Frame, node: PlanNode, port: str) -> Any:
    """Return the token of `$done` or `$error` of a node; they have no slot unless they are read."""
    state = STATES[root.states[node.index]]
    if state is NodeState.DONE:
        return Signal() if port == DONE else Skip(node.label, "succeeded, so there is no failure")
    policy = node.policy
    if (
        port == DONE
        and state in (NodeState.FAILED, NodeState.TIMED_OUT)
        and policy is not None
        and policy.default is not MISSING
    ):
        return Signal()
    return root.reasons.get(node.index, UNSETTLED)


def no_value(result: Result, output: str, port: object) -> DataflowError:
    """Return the error for an output without a value, which was requested by its name or as a port."""
    plan = result._plan  # noqa: SLF001 - the class is of this module
    slot, is_output = plan.outputs[output], isinstance(port, str) and port in plan.wiring.block.outputs
    name = f"output {port!r}" if is_output else f"port {name_of(port)}"
    return DataflowError(value_missing(name, result._root.values[slot]))  # noqa: SLF001 - as above


def value_missing(name: str, token: object) -> Diagnostic:
    """Return the problem that a port or output has no value, and why."""
    if not isinstance(token, Skip | Errored):
        return VALUE_MISSING(name, reasons="it did not settle")
    return VALUE_MISSING(name, reasons="; ".join(_shortened(_lines(token), 4)))


def _shortened(lines: list[str], most: int) -> list[str]:
    """Keep the two ends of a long chain of causes."""
    if len(lines) <= most:
        return lines
    half = most // 2
    return [*lines[:half], f"… {len(lines) - 2 * half} more …", *lines[-half:]]


def _lines(token: Skip | Errored) -> list[str]:
    """Return the causes, each once, from the port back to the first."""
    lines: dict[str, None] = {}  # as an ordered set
    for cause in chain(token):
        is_whole = isinstance(cause, Errored) or not cause.place
        line = cause.reason if is_whole else f"{cause.place}: {cause.reason}"
        lines[line] = None
        lines.update((other.reason, None) for other in getattr(cause, "besides", ()))
    return list(lines)
