"""The loops of a HiFide flow, and the order of chats that share a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from dataflow.authoring import write_source
from dataflow_formats.hifide.file import CHAT, Wire

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from networkx import DiGraph

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.hifide.file import HifideFlow
    from dataflow_formats.hifide.wires import Wired


__all__ = ["closed", "in_line", "looping"]

CONTEXT: Final = "context"
#: A node and its port.
Source: TypeAlias = tuple[str, str]


def looping(nodes: Iterable[str], wires: Sequence[Wire]) -> list[list[str]]:
    """Return the nodes that can reach one another, but for feedback, in declared order."""
    import networkx as nx  # only for what loops

    order = {id: place for place, id in enumerate(nodes)}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(order)
    graph.add_edges_from((one.source, one.target) for one in wires if not one.feedback)
    loops = set(nx.nodes_with_selfloops(graph))
    found = [sorted(group, key=order.__getitem__) for group in nx.strongly_connected_components(graph)]
    return sorted(
        (group for group in found if len(group) > 1 or group[0] in loops), key=lambda group: order[group[0]]
    )


def closed(nodes: Collection[str], wires: Sequence[Wire], waiting: Collection[str]) -> tuple[Wire, ...]:
    """Make feedback of the wires that lead back to a waiting node; what reads its loop is in each round."""
    found = tuple(wires)
    whole = looping(nodes, found)
    while heads := [head for group in looping(nodes, found) if (head := _head(group, found, waiting))]:
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
    group: Sequence[str], wires: Sequence[Wire], waiting: Collection[str]
) -> tuple[str, Sequence[str]] | None:
    """Return the waiting node of a loop that comes first, best one that is also reached from outside."""
    candidates = [id for id in group if id in waiting]
    entered = {one.target for one in wires if one.source not in group}
    first = next((id for id in candidates if id in entered), next(iter(candidates), None))
    return None if first is None else (first, group)


@dataclass(slots=True)
class Line:
    """What puts chats in line: wires, and inputs that take the first of several sources that has a value.

    wires: all wires of the flow; those that stand for such inputs are among them until `drawn`
    inputs: by node and port, the sources of each
    between: the nodes that give what has been said last
    """

    wires: list[Wire]
    inputs: dict[Source, list[Source]] = field(default_factory=dict)
    between: dict[str, JsonDict] = field(default_factory=dict)

    def read(self, node: str, port: str, sources: Sequence[Source]) -> None:
        """Have a port read the first of several sources that has a value, else what it has read so far."""
        into = [wire for wire in self.wires if (wire.target, wire.target_port) == (node, port)]
        so_far = self.inputs.get((node, port), [(wire.source, wire.source_port) for wire in into])
        found = [*dict.fromkeys([*sources, *so_far])]
        self.inputs[node, port] = found
        self.wires = [wire for wire in self.wires if wire not in into]
        self.wires += [Wire(*source, node, port) for source in found]

    def drawn(self, wires: Sequence[Wire]) -> tuple[tuple[Wire, ...], dict[str, JsonDict]]:
        """Return the wires that are edges, and the inputs of nodes that are not."""
        inputs: dict[str, JsonDict] = {}
        for (node, port), sources in self.inputs.items():
            inputs.setdefault(node, {})[port] = _first_of(sources)
        left = tuple(wire for wire in wires if (wire.target, wire.target_port) not in self.inputs)
        return left, inputs


def in_line(flow: HifideFlow, made: Wired, closed: Sequence[Wire], notes: Notes) -> Line:
    """Put chats in line that read one conversation: each goes on from what those before it have said.

    `closed` are the wires with the loops closed. A chat behind one that is skipped goes on from what
    was said before that. In a loop what has been said last goes round. The report names the chats that share
    one, once, also where they have it from several nodes: a cache has a node beside it.
    """
    reading = _reading(flow, made)
    readers = _readers(reading, closed)
    shared = _shared(flow, readers)
    line = Line([*made.wires])
    if not shared:
        return line
    sharing = _Sharing(flow, line, closed, readers, {chat: port for port, chat in reading.items()})
    for names, sources in shared.items():
        ordered = sharing.in_order(names)
        is_whole = sharing.put(sources, ordered)
        giving = sources[0][0]
        _remark(made.behind.get(giving, giving), ordered, notes, is_whole=is_whole)
    return line


class _Sharing:
    """Puts chats in line, one conversation after the other."""

    def __init__(
        self,
        flow: HifideFlow,
        line: Line,
        closed: Sequence[Wire],
        readers: Mapping[Source, Sequence[str]],
        ports: Mapping[str, Source],
    ) -> None:
        self.flow = flow
        self.line = line
        self.readers = readers
        self.ports = ports
        self.graph = _graph(closed)
        open_again = [replace(wire, feedback=False) for wire in closed]
        self.loops = [frozenset(group) for group in looping(_ids(closed), open_again)]
        self.bound = {
            id for one in closed if one.feedback or one.each_round for id in (one.source, one.target)
        }

    def in_order(self, names: Sequence[str]) -> list[str]:
        """Order chats as they are declared, but each behind those that it waits for."""
        left, found = [*names], list[str]()
        while left:
            waiting = {name for name in left if any(self._has_path(one, name) for one in left if one != name)}
            first = next(name for name in left if name not in waiting)
            left.remove(first)
            found.append(first)
        return found

    def put(self, sources: Sequence[Source], names: Sequence[str]) -> bool:
        """Put the chats that read a conversation in line, and tell whether all of them are."""
        source = next((one for one in sources if self._is_in_loop(one)), sources[0])
        goes_round = self._is_in_loop(source)
        said: list[str] = [*self._chain(names[0])]
        is_whole = True
        for name in names[1:]:
            if self._has_path(name, said[-1]) or (not goes_round and {*said, name} & self.bound):
                is_whole = False
                continue
            port = self.ports[name]
            self.line.read(*port, [*((one, CONTEXT) for one in reversed(said)), source])
            self.graph.add_edge(said[-1], port[0])
            said += self._chain(name)
        if goes_round and len(said) > 1:
            self._go_round(source, said)
        return is_whole

    def _go_round(self, source: Source, said: Sequence[str]) -> None:
        """Have what goes on from a chat in line go on from what has been said last."""
        inside = {(id, CONTEXT) for id in said}
        read = {self.ports[id] for id in said}
        on = [
            one
            for one in self.line.wires
            if (one.source, one.source_port) in inside and (one.target, one.target_port) not in read
        ]
        if not on:
            return
        id = self.flow.free(f"{source[0]}_latest")
        self.line.between[id] = {"type": "hifide.latest"}
        targets = dict.fromkeys((one.target, one.target_port) for one in on)
        self.line.wires = [one for one in self.line.wires if one not in on]
        self.line.wires += [Wire(id, "out", *target) for target in targets]
        self.line.read(id, CONTEXT, [(one, CONTEXT) for one in reversed(said)])

    def _is_in_loop(self, source: Source) -> bool:
        return any(source[0] in loop for loop in self.loops)

    def _chain(self, id: str) -> list[str]:
        """Return a chat and those that go on from it, one behind the other."""
        found = [id]
        while len(behind := self.readers.get((found[-1], CONTEXT), [])) == 1 and behind[0] not in found:
            found += behind
        return found

    def _has_path(self, source: str, target: str) -> bool:
        import networkx as nx

        return source in self.graph and target in self.graph and bool(nx.has_path(self.graph, source, target))


def _first_of(sources: Sequence[Source]) -> str | JsonDict:
    """Write the first of several sources that has a value; a fallback is of two."""
    *others, last = [write_source(*source) for source in sources]
    found: str | JsonDict = last
    for other in reversed(others):
        found = {"fallback": [other, found]}
    return found


def _reading(flow: HifideFlow, made: Wired) -> dict[Source, str]:
    """Return the chats by the port that reads their conversation, which may be of the node before them."""
    ports = {chat: (helper, "conversation") for helper, chat in made.behind.items()}
    chats = [id for id, node in flow.nodes.items() if node.kind == CHAT]
    return {ports.get(id, (id, CONTEXT)): id for id in chats}


def _readers(reading: Mapping[Source, str], closed: Sequence[Wire]) -> dict[Source, list[str]]:
    """Return the chats that read the conversation of each node, in the order of the wires."""
    readers: dict[Source, list[str]] = {}
    for wire in closed:
        chat = reading.get((wire.target, wire.target_port))
        if chat is not None and not wire.feedback:
            readers.setdefault((wire.source, wire.source_port), []).append(chat)
    return readers


def _shared(flow: HifideFlow, readers: Mapping[Source, Sequence[str]]) -> dict[tuple[str, ...], list[Source]]:
    """Return where chats have a conversation from that they share, by their names as they are declared."""
    places = {id: place for place, id in enumerate(flow.nodes)}
    shared: dict[tuple[str, ...], list[Source]] = {}
    for source, found in readers.items():
        if len(found) > 1:
            shared.setdefault(tuple(sorted(found, key=places.__getitem__)), []).append(source)
    return shared


def _remark(giving: str, chats: Sequence[str], notes: Notes, *, is_whole: bool) -> None:
    """Tell of chats that share what a node gives; `is_whole` says that all of them stand in line."""
    in_order = "they speak one after the other, in this order"
    here = in_order if is_whole else "each goes on from the same history"
    notes.remark(giving, f"{' and '.join(map(repr, chats))} write to one history at once", here)


def _ids(wires: Sequence[Wire]) -> Collection[str]:
    return dict.fromkeys(id for wire in wires for id in (wire.source, wire.target))


def _graph(wires: Sequence[Wire]) -> DiGraph[str]:
    import networkx as nx  # only for what is shared

    graph: DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((one.source, one.target) for one in wires if not one.feedback)
    return graph
