"""The parts of a workflow, as they stand in its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.authoring import DocumentPath

__all__ = [
    "AGENT",
    "APPROVAL",
    "IF",
    "KINDS",
    "OUTPUT",
    "START",
    "SUBAGENT",
    "EdgePart",
    "NodePart",
    "Workflow",
]

START: Final = "start"
AGENT: Final = "agent"
IF: Final = "if"
APPROVAL: Final = "approval"
KINDS: Final = (START, AGENT, IF, APPROVAL)

#: The port of nodes that do not branch.
OUTPUT: Final = "output"
#: The handle of edges that make an agent a tool of another.
SUBAGENT: Final = "subagent"


@dataclass(frozen=True, slots=True)
class NodePart:
    """A node, with what it is made of by name, read already; `exits` are the ports that lead on."""

    id: str
    kind: str
    path: DocumentPath
    settings: Mapping[str, Any] = field(default_factory=dict)
    exits: tuple[str, ...] = (OUTPUT,)
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def branches(self) -> bool:
        """Whether one of its exits is taken, not all."""
        return self.kind in (IF, APPROVAL)


@dataclass(frozen=True, slots=True)
class EdgePart:
    """An edge; `handle` is where it leaves, as the file has it, and `port` what that means."""

    source: str
    target: str
    path: DocumentPath
    handle: str = ""
    target_handle: str = ""
    port: str = OUTPUT


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow. `edges` advance the execution, `below` make agents tools, `dead` are never followed."""

    nodes: Mapping[str, NodePart]
    edges: tuple[EdgePart, ...]
    below: tuple[EdgePart, ...]
    dead: tuple[EdgePart, ...]

    @property
    def start(self) -> NodePart:
        """The node where it begins."""
        return next(node for node in self.nodes.values() if node.kind == START)
