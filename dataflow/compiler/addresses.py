"""The addresses of nodes and ports of a plan, and its scopes as a tree."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from dataflow.builder.sources import PortRef, Step
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.core.ports import DONE, ERROR, field_advice
from dataflow.core.wiring import CARRY, INPUT, Reference, encode, parse_reference, write_reference
from dataflow.diagnostics.graphs import (
    PORT_EXPECTED,
    PORT_INSIDE,
    PORT_OF_ANOTHER_FLOW,
    PORT_UNKNOWN,
    VALUE_RELEASED,
)
from dataflow.errors import DataflowError, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.compiler.plan import FlowPlan, PlanNode, ScopePlan
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.values.classes import Classes

__all__ = [
    "Addresses",
    "PlacedScope",
    "RootPort",
    "address_of",
    "classes_in",
    "end_of",
    "form_of",
    "name_of",
    "opener_of",
    "path_of",
    "released_error",
    "scopes_of",
    "types_given",
]

_INSTANCES: Final = re.compile(r"\[[^\]]*\]|~\d+")
_ATTEMPT: Final = re.compile(r"~\d+$")
_KEYS: Final = re.compile(r"\[[^\]]*\]")  # of items and iterations
_ATTEMPTS: Final = re.compile(r"~\d+")  # of subflows
_CLASSES: Final[WeakKeyDictionary[FlowPlan, Classes]] = WeakKeyDictionary()
_INSIDE: Final = re.compile(r"[/\[~]")  # the end of the path of the enclosing node


def address_of(path: str) -> str:
    """Return a path without iterations, items and attempts: the address of the node in the flow (S2.2).

    In names and keys these characters are encoded, so they have no other meaning.
    """
    return _INSTANCES.sub("", path) if "[" in path or "~" in path else path


def form_of(path: str) -> str:
    """Return the unique common form of all paths of a node: its address, with `[]` for each key.

    A map, and a loop of feedback edges, has the address of the node that it is named after, but its own
    form.
    """
    return _ATTEMPTS.sub("", _KEYS.sub("[]", path)) if "[" in path or "~" in path else path


def path_of(frame: str, node: PlanNode) -> str:
    """Return the path of a node in a scope instance, as `Frame.path_of` does."""
    if node.names_frame:
        return frame
    return f"{frame}/{node.label}" if frame else node.label


def opener_of(frame: str, opener: PlanNode) -> str:
    """Return the path of the opener of a scope instance."""
    return _ATTEMPT.sub("", frame) if isinstance(opener.action, FlowOf) else frame[: frame.rindex("[")]


class PlacedScope:
    """A scope of a plan at its place in the flow; a subflow used by several nodes has several."""

    __slots__ = (
        "address",
        "children",
        "form",
        "imports",
        "makers",
        "number",
        "owner",
        "parameters",
        "parent",
        "plan",
    )

    def __init__(
        self, plan: ScopePlan, number: int, parent: PlacedScope | None, owner: PlanNode | None
    ) -> None:
        self.plan = plan
        self.number = number
        self.parent = parent
        self.owner = owner  # the node of the parent that opens it
        self.address: str = "" if parent is None or owner is None else parent.address_of(owner)
        self.form: str = (
            "" if parent is None or owner is None else _form_in(parent, owner)
        )  # of its instances
        self.children: dict[int, PlacedScope] = {}  # by the number of the node that opens it
        self.makers = {slot: node for node in plan.nodes for slot in node.outputs.values()}
        self.parameters = {slot: name for name, slot in plan.parameters.items()}
        self.imports = {own: outer for outer, own in plan.imports}

    def address_of(self, node: PlanNode) -> str:
        """Return the address of a node of this scope."""
        return path_of(self.address, node)

    def form_of(self, node: PlanNode) -> str:
        """Return the common form of all paths of a node of this scope."""
        return path_of(self.form, node)


def _form_in(scope: PlacedScope, opener: PlanNode) -> str:
    return scope.form_of(opener) + ("" if isinstance(opener.action, FlowOf) else "[]")


def scopes_of(plan: FlowPlan) -> list[PlacedScope]:
    """List the scopes of a plan, including those of subflows; outer scopes come first."""
    scopes = [PlacedScope(plan.root, 0, None, None)]
    for scope in scopes:  # grows during the iteration
        for node in scope.plan.nodes:
            match node.action:
                case Call() | JoinOf():
                    continue
                case LoopOf(body=body) | MapOf(body=body):
                    inner = body
                case FlowOf(plan=flow):
                    inner = flow.root
            scope.children[node.index] = placed = PlacedScope(inner, len(scopes), scope, node)
            scopes.append(placed)
    return scopes


class RootPort(NamedTuple):
    """A port of the root scope. `slot` is None for a `$done` or `$error` without readers."""

    node: PlanNode | None  # None for an input of the flow
    port: str
    slot: int | None


class Addresses:
    """Finds the ports of the root scope of a plan."""

    def __init__(self, plan: FlowPlan) -> None:
        self.plan = plan
        loops = [node for node in plan.root.nodes if isinstance(node.action, LoopOf) and node.action.feedback]
        self._nodes = {node.id: node for node in plan.root.nodes if node.is_visible and node not in loops}
        #: The outputs of loops made of feedback edges, by the port whose last value they are.
        self._left = {
            name: RootPort(node, name, slot) for node in loops for name, slot in node.outputs.items()
        }

    def port(self, port: object, *, or_node: bool = False) -> RootPort:
        """Find a port; raises DataflowError, also for a port inside a map, a loop or a subflow.

        `or_node` means that a node could have been named as well.
        """
        reference = self._own(port)
        if (left := self._left.get(str(reference))) is not None:
            return left
        node = self._nodes.get(reference.node)
        if node is not None and (reference.port in node.outputs or reference.port in (DONE, ERROR)):
            return RootPort(node, reference.port, node.outputs.get(reference.port))
        slot = self.plan.root.parameters.get(reference.port) if reference.node == INPUT else None
        if slot is None:
            raise DataflowError(self._unknown(reference, node, or_node=or_node))
        return RootPort(None, reference.port, slot)

    def reference(self, port: object) -> Reference:
        """Return the reference of a port in the graph definition; raises DataflowError as `port` does."""
        self.port(port)
        return self._own(port)

    def node(self, port: object) -> PlanNode | None:
        """Find a node that is given as a step or by its id, and has no port `out`."""
        if not isinstance(port, Step | str) or (isinstance(port, str) and "." in port):
            return None
        reference = self._own(port)
        node = self._nodes.get(reference.node)
        return None if node is None or reference.port in node.outputs else node

    def output(self, port: object) -> RootPort | None:
        """Find the source of an output of the flow, if this is the name of one; `node.port` names a port."""
        if not isinstance(port, str) or port not in self.plan.outputs:
            return None
        slot = self.plan.outputs[port]
        return self._made.get(slot) or RootPort(None, port, slot)

    @cached_property
    def _made(self) -> dict[int, RootPort]:
        """The ports of nodes by slot."""
        nodes = self.plan.root.nodes
        return {slot: RootPort(node, name, slot) for node in nodes for name, slot in node.outputs.items()}

    def _own(self, port: object) -> Reference:
        """Return the reference of a port; raises DataflowError for a port of another flow."""
        reference = _reference(port)
        if isinstance(port, PortRef | Step):
            owner = port._block.wiring  # noqa: SLF001 - hidden from users, not from the engine
            if owner is not self.plan.wiring:
                raise DataflowError(PORT_OF_ANOTHER_FLOW(reference, port=reference.port, flow=owner.name))
        return reference

    def _unknown(self, reference: Reference, node: PlanNode | None, *, or_node: bool) -> Diagnostic:
        """Describe why a port is not available: it is inside something, or does not exist."""
        around = self._nodes.get(_INSIDE.split(reference.node, maxsplit=1)[0])  # if it is a path
        is_inside = node is None and around is not None and _body_of(around) is not None
        if reference.node == CARRY or is_inside or any(one.id == reference.node for one in self._inside()):
            return PORT_INSIDE(reference, port=reference.port)
        if node is not None:
            owner, known, name = f"node {node.id!r}", node.outputs, reference.port
            advice = field_advice(node.action.type.outputs, name) if isinstance(node.action, Call) else ""
            return PORT_UNKNOWN(owner=owner, which="output", name=name, available=known, advice=advice)
        named = map(encode, self._nodes) if or_node else self._of_nodes()
        names = dict.fromkeys([*named, *self._left, *self.plan.outputs])
        return PORT_UNKNOWN(owner="the flow", which="output", name=reference, available=names, advice="")

    def _of_nodes(self) -> Iterator[str]:
        """Yield the references of ports of nodes; those of maps are lists, which have no names."""
        for node in self._nodes.values():
            if not isinstance(node.action, MapOf):
                ports = ["out"] if "out" in node.outputs else node.outputs
                yield from (write_reference(Reference(node.id, port)) for port in ports)

    def _inside(self) -> Iterator[PlanNode]:
        """Yield the nodes of all maps, loops and subflows."""
        scopes, seen = [self.plan.root], {self.plan.root}  # a subflow may be used by several nodes
        for scope in scopes:  # grows during the iteration
            for body in (body for node in scope.nodes if (body := _body_of(node)) is not None):
                if body not in seen:
                    seen.add(body)
                    scopes.append(body)
                    yield from (node for node in body.nodes if node.is_visible)


def _body_of(node: PlanNode) -> ScopePlan | None:
    match node.action:
        case LoopOf(body=body) | MapOf(body=body):
            return body
        case FlowOf(plan=plan):
            return plan.root
        case _:
            return None


def end_of(node: PlanNode) -> RootPort:
    """Return the port that signals that a node is done."""
    return RootPort(node, DONE, node.outputs.get(DONE))


def released_error(port: object) -> DataflowError:
    """Return the error for a value that the run has released (S8.5)."""
    reference = _reference(port)
    return DataflowError(VALUE_RELEASED(reference, port=reference.port))


def name_of(port: object) -> str:
    """Name a port in a message; raises DataflowError for an invalid port."""
    return f"'{_reference(port)}'"


def _reference(port: object) -> Reference:
    match port:
        case PortRef():
            return port._reference  # noqa: SLF001 - as above
        case Step():
            return Reference(port._id)  # noqa: SLF001 - as above
        case str():
            try:
                return parse_reference(port)
            except ValueError as error:
                raise DataflowError(problem_of(error)) from None
        case _:
            raise DataflowError(PORT_EXPECTED(found=type(port).__name__))


def classes_in(plan: FlowPlan) -> Classes:
    """Collect the classes that may be stored for a flow: those of the types of its ports."""
    known = _CLASSES.get(plan)
    if known is None:
        from dataflow.values.classes import classes_of

        given = (kind for _, kind in types_given(plan))
        known = _CLASSES[plan] = classes_of([*given, *_types_taken(plan)])
    return known


def types_given(plan: FlowPlan) -> Iterator[tuple[str, object]]:
    """Yield the ports whose values are stored, with their types: the inputs and the outputs of nodes."""
    for name, given in plan.wiring.inputs.items():
        yield f"{INPUT}.{name}", given.type
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if isinstance(node.action, Call):
                for port in node.action.type.outputs.values():
                    yield f"{scope.address_of(node)}.{port.name}", port.type


def _types_taken(plan: FlowPlan) -> Iterator[object]:
    """Yield the types of the input ports of the nodes, whose sources may be of type Any."""
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if isinstance(node.action, Call):
                yield from (port.type for port in node.action.type.inputs.values())
