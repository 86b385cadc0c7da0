"""The loops of a HiFide flow, and the order of chats that share a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from dataflow.authoring import write_source
from dataflow_formats.hifide.edges import NativeEdge
from dataflow_formats.hifide.file import CHAT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from networkx import DiGraph

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.hifide.edges import Wired
    from dataflow_formats.hifide.file import HifideFlow

__all__ = ["close_loops", "find_cycles", "serialize_chats"]

CONTEXT: Final = "context"
#: A node and its port.
Source: TypeAlias = tuple[str, str]


def close_loops(
    nodes: Collection[str], edges: Sequence[NativeEdge], waiting: Collection[str]
) -> tuple[NativeEdge, ...]:
    """Make edges back to a waiting node feedback; edges out of its loop are followed in each iteration."""
    found = tuple(edges)
    whole = find_cycles(nodes, found)
    while heads := [head for group in find_cycles(nodes, found) if (head := _head(group, found, waiting))]:
        inside = {head[0]: set(head[1]) for head in heads}
        found = tuple(
            replace(one, feedback=True)
            if one.source in inside.get(one.target, ()) and not one.feedback
            else one
            for one in found
        )
    body = {id: number for number, group in enumerate(whole) for id in group}
    return tuple(
        replace(one, each_round=True)
        if one.source in body and body.get(one.target) != body[one.source]
        else one
        for one in found
    )


def _head(
    group: Sequence[str], edges: Sequence[NativeEdge], waiting: Collection[str]
) -> tuple[str, Sequence[str]] | None:
    """Return the first waiting node of a loop, preferably one that is also reached from outside."""
    candidates = [id for id in group if id in waiting]
    entered = {one.target for one in edges if one.source not in group}
    first = next((id for id in candidates if id in entered), next(iter(candidates), None))
    return None if first is None else (first, group)


def find_cycles(nodes: Iterable[str], edges: Sequence[NativeEdge]) -> list[list[str]]:
    """Return the cycles of edges other than feedback, each as its nodes, in declared order."""
    import networkx as nx

    order = {id: place for place, id in enumerate(nodes)}
    graph = _graph(edges)
    loops = set(nx.nodes_with_selfloops(graph))
    found = [sorted(group, key=order.__getitem__) for group in nx.strongly_connected_components(graph)]
    return sorted(
        (group for group in found if len(group) > 1 or group[0] in loops), key=lambda group: order[group[0]]
    )


def _graph(edges: Sequence[NativeEdge]) -> DiGraph[str]:
    import networkx as nx  # only flows with loops or shared conversations need it

    graph: DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((one.source, one.target) for one in edges if not one.feedback)
    return graph


def serialize_chats(flow: HifideFlow, made: Wired, closed: Sequence[NativeEdge], notes: Notes) -> Serialized:
    """Serialize chats that share a conversation: each continues after the messages of those before it.

    `closed` are the edges with closed loops. A chat after a skipped one continues from the last chat that
    ran. In a loop the last message is passed to the next iteration. There is one remark for the chats that
    share a conversation, even if they read it from several nodes, as from a cache and its companion.
    """
    reading = _reading(flow, made)
    readers = _readers(reading, closed)
    shared = _shared(flow, readers)
    serialized = Serialized([*made.edges])
    if not shared:
        return serialized
    serializer = _Serializer(
        flow, serialized, closed, readers, {chat: port for port, chat in reading.items()}
    )
    for names, sources in shared.items():
        ordered = serializer.in_order(names)
        is_whole = serializer.serialize(sources, ordered)
        giving = sources[0][0]
        _remark(made.behind.get(giving, giving), ordered, notes, is_whole=is_whole)
    return serialized


@dataclass(slots=True)
class Serialized:
    """The changes that serialize chats: edges, and inputs with fallbacks among several sources.

    edges: all edges of the flow, including those of such inputs until `drawn`
    inputs: by node and port, the sources of such an input in the order of preference
    between: the inserted nodes that return the last message of a conversation
    """

    edges: list[NativeEdge]
    inputs: dict[Source, list[Source]] = field(default_factory=dict)
    between: dict[str, JsonDict] = field(default_factory=dict)

    def read(self, node: str, port: str, sources: Sequence[Source]) -> None:
        """Let a port read the first of several sources that has a value, else its sources so far."""
        into = [edge for edge in self.edges if (edge.target, edge.target_port) == (node, port)]
        so_far = self.inputs.get((node, port), [(edge.source, edge.source_port) for edge in into])
        found = [*dict.fromkeys([*sources, *so_far])]
        self.inputs[node, port] = found
        self.edges = [edge for edge in self.edges if edge not in into]
        self.edges += [NativeEdge(*source, node, port) for source in found]

    def drawn(self, edges: Sequence[NativeEdge]) -> tuple[tuple[NativeEdge, ...], dict[str, JsonDict]]:
        """Return the edges that are written as such, and the inputs of nodes."""
        inputs: dict[str, JsonDict] = {}
        for (node, port), sources in self.inputs.items():
            inputs.setdefault(node, {})[port] = _first_of(sources)
        left = tuple(edge for edge in edges if (edge.target, edge.target_port) not in self.inputs)
        return left, inputs


class _Serializer:
    """Serializes chats, one conversation after the other."""

    def __init__(
        self,
        flow: HifideFlow,
        serialized: Serialized,
        closed: Sequence[NativeEdge],
        readers: Mapping[Source, Sequence[str]],
        ports: Mapping[str, Source],
    ) -> None:
        self.flow = flow
        self.serialized = serialized
        self.readers = readers
        self.ports = ports
        self.graph = _graph(closed)
        open_again = [replace(edge, feedback=False) for edge in closed]
        self.loops = [frozenset(group) for group in find_cycles(_ids(closed), open_again)]
        self.in_loops = {
            id for one in closed if one.feedback or one.each_round for id in (one.source, one.target)
        }

    def in_order(self, names: Sequence[str]) -> list[str]:
        """Return chats in declared order, but each after those that it depends on."""
        left, found = [*names], list[str]()
        while left:
            waiting = {name for name in left if any(self._has_path(one, name) for one in left if one != name)}
            first = next(name for name in left if name not in waiting)
            left.remove(first)
            found.append(first)
        return found

    def serialize(self, sources: Sequence[Source], names: Sequence[str]) -> bool:
        """Serialize the chats that read a conversation; return whether all of them could be."""
        source = next((one for one in sources if self._is_in_loop(one)), sources[0])
        is_in_loop = self._is_in_loop(source)
        said: list[str] = [*self._chain(names[0])]
        is_whole = True
        for name in names[1:]:
            if self._has_path(name, said[-1]) or (not is_in_loop and {*said, name} & self.in_loops):
                is_whole = False
                continue
            port = self.ports[name]
            self.serialized.read(*port, [*((one, CONTEXT) for one in reversed(said)), source])
            self.graph.add_edge(said[-1], port[0])
            said += self._chain(name)
        if is_in_loop and len(said) > 1:
            self._pass_on_last(source, said)
        return is_whole

    def _pass_on_last(self, source: Source, said: Sequence[str]) -> None:
        """Let readers of a serialized chat read the last message instead."""
        inside = {(id, CONTEXT) for id in said}
        read = {self.ports[id] for id in said}
        on = [
            one
            for one in self.serialized.edges
            if (one.source, one.source_port) in inside and (one.target, one.target_port) not in read
        ]
        if not on:
            return
        id = self.flow.free(f"{source[0]}_latest")
        self.serialized.between[id] = {"type": "hifide.latest"}
        targets = dict.fromkeys((one.target, one.target_port) for one in on)
        self.serialized.edges = [one for one in self.serialized.edges if one not in on]
        self.serialized.edges += [NativeEdge(id, "out", *target) for target in targets]
        self.serialized.read(id, CONTEXT, [(one, CONTEXT) for one in reversed(said)])

    def _is_in_loop(self, source: Source) -> bool:
        return any(source[0] in loop for loop in self.loops)

    def _chain(self, id: str) -> list[str]:
        """Return a chat and those that follow it in sequence."""
        found = [id]
        while len(behind := self.readers.get((found[-1], CONTEXT), [])) == 1 and behind[0] not in found:
            found += behind
        return found

    def _has_path(self, source: str, target: str) -> bool:
        import networkx as nx

        return source in self.graph and target in self.graph and bool(nx.has_path(self.graph, source, target))


def _first_of(sources: Sequence[Source]) -> str | JsonDict:
    """Return the input that takes the first of several sources with a value, as nested fallbacks."""
    *others, last = [write_source(*source) for source in sources]
    found: str | JsonDict = last
    for other in reversed(others):
        found = {"fallback": [other, found]}
    return found


def _reading(flow: HifideFlow, made: Wired) -> dict[Source, str]:
    """Return the chats by the port that reads their conversation, which may be of an inserted node."""
    ports = {chat: (helper, "conversation") for helper, chat in made.behind.items()}
    chats = [id for id, node in flow.nodes.items() if node.kind == CHAT]
    return {ports.get(id, (id, CONTEXT)): id for id in chats}


def _readers(reading: Mapping[Source, str], closed: Sequence[NativeEdge]) -> dict[Source, list[str]]:
    """Return by port the chats that read its conversation, in the order of the edges."""
    readers: dict[Source, list[str]] = {}
    for edge in closed:
        chat = reading.get((edge.target, edge.target_port))
        if chat is not None and not edge.feedback:
            readers.setdefault((edge.source, edge.source_port), []).append(chat)
    return readers


def _shared(flow: HifideFlow, readers: Mapping[Source, Sequence[str]]) -> dict[tuple[str, ...], list[Source]]:
    """Return the sources of each shared conversation, by the chats in declared order."""
    places = {id: place for place, id in enumerate(flow.nodes)}
    shared: dict[tuple[str, ...], list[Source]] = {}
    for source, found in readers.items():
        if len(found) > 1:
            shared.setdefault(tuple(sorted(found, key=places.__getitem__)), []).append(source)
    return shared


def _remark(giving: str, chats: Sequence[str], notes: Notes, *, is_whole: bool) -> None:
    """Remark on chats that share a conversation; `is_whole` if all of them are serialized."""
    in_order = "they speak one after the other, in this order"
    here = in_order if is_whole else "each goes on from the same history"
    notes.remark(giving, f"{' and '.join(map(repr, chats))} write to one history at once", here)


def _ids(edges: Sequence[NativeEdge]) -> Collection[str]:
    return dict.fromkeys(id for edge in edges for id in (edge.source, edge.target))
