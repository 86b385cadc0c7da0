"""Explain the state of a firing or a port of a stored run from its journal, without its flow (S3.3).

The journal has states, failures, and what each node waits for. A skip may follow from other skips: that
chain, including joins, is known only to the flow, so an explanation from the journal may be incomplete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import moment
from dataflow.compiler.addresses import address_of
from dataflow.core.states import ENDED, NodeState
from dataflow.core.wiring import INPUT
from dataflow.durable.edits import compare, in_names_of
from dataflow.durable.graph_signature import FlowShape
from dataflow.durable.ownership import plan_of_run
from dataflow.durable.storable import FlowReads, ports_in, storable_of
from dataflow.inspection.stored_outputs import settled
from dataflow.inspection.stored_run import INTERRUPTED, stored_node
from dataflow.runtime.reasons import (
    KINDS,
    Explanation,
    RawReason,
    ReasonKind,
    ask_text,
    explain,
    kind_of_skip,
)
from dataflow.scheduler.asks import answered_text
from dataflow.scheduler.hits import read_memo_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.compiler.definition import Definition
    from dataflow.compiler.plan import FlowPlan
    from dataflow.durable.journal_view import PastFiring
    from dataflow.inspection.stored_run import PastRun
    from dataflow.stores import Store

__all__ = ["StoredReasons", "plan_if_unedited"]

#: The kinds of reasons that may follow from skips.
SKIPS: Final = frozenset(
    {ReasonKind.SKIP, ReasonKind.NOT_DEMANDED, ReasonKind.RACE_LOST, ReasonKind.DISABLED}
)


@dataclass(frozen=True, slots=True)
class _Firing:
    path: str


@dataclass(frozen=True, slots=True)
class _Port:
    """A port that is read; `how` describes the relation to its reader."""

    name: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class _Ask:
    id: str


@dataclass(frozen=True, slots=True)
class _Decided:
    """The reason of the end of a firing, or of a port without a value."""

    path: str
    reason: str


def plan_if_unedited(found: PastRun, flow: Definition, store: Store) -> FlowPlan | None:
    """Return the plan of the flow of a run, None if the flow has changed since; raises DataflowError."""
    plan = plan_of_run(flow, found.past, store)
    stored = found.stored.readable(found.past.told.get("shape"))
    present = storable_of(plan).shape
    if stored == present:
        return plan
    try:
        was, now = FlowShape.read(stored), FlowShape.read(present)
    except ValueError:  # another version wrote it
        return None
    return plan if compare(in_names_of(plan, was, now), now).is_none else None


class StoredReasons:
    """Explains the firings and ports of one run."""

    def __init__(self, found: PastRun) -> None:
        self._found = found
        self._past = found.past
        self._reads = FlowReads.read(str(found.stored.readable(found.past.told.get("reads", ""))))

    def explain(self, name: str) -> Explanation | None:
        """Explain a firing, a port or an output; None if the journal has no such name."""
        if name in self._past.firings or name in self._found.not_begun:
            return explain(_Firing(name), self._look)
        if name in self._reads.outputs:
            return self._of_output(name)
        path, _, port = name.partition(".")
        if self._token(path, port) is not None or (path in self._past.firings and port in self._ports(path)):
            return explain(_Port(name), self._look)
        if path in self._found.not_begun and port in self._ports(path):
            return explain(_Firing(path), self._look)
        return None

    def is_complete(self, explanation: Explanation, name: str) -> bool:
        """Return whether the flow could add nothing; it may add to skips and to outputs of joins."""
        kind = explanation.reasons[0].kind
        is_of_joins = kind is ReasonKind.UNSETTLED and name in self._reads.outputs
        return kind not in SKIPS and not (is_of_joins and self._found.run.status in ENDED)

    def _of_output(self, name: str) -> Explanation:
        source = self._reads.outputs[name]
        ports = [port for port in ports_in(source) if not port.startswith(f"{INPUT}.")]
        if len(ports) == 1:
            found = explain(_Port(ports[0]), self._look)
            first, *rest = found.reasons
            text = first.text.replace(repr(ports[0]), f"output {name!r}", 1)
            return Explanation((replace(first, text=text, place=name), *rest))
        tokens = [settled(self._past, port)[1] for port in ports]
        has_value = not ports or any(token is not None and "value" in token for token in tokens)
        head = RawReason(
            ReasonKind.VALUE if has_value else ReasonKind.UNSETTLED,
            name,
            f"output {name!r} {'has a value' if has_value else 'has no value'}",
            () if has_value else [_Port(port, "it is made of") for port in ports],
        )
        return explain("", lambda thing: head if thing == "" else self._look(thing))

    def _look(self, thing: Any) -> RawReason:
        match thing:
            case _Firing(path):
                return self._of_firing(path)
            case _Port(name, how):
                return self._of_port(name, how)
            case _Ask(id):
                ask = self._past.open_asks[id]
                seconds = ask.told.get("expires")
                until = "" if seconds is None else moment(ask.opened + timedelta(seconds=seconds))
                prompt = str(self._found.stored.readable(ask.told["prompt"]))
                return RawReason(ReasonKind.ASK, id, ask_text(id, prompt, moment(ask.opened), until))
            case _Decided(path, reason):
                return self._of_decision(path, reason)
            case _:
                raise AssertionError("nothing else is looked at")

    def _of_firing(self, path: str) -> RawReason:
        """Return the outcome of a firing, or what it waits for."""
        firing = self._past.firings.get(path)
        if firing is None:
            return self._of_not_begun(path)
        node = stored_node(self._past, self._found.run.status, path, self._found.stored.readable)
        kind = ReasonKind.NOT_RUN if node.state == INTERRUPTED else KINDS[NodeState(node.state)]
        head = f"{path} is {node.state}{self._memo_of(firing)}"
        if reason := node.reason:
            own = kind_of_skip(reason)
            return RawReason(
                own if own is not ReasonKind.SKIP else kind, path, head, [_Decided(path, reason)]
            )
        if firing.state is None:
            return RawReason(kind, path, head, [_Ask(id) for id in self._asks_at(path)])
        return RawReason(kind, path, head)

    def _memo_of(self, firing: PastFiring) -> str:
        """Describe the answer to the ask of a firing, or the result of its cache lookup."""
        if firing.ask is not None and firing.ask.values is not None:
            return f", {answered_text(self._found.stored.readable(firing.ask.answer), firing.ask.by)}"
        if firing.memo is None:
            return ""
        kind, details = firing.memo
        read = self._found.stored.readable
        return f", {read_memo_report(kind, {name: read(value) for name, value in details.items()})}"

    def _of_not_begun(self, path: str) -> RawReason:
        if self._found.run.status in ENDED:
            text = f"{path} is not_run: the run was {self._found.run.status} before it could begin"
            return RawReason(ReasonKind.NOT_RUN, path, text)
        waits = [
            _Port(port, "it waits for")
            for port in self._reads.nodes.get(path, ())
            if self._is_awaited(path, port)
        ]
        text = f"{path} is waiting" if waits else f"{path} is waiting: nothing has started it yet"
        return RawReason(ReasonKind.WAITING, path, text, waits)

    def _is_awaited(self, path: str, port: str) -> bool:
        """Return whether a node that has not begun waits for a port: one from outside that has not settled.

        A node that has ended does not report a token for each of its ports.
        """
        address = port.partition(".")[0]
        if address == INPUT or address.startswith(f"{path}/"):
            return False
        return settled(self._past, port)[1] is None and not self._past.has_ended(self._maker(address))

    def _maker(self, address: str) -> str:
        """Return the firing that settles the ports at an address: for outputs of iterations, their loop."""
        return address if address in self._past.firings else address.partition("/")[0]

    def _of_port(self, name: str, how: str) -> RawReason:
        """Return the outcome of a port, alone or as a dependency of something else."""
        path, token = settled(self._past, name)
        maker = _Firing(self._maker(path))
        if how:
            return RawReason(ReasonKind.WAITING, name, f"{how} {name}", [maker])
        if token is None:
            return RawReason(ReasonKind.UNSETTLED, name, f"{name!r} has no value so far", [maker])
        if "value" in token:
            return RawReason(ReasonKind.VALUE, name, f"{name!r} has a value")
        read = self._found.stored.readable
        if "skip" in token:
            reason = str(read(token["skip"]))
            return RawReason(kind_of_skip(reason), name, f"{name!r} has no value", [_Decided(path, reason)])
        error = read(token["error"])
        is_failure = isinstance(error, dict)
        text = f"{error['path']} failed: {error['type']}: {error['message']}" if is_failure else str(error)
        return RawReason(ReasonKind.FAILURE, name, f"{name!r} has no value", [_Decided(path, text)])

    def _of_decision(self, path: str, reason: str) -> RawReason:
        """Return the reason of the end of a firing; the cause of a skip is a port that it reads."""
        firing = self._past.firings.get(path)
        if firing is None or firing.state is not NodeState.SKIPPED:
            is_skip = firing is not None and firing.state is NodeState.DONE
            text = f"{path}: {reason}" if is_skip else reason
            kind = kind_of_skip(reason) if is_skip else ReasonKind.FAILURE
            return RawReason(kind, path, text, list(self._behind_decision(path)) if is_skip else [])
        read = self._reads.nodes.get(address_of(path), ())
        causes = dict.fromkeys(cause for port in read for cause in self._skips(port, path))
        return RawReason(kind_of_skip(reason), path, f"{path}: {reason}", list(causes)[:1])

    def _behind_decision(self, path: str) -> Iterator[Any]:
        """Yield why a node that is done has left a port out: skips inside it, or the asks that it read."""
        own = address_of(path)
        read = self._reads.nodes.get(own, ())
        inside = [port for port in read if port.startswith(f"{own}/")]
        for port in inside:
            yield from self._skips(port, f"{path}{port.partition('.')[0][len(own) :]}")
        for port in () if inside else read:
            for maker in self._paths_at(port.partition(".")[0], path):
                known = self._past.firings.get(maker)
                if known is not None and known.ask is not None and known.ask.values is not None:
                    yield _Firing(maker)

    def _skips(self, port: str, reader: str) -> Iterator[_Decided]:
        """Yield why a port that a firing reads has no value: in its own item and iteration, or around it."""
        address, _, name = port.partition(".")
        for path in self._paths_at(address, reader):
            token = self._token(path, name)
            if token is not None and "skip" in token:
                yield _Decided(path, str(self._found.stored.readable(token["skip"])))

    def _paths_at(self, address: str, reader: str) -> Iterator[str]:
        """Yield the firings of a node in the scope instance of a reader, and in those around it."""
        frame = reader.rpartition("/")[0]
        while True:
            around = address_of(frame)
            if not around or address == around or address.startswith(f"{around}/"):
                inside = address[len(around) :].removeprefix("/") if around else address
                yield f"{frame}/{inside}" if frame and inside else frame or inside
            if not frame:
                return
            frame = frame.rpartition("/")[0]

    def _asks_at(self, path: str) -> list[str]:
        inside = (f"{path}/", f"{path}[", f"{path}~")
        return [id for id in self._past.open_asks if id == path or id.startswith(inside)]

    def _ports(self, path: str) -> list[str]:
        """List the ports of a firing that are read."""
        read = {port for ports in self._reads.nodes.values() for port in ports}
        read |= {port for source in self._reads.outputs.values() for port in ports_in(source)}
        address = address_of(path)
        return [port.partition(".")[2] for port in read if port.partition(".")[0] == address]

    def _token(self, path: str, port: str) -> Mapping[str, Any] | None:
        firing = self._past.firings.get(path)
        return None if firing is None else firing.ports.get(f"${port}" if port.startswith("$") else port)
