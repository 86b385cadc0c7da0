"""Sources: references and expressions of the wiring become wires of the graph (S1.5, S5.3, S7.1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dataflow.base.wording import choices
from dataflow.compiler.declarations import SCOPES
from dataflow.compiler.graph import (
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
)
from dataflow.core.policy import EachOptions
from dataflow.core.wiring import (
    All,
    Collect,
    Each,
    Every,
    Fallback,
    Gather,
    Joining,
    Literally,
    Merge,
    MergeContexts,
    Race,
    Reference,
    Source,
    encode,
)

if TYPE_CHECKING:
    from dataflow.compiler.declarations import Names
    from dataflow.compiler.lookup import Lookup
    from dataflow.core.context import MergeFunction

__all__ = ["SourceReader", "Sources"]

#: What the item of a map is called that a source has opened.
ITEM: Final = "item"


@dataclass(slots=True, eq=False)
class SourceReader:
    """Who a source is resolved for: in which block, as what, and where in its order."""

    names: Names
    spot: Spot
    id: str  # names the map that it is the first to read
    order: int  # of a join or map that is made for it


class Sources:
    """Turns sources into wires, adding a vertex for each join and each map that they open."""

    def __init__(self, graph: Graph, lookup: Lookup) -> None:
        self._graph = graph
        self._lookup = lookup
        self._joins: dict[tuple[int, Source], Terminal | None] = {}
        self._counts: Counter[tuple[int, str]] = Counter()  # of the joins of a block, by mode
        self._maps: dict[Terminal, tuple[EachOptions, Vertex]] = {}

    def wire(self, source: Source, reader: SourceReader) -> Terminal | None:
        """Resolve a source; None if it cannot be, which is recorded as a problem."""
        match source:
            case Reference():
                return self.reference(source, reader)
            case Literally():
                return Terminal(Constant(source.value, source.is_json), "value")
            case _:
                key = (id(reader.names), source)
                if key not in self._joins:
                    self._joins[key] = self._expression(source, reader)
                return self._joins[key]

    def _expression(self, source: Joining, reader: SourceReader) -> Terminal | None:
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
            case Every(sources):
                return self._every(sources, reader)
            case Collect(inner):
                wire = self.wire(inner, reader)
                if wire is None:
                    return None
                vertex = self._add("collect", CollectAction(wire), reader, f"collect({wire.label})")
                if (home := _home_of(wire)) is not None:  # a list made outside is read inside (S2.3)
                    vertex.home = home
                return Terminal(vertex, "out")
            case All():
                self._graph.problem(
                    f"{reader.spot}: `all` is an output of a loop, and nothing else", reader.spot
                )
                return None

    def _join(
        self,
        mode: Join,
        sources: tuple[Source, ...],
        reader: SourceReader,
        word: str = "",
        how: MergeFunction | None = None,
    ) -> Terminal | None:
        word = word or mode.value
        if not sources:
            self._graph.problem(f"{reader.spot}: {word} needs at least one source", reader.spot)
            return None
        wires = [wire for source in sources if (wire := self.wire(source, reader)) is not None]
        if len(wires) < len(sources):
            return None
        label = f"{word}({', '.join(wire.label for wire in wires)})"
        vertex = self._add(self._name(word, reader.names), JoinAction(mode, how), reader, label)
        vertex.inputs["sources"] = Input("sources", wires)
        return Terminal(vertex, "out")

    def _name(self, word: str, names: Names) -> str:
        """Name a join by its mode, counted in its block as functions are (S1.2)."""
        while True:
            self._counts[id(names), word] += 1
            count = self._counts[id(names), word]
            name = word if count == 1 else f"{word}_{count}"
            if name not in names.vertices:
                return name

    def _each(self, source: Source, options: EachOptions, reader: SourceReader) -> Terminal | None:
        wire = self.wire(source, reader)
        if wire is None:
            return None
        known = self._maps.get(wire)
        if known is not None and known[1].home is reader.names.scope:
            if known[0] != options:
                self._graph.problem(
                    f"{reader.spot}: each({wire.label}) has other options than the same each read by "
                    f"{known[1].id!r}; two calls share a map only with equal options",
                    reader.spot,
                )
            vertex = known[1]
        else:
            scope = Scope(ScopeKind.MAP, parameters={ITEM: None}, label=f"each({wire.label})")
            found = self._lookup.options(options, reader.spot)
            vertex = self._add(reader.id, MapAction(scope, found, {ITEM: ITEM}, named=False), reader)
            scope.owner = vertex
            vertex.inputs[ITEM] = Input(ITEM, [wire])
            self._maps[wire] = (options, vertex)
        action = vertex.action
        assert isinstance(action, MapAction)
        return Terminal(action.scope, ITEM)

    def _every(self, sources: tuple[Source, ...], reader: SourceReader) -> Terminal | None:
        """Open a map over edges (S7.4); equal calls in one block are known to be one."""
        wires = [wire for source in sources if (wire := self.wire(source, reader)) is not None]
        if not sources:
            self._graph.problem(f"{reader.spot}: every needs at least one source", reader.spot)
        if not wires or len(wires) < len(sources):
            return None
        label = f"every({', '.join(wire.label for wire in wires)})"
        scope = Scope(ScopeKind.MAP, parameters={ITEM: None}, label=label)
        action = MapAction(scope, EachOptions(), {ITEM: ITEM}, named=False, is_every=True)
        scope.owner = vertex = self._add(reader.id, action, reader)
        vertex.inputs[ITEM] = Input(ITEM, wires)
        return Terminal(scope, ITEM)

    def _add(
        self, id: str, action: JoinAction | CollectAction | MapAction, reader: SourceReader, label: str = ""
    ) -> Vertex:
        scope = reader.names.scope
        vertex = Vertex(id, reader.order, action, scope, reader.spot._replace(scope=scope), label)
        self._graph.vertices.append(vertex)
        return vertex

    def reference(self, reference: Reference, reader: SourceReader) -> Terminal | None:
        """Look a port up, from the reader's block outwards."""
        found = reader.names.find(reference)
        if found is None:
            told = f"{reader.spot} reads '{reference}'{_why_not(reference, reader.names)}"
            self._graph.problem(told, reader.spot)
        return found


def _why_not(reference: Reference, names: Names) -> str:
    """Say why a port cannot be read in a block."""
    if (kind := SCOPES.get(reference.node)) is not None:
        scopes = (outer.scope for outer in names.outwards() if outer.scope.kind is kind)
        return f", which does not exist here; {choices(*(scope.parameters for scope in scopes))}"
    vertex = names.vertex(reference.node)
    if vertex is None:
        known = choices(*(outer.vertices for outer in names.outwards()), write=encode)
        hint = f"; with a $ in front, ${reference}, it is no node" if f"${reference.node}" in SCOPES else ""
        return f": no node {reference.node!r}; {known}{hint}"
    if names.is_inside(vertex):
        return (
            f", which is known when the {vertex.kind} has ended; "
            "inside it read a node or a carried port of its own"
        )
    ports = choices(vertex.output_names)
    return f": {vertex.kind} {vertex.id!r} has no output port {reference.port!r}; {ports}"


def _home_of(terminal: Terminal) -> Scope | None:
    """Return the block in which a terminal is made."""
    match terminal.owner:
        case Vertex(home=home):
            return home
        case Scope(kind=ScopeKind.MAP, owner=Vertex(home=home, action=MapAction(named=False))):
            return home
        case _:
            return None
