"""The parts of a workflow, as they stand in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dataflow.authoring import DocumentPath
from dataflow_formats.agentron.conditions import Condition

__all__ = ["EdgePart", "Graph", "NodePart"]


@dataclass(frozen=True, slots=True)
class NodePart:
    """A node; `agent_id` and `agent_name` are empty where they are not given."""

    id: str
    kind: str
    path: DocumentPath
    agent_id: str = ""
    agent_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)  # the other ones
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EdgePart:
    """An edge; `id` is empty where it is not given."""

    id: str
    source: str
    target: str
    path: DocumentPath
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """The main graph of a workflow, or a branch of it. `max_rounds` is None for no limit."""

    path: DocumentPath
    id: str = ""
    name: str = ""
    nodes: tuple[NodePart, ...] = ()
    edges: tuple[EdgePart, ...] = ()
    max_rounds: int | None = None
    turn_instruction: str = ""
    mode: str = "one_time"
    schedule: str | None = None
