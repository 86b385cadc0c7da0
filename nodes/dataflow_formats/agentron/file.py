"""The parts of an Agentron Studio file, and reading them: graphs, conditions, schedules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow import Config
from dataflow.authoring import DocumentPath, PartReader, foreign, unique_ids
from dataflow_formats.agentron.diagnostics import AGENT_UNNAMED, SCHEDULE_MISSING

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataflow import Diagnostic
    from dataflow.authoring import JsonDict, Notes

__all__ = [
    "AGENT",
    "KINDS",
    "WAIT",
    "Condition",
    "EdgePart",
    "Graph",
    "NodePart",
    "fault_in",
    "first_that_holds",
    "holds",
    "read_branches",
    "read_graph",
]

#: The known types of conditions; a condition of another type always holds.
KINDS: Final = ("message_type", "content_contains")
#: The execution modes of a graph.
MODES: Final = ("one_time", "interval", "continuous")
_SECONDS: Final = re.compile(r"[1-9]\d{0,8}")
_DAILY: Final = re.compile(r"daily@([01]\d|2[0-3]):[0-5]\d")
_WEEKLY: Final = re.compile(r"weekly@[0-6](,[0-6])*")
SECONDS: Final = 'a number of seconds, as "60"'
INTERVALS: Final = f'{SECONDS}, "daily@09:00" or "weekly@1,3,5" with Sunday = 0'
AGENT: Final = "agent"
WAIT: Final = "wait_for_user"
NODE_KINDS: Final = (AGENT, WAIT)
#: The present and former keys of an edge.
SOURCE: Final = ("source", "from", "sourceId")
TARGET: Final = ("target", "to", "targetId")
#: The keys by which a node names its agent.
NAMING: Final = ("agentId", "agentName")
#: The keys of a node that are kept for drawing it.
SHOWN: Final = ("name", "position")


class Condition(Config):
    """The condition of an edge."""

    type: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class NodePart:
    """A node; `agent_id` and `agent_name` are empty if missing."""

    id: str
    kind: str
    path: DocumentPath
    agent_id: str = ""
    agent_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)  # without those that name the agent
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EdgePart:
    """An edge; `id` is empty if missing."""

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


def read_graph(data: JsonDict, notes: Notes) -> Graph:
    """Read the main graph of a workflow."""
    return _graph(PartReader(notes, data), Graph(()))


def read_branches(data: JsonDict, main: Graph, notes: Notes) -> list[Graph]:
    """Read the branches; mode and turn instruction default to those of the main graph."""
    inherited = Graph((), turn_instruction=main.turn_instruction, mode=main.mode)
    parts = PartReader(notes, data).entries("branches", "branch")
    unique_ids(parts)
    for part in parts:
        part.missing("id")
    return [_graph(replace(part, of=""), replace(inherited, path=part.path)) for part in parts]


def _graph(part: PartReader, inherited: Graph) -> Graph:
    nodes, edges = part.entries("nodes", "node"), part.entries("edges", "edge")
    known = unique_ids(nodes)
    unique_ids(edges)
    rounds = part.integer("maxRounds")
    mode = part.choice("executionMode", MODES, inherited.mode)
    schedule = part.string("schedule") or None
    fault = fault_in(mode, schedule, of_branch=bool(part.path)) if mode in MODES else None
    if fault is not None:
        part.problem(fault, *(("schedule",) if schedule else ()))
    return replace(
        inherited,
        id=part.string("id"),
        name=part.string("name"),
        nodes=tuple(map(_node, nodes)),
        edges=tuple(_edge(edge, known) for edge in edges),
        max_rounds=rounds if rounds is not None and rounds > 0 else None,
        turn_instruction=part.string("turnInstruction") or inherited.turn_instruction,
        mode=mode,
        schedule=schedule,
    )


def _node(part: PartReader) -> NodePart:
    part.missing("id")
    id, kind = part.string("id"), part.choice("type", NODE_KINDS)
    key = "parameters" if part.part.get("parameters") is not None else "config"
    given = part.mapping(key)
    is_mapping = isinstance(part.part.get(key), dict | None)
    if kind == AGENT and is_mapping and not any(map(given.part.get, NAMING)):
        part.problem(AGENT_UNNAMED(expected=f"`agentId` or `agentName` in `{key}`"))
    agent_id, agent_name = map(given.string, NAMING)
    others = {name: value for name, value in given.part.items() if name not in NAMING}
    shown = {name: part.part[name] for name in SHOWN if part.part.get(name) is not None}
    return NodePart(id, kind, part.path, agent_id, agent_name, others, shown)


def _edge(part: PartReader, nodes: Collection[str]) -> EdgePart:
    source, target = part.endpoint(SOURCE, "from", nodes), part.endpoint(TARGET, "to", nodes)
    condition = None
    if part.part.get("condition") is not None:
        given = part.mapping("condition", "a mapping with `type` and `value`")
        condition = Condition(type=given.string("type"), value=given.string("value"))
    return EdgePart(part.string("id"), source, target, part.path, condition)


def fault_in(mode: str, schedule: str | None, *, of_branch: bool = False) -> Diagnostic | None:
    """Return the problem of the schedule of a mode, None for a valid one."""
    if mode == "interval":
        if schedule is None:
            needed = "a schedule of its own" if of_branch else "a schedule"
            return SCHEDULE_MISSING(schedule=needed, expected=INTERVALS)
        forms = (_SECONDS, _DAILY, _WEEKLY)
        is_right = any(form.fullmatch(schedule) for form in forms) and not _has_day_twice(schedule)
        return None if is_right else _wrong_schedule(INTERVALS, schedule)
    if mode == "continuous" and schedule is not None and not _SECONDS.fullmatch(schedule):
        return _wrong_schedule(f"the delay between runs as {SECONDS}", schedule)
    return None


def _wrong_schedule(expected: str, schedule: str) -> Diagnostic:
    return foreign.FOREIGN_VALUE_INVALID(expected=expected, found=repr(schedule))


def _has_day_twice(schedule: str) -> bool:
    days = schedule.removeprefix("weekly@").split(",") if schedule.startswith("weekly@") else []
    return len(days) != len({*days})


def holds(condition: Condition | None, output: str) -> bool:
    """Return whether an edge may be followed after an output; without a condition it always may.

    `message_type` is compared to the whole output, and to the `type` of an output that is a JSON object;
    `content_contains` is a substring of the output, ignoring case.
    """
    match condition:
        case Condition(type="message_type", value=value):
            return output == value or _type_in(output) == value
        case Condition(type="content_contains", value=value):
            return value.casefold() in output.casefold()
        case _:
            return True


def _type_in(output: str) -> Any:
    try:
        read = json.loads(output)
    except (ValueError, RecursionError):  # not JSON
        return None
    return read.get("type") if isinstance(read, dict) else None


def first_that_holds(conditions: list[Condition | None], output: str) -> int | None:
    """Return the index of the first condition that holds, None if none does."""
    return next((number for number, one in enumerate(conditions) if holds(one, output)), None)
