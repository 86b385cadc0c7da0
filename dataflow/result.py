"""The result of a run: its outputs, the state of every node, and why a port is what it is (S9.5, S18)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from dataflow.errors import DataflowError, choices
from dataflow.names import encode, parse_reference
from dataflow.placeholders import PortRef
from dataflow.ports import DONE, ERROR, MISSING, Signal
from dataflow.separation import separate
from dataflow.states import STATES, NodeState
from dataflow.steps import Step
from dataflow.tokens import LET_GO, UNSETTLED, Errored, Skip, chain, is_dead
from dataflow.wiring import CARRY, INPUT, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.frames import Frame
    from dataflow.plan import FlowPlan, PlanNode

__all__ = ["Result"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Result:
    """What a run came to. Outputs that were skipped are not among `outputs`; `why` tells the reason."""

    run_id: str
    status: Literal["completed", "paused", "failed", "cancelled"]
    outputs: Mapping[str, Any]
    warnings: Sequence[str] = ()
    _plan: FlowPlan = field(kw_only=True, repr=False)
    _root: Frame = field(kw_only=True, repr=False)

    def __getitem__(self, output: str) -> Any:
        """Return an output; raises KeyError telling why it has no value, or which outputs there are."""
        if output in self.outputs:
            return self.outputs[output]
        slot = self._plan.outputs.get(output)
        if slot is None:
            raise KeyError(
                f"flow {self._plan.name!r} has no output {output!r}; {choices(self._plan.outputs)}"
            )
        raise KeyError(
            f"output {output!r} has no value: {_told(self._root.values[slot], 'it did not settle')}"
        )

    @cached_property
    def states(self) -> Mapping[str, NodeState]:
        """The state of every node by its path, those inside maps and loops included."""
        found = {path: STATES[frame.states[node.index]] for path, frame, node in self._firings()}
        return MappingProxyType(found)

    def get(self, port: T) -> T:
        """Return the value of a port of the flow; raises DataflowError with the reason if it has none."""
        token = self._token(port)
        if token is LET_GO:
            raise DataflowError(
                f"the value of port {_name(port)} was let go when its last reader had come to its end; make "
                "the port an output of the flow, or run it without keep=False"
            )
        if is_dead(token) or token is UNSETTLED:
            raise DataflowError(f"port {_name(port)} has no value: {_told(token, 'it did not settle')}")
        value: Any = separate(token)
        return value  # type: ignore[no-any-return]  # a port is typed as its value

    def why(self, port: object) -> str:
        """Tell why a port, or the node at a path, is what it is, back to the decision or failure."""
        if isinstance(port, str) and port in self._by_path:
            _, frame, node = self._by_path[port]
            state = STATES[frame.states[node.index]].value
            return _story(f"{port} is {state}", frame.reasons.get(node.index))
        if isinstance(port, str) and port in self._plan.outputs and port not in self._root_nodes:
            return self._why_token(f"output {port!r}", self._root.values[self._plan.outputs[port]])
        token = self._token(port)
        return self._why_unsettled(port) if token is UNSETTLED else self._why_token(_name(port), token)

    def _why_token(self, name: str, token: Any) -> str:
        if isinstance(token, Skip | Errored):
            return _story(f"{name} has no value", token)
        if token is UNSETTLED:
            return f"{name} did not settle: the run was {self.status}"
        return f"{name} had a value, which was let go" if token is LET_GO else f"{name} has a value"

    def _why_unsettled(self, port: object) -> str:
        reference = _reference(port)
        path = encode(reference.node)
        if path in self._by_path:
            return self.why(path)
        return f"{_name(port)} did not settle: the run was {self.status}"

    def _firings(self) -> Iterator[tuple[str, Frame, PlanNode]]:
        todo = [self._root]
        while todo:
            frame = todo.pop()
            for node in frame.plan.nodes:
                if node.is_visible:
                    yield frame.path_of(node), frame, node
            for opened in frame.opened.values():
                todo.extend(reversed(opened.frames))

    @cached_property
    def _by_path(self) -> dict[str, tuple[str, Frame, PlanNode]]:
        return {path: (path, frame, node) for path, frame, node in self._firings()}

    def _token(self, port: object) -> Any:
        reference = _reference(port)
        if isinstance(port, PortRef | Step):
            owner = port._block.wiring  # noqa: SLF001 - hidden from users, not from the engine
            if owner is not self._plan.wiring:
                raise DataflowError(
                    f"port '{reference}' belongs to flow {owner.name!r}, not to the one that ran"
                )
        node = self._root_nodes.get(reference.node)
        slot = self._plan.root.parameters.get(reference.port) if reference.node == INPUT else None
        if node is not None:
            slot = node.outputs.get(reference.port)
            if slot is None and reference.port in (DONE, ERROR):
                return self._special(node, reference.port)
        if slot is None:
            raise DataflowError(self._unknown(reference))
        return self._root.values[slot]

    def _unknown(self, reference: Reference) -> str:
        """Say why a port cannot be told: it is inside a map or a loop, or there is none."""
        node = self._root_nodes.get(reference.node)
        inside = [found for _, frame, found in self._by_path.values() if frame.parent is not None]
        if reference.node == CARRY or any(found.id == reference.node for found in inside):
            return f"port '{reference}' is inside a map or a loop: collect it, or take the loop's result"
        known = list(self._root_nodes if node is None else node.outputs)
        return f"the flow has no port '{reference}'; {choices(known)}"

    def _special(self, node: PlanNode, port: str) -> Any:
        """Tell what `$done` or `$error` of a node would hold; they have no slot unless they are read."""
        state = STATES[self._root.states[node.index]]
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
        return self._root.reasons.get(node.index, UNSETTLED)

    @cached_property
    def _root_nodes(self) -> dict[str, PlanNode]:
        return {node.id: node for node in self._plan.root.nodes if node.is_visible}


def _reference(port: object) -> Reference:
    match port:
        case PortRef():
            return port._reference  # noqa: SLF001 - hidden from users, not from the engine
        case Step():
            return Reference(port._id)  # noqa: SLF001 - as above
        case str():
            try:
                return parse_reference(port)
            except ValueError as error:
                raise DataflowError(str(error)) from None
        case _:
            raise DataflowError(
                f"expected a port, a step or text like 'node.port', found {type(port).__name__}"
            )


def _name(port: object) -> str:
    return f"'{_reference(port)}'"


def _told(token: object, otherwise: str) -> str:
    return "; ".join(_shortened(_lines(token), 4)) if isinstance(token, Skip | Errored) else otherwise


def _shortened(lines: list[str], most: int) -> list[str]:
    """Keep the two ends of a long chain of causes."""
    if len(lines) <= most:
        return lines
    half = most // 2
    return [*lines[:half], f"… {len(lines) - 2 * half} more …", *lines[-half:]]


def _lines(token: Skip | Errored) -> list[str]:
    """Tell each cause once, from the port back to where it began."""
    lines: dict[str, None] = {}  # as an ordered set
    for cause in chain(token):
        is_whole = isinstance(cause, Errored) or not cause.place
        line = cause.reason if is_whole else f"{cause.place}: {cause.reason}"
        lines[line] = None
        lines.update((other.reason, None) for other in getattr(cause, "besides", ()))
    return list(lines)


def _story(head: str, token: Any) -> str:
    if not isinstance(token, Skip | Errored):
        return head
    return "\n".join([head, *(f"  because {line}" for line in _lines(token))])
