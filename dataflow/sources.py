"""Sources: references and expressions of the wiring become wires of the graph (S1.5, S5.3, S7.1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataflow.declarations import kind_of_vertex, output_names
from dataflow.graph import (
    CallAction,
    CollectAction,
    Constant,
    Graph,
    Input,
    Join,
    JoinAction,
    MapAction,
    Scope,
    ScopeKind,
    Spot,
    Terminal,
    Vertex,
    Wire,
)
from dataflow.names import encode
from dataflow.ports import DONE, ERROR
from dataflow.scoping import body_of
from dataflow.wiring import (
    CARRY,
    INPUT,
    ITEM,
    All,
    Collect,
    Each,
    Fallback,
    Gather,
    Joining,
    Literally,
    Merge,
    MergeContexts,
    Race,
    Reference,
    Source,
)
from dataflow.wording import choices

if TYPE_CHECKING:
    from dataflow.declarations import Names
    from dataflow.lookup import Lookup
    from dataflow.merging import MergeFunction
    from dataflow.policy import EachOptions

__all__ = ["Reader", "Sources"]


@dataclass(slots=True, eq=False)
class Reader:
    """Who a source is resolved for: in which block, as what, and where in its order."""

    names: Names
    spot: Spot
    id: str  # names the map that it is the first to read
    position: int


class Sources:
    """Turns sources into wires, adding a vertex for each join and each map that they open."""

    def __init__(self, graph: Graph, lookup: Lookup) -> None:
        self._graph = graph
        self._lookup = lookup
        self._joins: dict[tuple[int, Source], Wire | None] = {}
        self._counts: Counter[tuple[int, str]] = Counter()  # of the joins of a block, by mode
        self._maps: dict[Terminal, tuple[EachOptions, Vertex]] = {}

    def wire(self, source: Source, reader: Reader) -> Wire | None:
        """Resolve a source; None if it cannot be, which is recorded as a problem."""
        match source:
            case Reference():
                return self.reference(source, reader)
            case Literally():
                return Wire(Terminal(Constant(source.value, source.is_json), "value"), "a constant")
            case _:
                key = (id(reader.names), source)
                if key not in self._joins:
                    self._joins[key] = self._expression(source, reader)
                return self._joins[key]

    def _expression(self, source: Joining, reader: Reader) -> Wire | None:
        match source:
            case Merge(sources):
                return self._join(Join.MERGE, sources, reader)
            case Gather(sources):
                return self._join(Join.GATHER, sources, reader)
            case Race(sources):
                return self._join(Join.RACE, sources, reader)
            case MergeContexts(sources, how):
                found = self._lookup.policy(how, reader.spot)
                mode = Join.MERGE if how == "pick" else Join.CONTEXTS
                return self._join(mode, sources, reader, Join.CONTEXTS.value, found)
            case Fallback(first, default):
                return self._join(Join.FALLBACK, (first, default), reader)
            case Each(inner, options):
                return self._each(inner, options, reader)
            case Collect(inner):
                wire = self.wire(inner, reader)
                if wire is None:
                    return None
                vertex = self._add("collect", CollectAction(wire), reader)
                if (home := _home_of(wire.source)) is not None:  # a list made outside is read inside (S2.3)
                    vertex.home = home
                return Wire(Terminal(vertex, "out"), f"collect({wire.label})")
            case All():
                self._graph.problem(
                    f"{reader.spot}: `all` is an output of a loop, and nothing else", reader.spot
                )
                return None

    def _join(
        self,
        mode: Join,
        sources: tuple[Source, ...],
        reader: Reader,
        word: str = "",
        how: MergeFunction | None = None,
    ) -> Wire | None:
        word = word or mode.value
        if not sources:
            self._graph.problem(f"{reader.spot}: {word} needs at least one source", reader.spot)
            return None
        wires = [wire for source in sources if (wire := self.wire(source, reader)) is not None]
        if len(wires) < len(sources):
            return None
        vertex = self._add(self._name(word, reader.names), JoinAction(mode, how), reader)
        vertex.inputs["sources"] = Input("sources", wires)
        return Wire(Terminal(vertex, "out"), f"{word}({', '.join(wire.label for wire in wires)})")

    def _name(self, word: str, names: Names) -> str:
        """Name a join by its mode, counted in its block as functions are (S1.2)."""
        while True:
            self._counts[id(names), word] += 1
            count = self._counts[id(names), word]
            name = word if count == 1 else f"{word}_{count}"
            if name not in names.vertices:
                return name

    def _each(self, source: Source, options: EachOptions, reader: Reader) -> Wire | None:
        wire = self.wire(source, reader)
        if wire is None:
            return None
        known = self._maps.get(wire.source)
        if known is not None and known[1].home is reader.names.scope:
            if known[0] != options:
                self._graph.problem(
                    f"{reader.spot}: each({wire.label}) has other options than the same each read by "
                    f"{known[1].id!r}; two calls share a map only with equal options",
                    reader.spot,
                )
            vertex = known[1]
        else:
            scope = Scope(ScopeKind.MAP, parameters={"item": None})
            found = self._lookup.options(options, reader.spot)
            vertex = self._add(reader.id, MapAction(scope, found, {"item": "item"}, named=False), reader)
            scope.owner = vertex
            vertex.inputs["item"] = Input("item", [wire])
            self._maps[wire.source] = (options, vertex)
        action = vertex.action
        assert isinstance(action, MapAction)
        return Wire(Terminal(action.scope, "item"), f"each({wire.label})")

    def _add(self, id: str, action: JoinAction | CollectAction | MapAction, reader: Reader) -> Vertex:
        vertex = Vertex(id, (reader.position, -1), reader.spot._replace(scope=reader.names.scope), action)
        self._graph.vertices.append(vertex)
        return vertex

    def reference(self, reference: Reference, reader: Reader) -> Wire | None:
        """Look a port up, from the reader's block outwards."""
        kinds = {INPUT: ScopeKind.ROOT, CARRY: ScopeKind.LOOP, ITEM: ScopeKind.MAP}
        if reference.node in kinds:
            return self._parameter(reference, kinds[reference.node], reader)
        for names in reader.names.outwards():
            if (vertex := names.vertices.get(reference.node)) is not None:
                if any(inner.scope is body_of(vertex) for inner in reader.names.outwards()):
                    kind = kind_of_vertex(vertex)
                    self._graph.problem(
                        f"{reader.spot} reads '{reference}', which is known when the {kind} has ended; "
                        "inside it read a node or a carried port of its own",
                        reader.spot,
                    )
                    return None
                return self._output(vertex, reference, reader)
        known = choices(*(names.vertices for names in reader.names.outwards()), write=encode)
        told = f"{reader.spot} reads '{reference}': no node {reference.node!r}; {known}"
        if f"${reference.node}" in kinds:
            told += f"; with a $ in front, ${reference}, it is no node"
        self._graph.problem(told, reader.spot)
        return None

    def _parameter(self, reference: Reference, kind: ScopeKind, reader: Reader) -> Wire | None:
        scopes = [names.scope for names in reader.names.outwards() if names.scope.kind is kind]
        for scope in scopes:
            if reference.port in scope.parameters:
                return Wire(Terminal(scope, reference.port), str(reference))
        known = choices(*(scope.parameters for scope in scopes))
        told = f"{reader.spot} reads '{reference}', which does not exist here; {known}"
        self._graph.problem(told, reader.spot)
        return None

    def _output(self, vertex: Vertex, reference: Reference, reader: Reader) -> Wire | None:
        ports = output_names(vertex)
        if reference.port in ports or reference.port in (DONE, ERROR) or _is_opaque(vertex):
            return Wire(Terminal(vertex, reference.port), str(reference))
        self._graph.problem(
            f"{reader.spot} reads '{reference}': {kind_of_vertex(vertex)} {vertex.id!r} has no output port "
            f"{reference.port!r}; {choices(ports)}",
            reader.spot,
        )
        return None


def _home_of(terminal: Terminal) -> Scope | None:
    """Return the block in which a terminal is made."""
    match terminal.owner:
        case Vertex(home=home):
            return home
        case Scope(kind=ScopeKind.MAP, owner=Vertex(home=home, action=MapAction(named=False))):
            return home
        case _:
            return None


def _is_opaque(vertex: Vertex) -> bool:
    return isinstance(vertex.action, CallAction) and vertex.action.type.is_opaque
