"""Agents that are tools of other agents: check their edges, and write their nested configs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dataflow_formats.agentflow.diagnostics import (
    SUBAGENT_CONNECTED,
    SUBAGENT_HANDLE,
    SUBAGENT_OF_ITSELF,
    SUBAGENT_TWICE,
    SUBAGENT_TYPE,
    SUBAGENTS_OFF,
)
from dataflow_formats.agentflow.file import AGENT, SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow import Diagnostic
    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.agentflow.file import EdgePart, NodePart, Workflow

__all__ = ["agent_config", "check_subagents", "tool_name"]

#: The most characters of a system prompt, and of names of subagents, in the description of a subagent.
MOST_TOLD: Final = 280
MOST_NAMED: Final = 4
_OTHER: Final = re.compile(r"[^a-z0-9]+")


def check_subagents(workflow: Workflow, notes: Notes) -> None:
    """Note each edge that cannot make an agent a tool of another, with the first reason."""
    walked = {end for edge in (*workflow.edges, *workflow.dead) for end in (edge.source, edge.target)}
    parents: dict[str, str] = {}
    for edge in workflow.below:
        if edge.source not in workflow.nodes or edge.target not in workflow.nodes:
            continue  # noted as a problem before
        fault = _fault(edge, workflow.nodes, parents, walked)
        if fault is not None:
            notes.problem(edge.path, fault.within(_place(edge)))
        parents.setdefault(edge.target, edge.source)
    for cycle in _cycles(parents):
        first = next(edge for edge in workflow.below if edge.target == cycle[0])
        text = " > ".join([*reversed(cycle), cycle[-1]])
        notes.problem(first.path, SUBAGENT_OF_ITSELF(_place(first), cycle=text))


def _fault(
    edge: EdgePart, nodes: Mapping[str, NodePart], parents: Mapping[str, str], walked: set[str]
) -> Diagnostic | None:
    source, target = nodes[edge.source], nodes[edge.target]
    if other := next((node for node in (source, target) if node.kind != AGENT), None):
        return SUBAGENT_TYPE(found=f"node {other.id!r} of the type {other.kind}")
    if not source.settings["subagents"]:
        return SUBAGENTS_OFF(above=edge.source)
    if edge.target_handle not in ("", "input"):
        return SUBAGENT_HANDLE(found=repr(edge.target_handle))
    if edge.source == edge.target:
        return SUBAGENT_OF_ITSELF(cycle=f"{edge.source} > {edge.target}")
    if edge.target in parents:
        return SUBAGENT_TWICE(other=parents[edge.target])
    if edge.target in walked:
        return SUBAGENT_CONNECTED()
    return None


def _place(edge: EdgePart) -> str:
    return f"subagent {edge.target!r} of node {edge.source!r}"


def _cycles(parents: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the cycles of agents below themselves; `parents` has one agent above each."""
    seen: set[str] = set()
    for id in parents:
        path: list[str] = []
        above: str | None = id
        while above is not None and above not in seen:
            seen.add(above)
            path.append(above)
            above = parents.get(above)
        if above in path and len(found := path[path.index(above) :]) > 1:
            yield found


def agent_config(node: NodePart, workflow: Workflow) -> JsonDict:
    """Return the config of an agent with the configs of its subagents inside."""
    configs: dict[str, JsonDict] = {node.id: _base_config(node)}
    waiting = [node.id]
    while waiting:
        above = waiting.pop()
        for edge in (edge for edge in workflow.below if edge.source == above):
            below = workflow.nodes[edge.target]
            settings = below.settings
            config = {
                **_base_config(below),
                "name": tool_name(below),
                "description": _description(below, workflow),
                "system": settings["system"],
            }
            configs[below.id] = config
            configs[above].setdefault("subagents", []).append(config)
            waiting.append(below.id)
    return configs[node.id]


def tool_name(node: NodePart) -> str:
    """Return the name of the tool that an agent is for the agent above it."""
    slugs = (_OTHER.sub("_", text.lower()).strip("_") for text in (node.settings["name"], node.id))
    return "_".join((SUBAGENT, *filter(None, slugs)))


def _base_config(node: NodePart) -> JsonDict:
    settings = node.settings
    config: JsonDict = {"name": settings["name"], "model": settings["model"]}
    config["reasoning_effort"] = settings["reasoning_effort"]
    return {**config, "web_search": True} if settings["web_search"] else config


def _description(node: NodePart, workflow: Workflow) -> str:
    settings = node.settings
    lines = [f"{settings['name']}: {settings['system'][:MOST_TOLD]}"]
    if settings["web_search"]:
        lines.append("Tools: web_search")
    names = [
        workflow.nodes[edge.target].settings["name"] for edge in workflow.below if edge.source == node.id
    ]
    if names:
        more = [f"+{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        lines.append(f"Subagents: {', '.join([*names[:MOST_NAMED], *more])}")
    return "\n".join(lines)
