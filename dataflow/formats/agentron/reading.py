"""Reading a workflow: its graphs with their parts; what is wrong with any of them is noted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.agentron.conditions import Condition
from dataflow.formats.agentron.parts import EdgePart, Graph, NodePart
from dataflow.formats.agentron.schedules import MODES, fault_in
from dataflow.formats.problems import described
from dataflow.formats.shapes import within
from dataflow.wording import choices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import Path

__all__ = ["AGENT", "WAIT", "read_branches", "read_graph"]

AGENT: Final = "agent"
WAIT: Final = "wait_for_user"
NODE_KINDS: Final = (AGENT, WAIT)

#: What the keys of an edge have been called.
SOURCE: Final = ("source", "from", "sourceId")
TARGET: Final = ("target", "to", "targetId")
#: How a node names its agent.
NAMING: Final = ("agentId", "agentName")
#: What of a node is kept for those who look at it.
SHOWN: Final = ("name", "position")


def read_graph(data: JsonDict, notes: Notes) -> Graph:
    """Read the main graph of a workflow."""
    return _Reading(notes, ()).graph(data, Graph(()))


def read_branches(data: JsonDict, main: Graph, notes: Notes) -> list[Graph]:
    """Read the branches, which have mode and turn instruction of the workflow unless they have their own."""
    reading = _Reading(notes, ())
    inherited = Graph((), turn_instruction=main.turn_instruction, mode=main.mode)
    found: list[Graph] = []
    for path, part in reading.entries(data, "branches"):
        branch = _Reading(notes, path).graph(part, replace(inherited, path=path))
        if not branch.id:
            notes.problem(path, "the branch has no `id`")
        found.append(branch)
    for path, id in _twice((branch.path, branch.id) for branch in found):
        notes.problem(path, f"branch {id!r} stands here for the second time")
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the graph that stands at a place of the file."""

    notes: Notes
    path: Path

    def graph(self, data: JsonDict, inherited: Graph) -> Graph:
        nodes = tuple(self._node(path, part) for path, part in self.entries(data, "nodes"))
        edges = tuple(self._edge(path, part) for path, part in self.entries(data, "edges"))
        self._check_ids(nodes, edges)
        self._check_ends(nodes, edges)
        mode, schedule = self._schedule(data, inherited.mode)
        return replace(
            inherited,
            id=self._text(data, self.path, "id"),
            name=self._text(data, self.path, "name"),
            nodes=nodes,
            edges=edges,
            max_rounds=self._max_rounds(data),
            turn_instruction=self._text(data, self.path, "turnInstruction") or inherited.turn_instruction,
            mode=mode,
            schedule=schedule,
        )

    def entries(self, data: JsonDict, key: str) -> Iterator[tuple[Path, JsonDict]]:
        """Go through the mappings in the list under a key, each with its place."""
        found = data.get(key)
        if found is None:
            return
        if not isinstance(found, list):
            self.notes.problem((*self.path, key), f"expected a list, found {described(found)}")
            return
        for number, entry in enumerate(found):
            path = (*self.path, key, number)
            if isinstance(entry, dict):
                yield path, entry
            else:
                self.notes.problem(path, f"expected a mapping, found {described(entry)}")

    def _node(self, path: Path, part: JsonDict) -> NodePart:
        id, kind = self._text(part, path, "id"), self._text(part, path, "type")
        if part.get("id") in (None, ""):
            self.notes.problem(path, "the node has no `id`")
        if kind not in NODE_KINDS:
            told = f"has the unknown type {kind!r}" if kind else "has no `type`"
            self.notes.problem(path, f"node {id!r} {told}; {choices(NODE_KINDS)}")
        key = "parameters" if part.get("parameters") is not None else "config"
        given = part.get(key)
        place, parameters = (*path, key), dict(within(part, key))
        if given is not None and not isinstance(given, dict):
            self.notes.problem(place, f"node {id!r}: expected a mapping, found {described(given)}")
        elif kind == AGENT and not any(map(parameters.get, NAMING)):
            self.notes.problem(path, f"node {id!r} names no agent; write `agentId` or `agentName` in `{key}`")
        agent_id, agent_name = (self._text(parameters, place, name) for name in NAMING)
        others = {name: value for name, value in parameters.items() if name not in NAMING}
        shown = {name: part[name] for name in SHOWN if part.get(name) is not None}
        return NodePart(id, kind, path, agent_id, agent_name, others, shown)

    def _edge(self, path: Path, part: JsonDict) -> EdgePart:
        id = self._text(part, path, "id")
        ends = [self._end(part, path, id, keys) for keys in (SOURCE, TARGET)]
        return EdgePart(id, ends[0], ends[1], path, self._condition(part, path, id))

    def _end(self, part: JsonDict, path: Path, id: str, keys: tuple[str, ...]) -> str:
        key = next((one for one in keys if part.get(one) is not None), None)
        if key is None:
            self.notes.problem(path, f"edge {id!r} has no `{keys[0]}`")
            return ""
        return self._text(part, path, key)

    def _condition(self, part: JsonDict, path: Path, id: str) -> Condition | None:
        given = part.get("condition")
        if given is None:
            return None
        place = (*path, "condition")
        if not isinstance(given, dict):
            expected = "expected a mapping with `type` and `value`"
            self.notes.problem(place, f"edge {id!r}: {expected}, found {described(given)}")
            return None
        return Condition(type=self._text(given, place, "type"), value=self._text(given, place, "value"))

    def _schedule(self, data: JsonDict, inherited: str) -> tuple[str, str | None]:
        mode = self._text(data, self.path, "executionMode") or inherited
        schedule = self._text(data, self.path, "schedule") or None
        if mode not in MODES:
            self.notes.problem((*self.path, "executionMode"), f"there is no mode {mode!r}; {choices(MODES)}")
        elif (fault := fault_in(mode, schedule)) is not None:
            self.notes.problem((*self.path, "schedule") if schedule else self.path, fault)
        return mode, schedule

    def _max_rounds(self, data: JsonDict) -> int | None:
        given = data.get("maxRounds")
        if given is None:
            return None
        if type(given) is not int:
            self.notes.problem(
                (*self.path, "maxRounds"), f"expected a whole number, found {described(given)}"
            )
            return None
        return given if given > 0 else None

    def _text(self, part: JsonDict, path: Path, key: str) -> str:
        """Return the text under a key, an empty one where there is none."""
        given: Any = part.get(key)
        if given is None:
            return ""
        if not isinstance(given, str):
            self.notes.problem((*path, key), f"expected a text, found {described(given)}")
            return ""
        return given

    def _check_ids(self, nodes: Iterable[NodePart], edges: Iterable[EdgePart]) -> None:
        for path, id in _twice((node.path, node.id) for node in nodes):
            self.notes.problem(path, f"node {id!r} stands here for the second time")
        for path, id in _twice((edge.path, edge.id) for edge in edges):
            self.notes.problem(path, f"edge {id!r} stands here for the second time")

    def _check_ends(self, nodes: Iterable[NodePart], edges: Iterable[EdgePart]) -> None:
        known = [node.id for node in nodes if node.id]
        for edge in edges:
            for end, leads in ((edge.source, "from"), (edge.target, "to")):
                if end and end not in known:
                    told = f"edge {edge.id!r} leads {leads} {end!r}, which is no node"
                    self.notes.problem(edge.path, f"{told}; {choices(known)}")


def _twice(named: Iterable[tuple[Path, str]]) -> Iterator[tuple[Path, str]]:
    """Find the parts whose id another one before them has."""
    seen: set[str] = set()
    for path, id in named:
        if id and id in seen:
            yield path, id
        seen.add(id)
