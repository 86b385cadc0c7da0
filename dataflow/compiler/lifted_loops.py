"""A lifted loop: the vertex and the scope that feedback edges have made (S6.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dataflow.compiler.graph import Constant, Input, LoopAction, Scope, ScopeKind, Terminal, Vertex
from dataflow.core.states import NO_EDGE
from dataflow.core.wiring import LoopBlock, Reference

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Literal

    from dataflow.compiler.graph import Spot
    from dataflow.core.wiring import Rounds

__all__ = ["LiftedLoop"]


@dataclass(frozen=True, slots=True, eq=False)
class LiftedLoop:
    """A loop with what it carries and what leaves it, as far as that is known."""

    head: Vertex  # the first in declared order, which the loop is named after (S2.2)
    maps: Collection[Vertex]  # that `each` opens around it
    vertex: Vertex
    action: LoopAction
    left: dict[tuple[Terminal, str], Terminal] = field(default_factory=dict)
    nothing: Terminal = field(default_factory=lambda: Terminal(Constant(NO_EDGE), "value"))

    @classmethod
    def of(cls, head: Vertex, closing: Sequence[Rounds], maps: Collection[Vertex]) -> LiftedLoop:
        """Make the loop that these edges close: the smallest limit counts, and `fail` wins."""
        limit = min((one.limit for one in closing if one.limit is not None), default=None)
        fails = any(one.on_limit == "fail" for one in closing)
        block = LoopBlock(head.id, limit=limit, on_limit="fail" if fails else "exit")
        action = LoopAction(block, Scope(ScopeKind.LOOP, is_lifted=True))
        vertex = Vertex(head.id, head.order - 1, action, head.home)
        action.scope.owner = vertex
        return cls(head, maps, vertex, action)

    @property
    def scope(self) -> Scope:
        return self.action.scope

    def carry(
        self,
        name: str,
        label: str,
        read_at: Spot,
        *,
        first: Terminal | None = None,
        following: Terminal | None = None,
    ) -> Terminal:
        """Carry what an edge brings to a port: into the first round, or from each round into the next."""
        scope, base, count = self.scope, name, 1
        while name in scope.parameters:
            count += 1
            name = f"{base} ({count})"
        scope.parameters[name] = None
        scope.labels[name] = label
        if first is not None:
            self.vertex.inputs[name] = Input(name, [first], required=False, read_at=read_at)
        self.action.nexts[name] = self.nothing if following is None else following
        return Terminal(scope, name)

    def leave(self, wire: Terminal, which: Literal["last", "all"]) -> Terminal:
        """Return the output of the loop that brings the last value of an edge, or the list of all (S6.4)."""
        known = self.left.get((wire, which))
        return self._leave(wire, which) if known is None else known

    def _leave(self, wire: Terminal, which: Literal["last", "all"]) -> Terminal:
        outputs = self.action.block.body.outputs
        base = name = wire.label if which == "last" else f"all({wire.label})"
        count = 1
        while name in outputs:
            count += 1
            name = f"{base} ({count})"
        outputs[name] = Reference(self.head.id)  # of a block only the name counts, once it is resolved
        self.action.results[name] = wire
        if which == "all":
            self.action.alls.add(name)
        self.left[wire, which] = Terminal(self.vertex, name)
        return self.left[wire, which]
