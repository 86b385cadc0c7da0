"""The parts of a flow of HiFide, as its file gives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dataflow.authoring import free_name

__all__ = ["Edge", "HifideFlow", "Node", "Wire"]

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the file: what kind it is, its config, and what is only drawn."""

    id: str
    kind: str
    config: dict[str, Any]
    path: Path
    config_path: Path
    drawn: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between ports as the file names them, once their names are brought to one spelling."""

    source: str
    output: str
    target: str
    input: str
    path: Path = ()
    is_bridge: bool = False


@dataclass(slots=True)
class HifideFlow:
    """What a file says."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def edges_into(self, node: str, port: str | None = None) -> list[Edge]:
        """Return the edges that lead into a node, or into one port of it."""
        return [edge for edge in self.edges if edge.target == node and port in (None, edge.input)]

    def free(self, name: str) -> str:
        """Return a name that no node of the file has."""
        return free_name(name, self.nodes)


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge of the native document."""

    source: str
    source_port: str
    target: str
    target_port: str
    feedback: bool = False
    each_round: bool = False
    path: Path = field(default=(), compare=False)  # of the edge in the file
