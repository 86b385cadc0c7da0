"""Why a port of a stored run is what it is: as its journal tells, and its flow where that is not all (S3.3).

The journal tells the state of a node, and what its ports came to; of a failure that is all. A skip may come
from a skip: the chain of those is told by the flow, which is looked for where the run says it is. Without it
the journal's own reason is told, and that there may be more.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.past_tree import reason_of, state_of
from dataflow.cli.run_flows import flow_of
from dataflow.cli.storage import refusing_runs
from dataflow.cli.streams import tell
from dataflow.looking import look_at
from dataflow.memo_telling import told_of_memo
from dataflow.states import NodeState
from dataflow.storable import storable_of
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dataflow.cli.past_runs import PastRun
    from dataflow.flows import Flow
    from dataflow.past import PastFiring
    from dataflow.stores import Store

__all__ = ["Reasons"]


class _Told(NamedTuple):
    """What the journal tells of a node or port, which has this name in the text."""

    name: str
    text: str
    is_skip: bool  # its causes are not all in the text


def memo_of(firing: PastFiring, read: Callable[[Any], Any]) -> str:
    """Say what became of asking the memo for the outcome of a firing."""
    if firing.memo is None:
        return ""
    kind, told = firing.memo
    return str(told_of_memo(kind, {name: read(value) for name, value in told.items()}))


class Reasons:
    """Tells the reasons of one run; `file` is where its flow is, if not where the run says."""

    def __init__(self, store: Store, found: PastRun, file: str | None) -> None:
        self._store = store
        self._found = found
        self._file = file

    def why(self, port: str) -> str:
        """Tell why a node, port or output is what it is; raises Refused for one that there is not."""
        told = self._journaled(port)
        if told is not None and not told.is_skip:
            return told.text
        try:
            flow = self._flow()
        except Refused as refused:
            if told is None:
                raise self._unknown(port, refused.problems) from refused
            tell(f"note: this is as far as the journal tells, for lack of its flow: {refused.problems[0]}")
            return told.text
        source = str(flow.wiring.block.outputs.get(port, port))
        told = told or self._journaled(source)
        if told is not None and not told.is_skip:
            return told.text.replace(told.name, f"output {port!r}", 1)
        try:
            with refusing_runs():
                return self._restored(flow, port)
        except Refused as refused:
            if told is None:
                text = self._no_port(port, flow.wiring.block.outputs)
                raise Refused([Problem(text)], ExitCode.USAGE) from refused
            return told.text

    def _journaled(self, port: str) -> _Told | None:
        past = self._found.past
        if port in past.firings:
            firing = past.firings[port]
            state = state_of(past, self._found.run.status, port)
            told = reason_of(firing)
            reason = f"\n  because {told}" if told else ""
            memo = f", {memo_of(firing, self._found.stored.readable)}" if firing.memo is not None else ""
            return _Told(port, f"{port} is {state}{memo}{reason}", firing.state is NodeState.SKIPPED)
        path, _, name = port.rpartition(".")
        token = past.firings[path].ports.get(name) if path in past.firings else None
        return None if token is None else self._of_token(port, token)

    def _of_token(self, port: str, token: Mapping[str, Any]) -> _Told:
        name, read = repr(port), self._found.stored.readable
        if "value" in token:
            return _Told(name, f"{name} has a value", is_skip=False)
        if "skip" in token:
            return _Told(name, f"{name} has no value\n  because {read(token['skip'])}", is_skip=True)
        error = read(token["error"])
        told = (
            f"{error['path']} failed: {error['type']}: {error['message']}"
            if isinstance(error, dict)
            else error
        )
        return _Told(name, f"{name} has no value\n  because {told}", is_skip=False)

    def _flow(self) -> Flow:
        """Load the flow; raises Refused also if it is not as it was when the run began."""
        run = self._found.run
        flow = flow_of(run, self._file)
        with refusing_runs():
            shape = storable_of(flow.compile()).shape
        if self._found.stored.readable(self._found.past.told.get("shape")) != shape:
            raise Refused([Problem(f"flow {run.flow!r} has been edited since run {run.id} began")])
        return flow

    def _restored(self, flow: Flow, port: str) -> str:
        look = partial(look_at, flow.compile(), flow.settings, self._store, self._found.run.id)
        return anyio.run(look).why(port)

    def _no_port(self, port: str, outputs: Iterable[str] = ()) -> str:
        known = {*outputs, *self._found.past.firings, *self._found.not_begun}
        return f"run {self._found.run.id} has no node or port {port!r}; {choices(nearest(known, port))}"

    def _unknown(self, port: str, problems: tuple[Problem, ...]) -> Refused:
        told = f"{self._no_port(port)}; whether it is an output only its flow can tell: {problems[0]}"
        return Refused([Problem(told)], ExitCode.USAGE)
