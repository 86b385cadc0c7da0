"""The scopes of a plan as a tree, each with the address that its nodes stand under."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf

if TYPE_CHECKING:
    from dataflow.compiler.plan import FlowPlan, PlanNode, ScopePlan

__all__ = ["PlacedScope", "address_of", "form_of", "opener_of", "path_of", "scopes_of"]

_INSTANCES: Final = re.compile(r"\[[^\]]*\]|~\d+")
_ATTEMPT: Final = re.compile(r"~\d+$")
_KEYS: Final = re.compile(r"\[[^\]]*\]")  # of items and rounds
_ATTEMPTS: Final = re.compile(r"~\d+")  # at flow nodes


def address_of(path: str) -> str:
    """Return what is left of a path without rounds, items and attempts: which node of the flow it is (S2.2).

    In names and keys these characters are encoded, so they stand for nothing else.
    """
    return _INSTANCES.sub("", path) if "[" in path or "~" in path else path


def form_of(path: str) -> str:
    """Return what all paths of a node have in common, and no other has: its address, with `[]` for each key.

    A map, and a loop of feedback edges, has the address of the node that it is named by; its form is its own.
    """
    return _ATTEMPTS.sub("", _KEYS.sub("[]", path)) if "[" in path or "~" in path else path


def path_of(frame: str, node: PlanNode) -> str:
    """Return the path of a node of a frame, as `Frame.path_of` does."""
    if node.names_frame:
        return frame
    return f"{frame}/{node.label}" if frame else node.label


def opener_of(frame: str, opener: PlanNode) -> str:
    """Return the path of what has opened a frame."""
    return _ATTEMPT.sub("", frame) if isinstance(opener.action, FlowOf) else frame[: frame.rindex("[")]


class PlacedScope:
    """A scope of a plan in its place: a flow that several nodes run is in several places."""

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
        self.form: str = "" if parent is None or owner is None else _form_in(parent, owner)  # of its frames
        self.children: dict[int, PlacedScope] = {}  # by the number of the node that opens it
        self.makers = {slot: node for node in plan.nodes for slot in node.outputs.values()}
        self.parameters = {slot: name for name, slot in plan.parameters.items()}
        self.imports = {own: outer for outer, own in plan.imports}

    def address_of(self, node: PlanNode) -> str:
        """Return the address of a node of this scope, as `Frame.path_of` writes its path."""
        return path_of(self.address, node)

    def form_of(self, node: PlanNode) -> str:
        """Return what all paths of a node of this scope have in common: see the function of this name."""
        return path_of(self.form, node)


def _form_in(scope: PlacedScope, opener: PlanNode) -> str:
    return scope.form_of(opener) + ("" if isinstance(opener.action, FlowOf) else "[]")


def scopes_of(plan: FlowPlan) -> list[PlacedScope]:
    """List the scopes of a plan, those of its flow nodes too; each comes before the scopes inside it."""
    scopes = [PlacedScope(plan.root, 0, None, None)]
    for scope in scopes:  # grows while it is walked
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
