"""What a flat flow with feedback edges comes to, played round by round on demand (S6.3, S6.4)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from dataflow.core.ports import SKIP
from tests.properties.document_reading import signature_of
from tests.properties.feedback_flows import REQUIRED, SHAPES, FlatFlow, Wire, is_chained
from tests.properties.node_functions import Odds, call_plainly
from tests.properties.plain_loops import Loop
from tests.properties.playing import FUNCTIONS


@dataclass(frozen=True, slots=True)
class Dead:
    """A port without a value."""

    failed: bool = False


#: What an edge brings in a round in which it does not count.
ABSENT: Final = Dead()
SKIPPED: Final = Dead()
FAILED: Final = Dead(failed=True)


@dataclass(eq=False)
class Round:
    """One round of a loop, or the run: what has fired in it, and the loops that were played in it."""

    path: str
    loop: Loop | None = None
    outer: Round | None = None
    number: int = 0
    carried: dict[Wire, Any] = field(default_factory=dict)
    ports: dict[int, dict[str, Any]] = field(default_factory=dict)
    played: dict[Loop, list[Round] | Dead] = field(default_factory=dict)
    has_failed: bool = False
    maps: dict[int, Map] = field(default_factory=dict)
    item: Any = None  # of a frame of a map
    cell: int | None = None  # of a frame: the node that opens the map


@dataclass(eq=False)
class Map:
    """A map over edges: its frames by index, and what all its lists are if they are no lists."""

    frames: dict[str, Round] = field(default_factory=dict)
    lists: Dead | None = None


class FlatReference:
    """Plays a flow; `states` tells of every path what it came to."""

    def __init__(self, flow: FlatFlow) -> None:
        self.flow = flow
        self.loops = sorted(flow.loops, key=lambda loop: len(loop.body))
        own = flow.own
        wires = sorted(flow.wires, key=lambda one: not one.feedback and (one.target, one.port) in own)
        self.wires = {n: [wire for wire in wires if wire.target == n] for n in range(len(flow.types))}
        self.cells = flow.cells()
        self.states: dict[str, str] = {}
        self.root = Round("")

    def run(self) -> dict[str, Any]:
        """Return the outputs by name."""
        self._play(self.root)
        return {
            name: self._token(self.root, int(source.partition(".")[0][1:]), source.partition(".")[2], "last")
            for name, source in self.flow.program().document["outputs"].items()
        }

    # where nodes are

    def _innermost(self, node: int, within: Loop | None) -> Loop | None:
        """Return the outermost loop around a node that is inside another loop, None if there is none."""
        inside = [loop for loop in self.loops if node in loop.body and loop != within]
        inside = [loop for loop in inside if within is None or loop.body < within.body]
        return inside[-1] if inside else None

    def _head(self, loop: Loop) -> int:
        return min(loop.heads, key=self.flow.declared.index)

    def _path(self, this: Round, node: int) -> str:
        if this.cell is not None:
            return this.path if node == this.cell else f"{this.path}/n{node}"
        if this.loop is not None and self._head(this.loop) == node:
            return this.path
        return f"{this.path}/n{node}" if this.path else f"n{node}"

    # playing

    def _play(self, this: Round) -> None:
        """Come to the end of a round: everything in it fires."""
        body = range(len(self.flow.types)) if this.loop is None else sorted(this.loop.body)
        for node in body:
            inner, cell = self._innermost(node, this.loop), self.cells[node]
            if inner is not None:
                self._play_loop(this, inner)
            elif cell is not None:
                self._play_map(this, cell)
            else:
                self._fire(this, node)

    def _token(self, this: Round, node: int, port: str, leave: str) -> Any:
        """Return what an edge from a node brings to a reader in a round, or in the rounds around it."""
        home, cell = self._home(this, node), self.cells[node]
        inner = self._innermost(node, home.loop)
        if inner is None:
            return self._fire(home, node)[port] if cell is None else self._listed(home, cell, node, port)
        rounds = self._play_loop(home, inner)
        if isinstance(rounds, Dead):
            return rounds
        tokens = [self._token(one, node, port, leave) for one in rounds]
        live = [token for token in tokens if not isinstance(token, Dead)]
        if leave == "all":
            return FAILED if FAILED in tokens else copy.deepcopy(live)
        return live[-1] if live else tokens[-1]

    def _home(self, this: Round, node: int) -> Round:
        """Return the round around all in which a node is, or a loop around it."""
        home: Round | None = this
        while home is not None and (
            home.cell is not None or (home.loop is not None and node not in home.loop.body)
        ):
            home = home.outer
        assert home is not None, "the run is around all"
        return home

    def _wire(self, this: Round, wire: Wire) -> Any:
        if wire.is_item and this.cell is not None:
            return copy.deepcopy(this.item)
        if wire.source is None:
            return copy.deepcopy(self.flow.x)
        if is_chained(wire) and this.cell is not None and self.cells[wire.source] == this.cell:
            return self._fire(this, wire.source)[wire.source_port]
        return self._token(this, wire.source, wire.source_port, wire.leave)

    # maps

    def _play_map(self, this: Round, cell: int) -> Map:
        if cell not in this.maps:
            this.maps[cell] = self._opened(this, cell)
        return this.maps[cell]

    def _listed(self, this: Round, cell: int, node: int, port: str) -> Any:
        """Return the list of a port in all frames of the map that it is in."""
        found = self._play_map(this, cell)
        if found.lists is not None:
            return found.lists
        tokens = [frame.ports[node][port] for frame in found.frames.values()]
        if FAILED in tokens:
            return FAILED
        return copy.deepcopy([token for token in tokens if not isinstance(token, Dead)])

    def _opened(self, this: Round, cell: int) -> Map:
        wires = [wire for wire in self.wires[cell] if wire.is_item]
        brought, tokens = dict[str, Any](), list[Any]()
        for place, wire in enumerate(wires):
            tokens.append(self._wire(this, wire))
            brought.update(self._brought(this, place, wire, tokens[-1]))
        path, found = self._path(this, cell), Map()
        if not brought and all(isinstance(token, Dead) for token in tokens):
            found.lists = FAILED if FAILED in tokens else SKIPPED
            self.states[path] = "not_run" if FAILED in tokens else "skipped"
            return found
        members = [n for n, other in enumerate(self.cells) if other == cell]
        for index, item in brought.items():
            within = this.loop, this, this.number, this.carried
            frame = found.frames[index] = Round(f"{path}[{index}]", *within, item=item, cell=cell)
            for node in members:
                self._fire(frame, node)
        has_failed = any(frame.has_failed for frame in found.frames.values())
        this.has_failed = this.has_failed or has_failed
        found.lists = FAILED if has_failed or FAILED in tokens else None
        self.states[path] = "failed" if has_failed else "done" if found.lists is None else "not_run"
        return found

    def _brought(self, this: Round, place: int, wire: Wire, token: Any) -> dict[str, Any]:
        """Return what an edge of a map brings, by index: of a map all items, even if it has failed later."""
        cell = None if wire.source is None or wire.is_list else self.cells[wire.source]
        if cell is None or wire.source is None:
            return {} if isinstance(token, Dead) else {str(place): token}
        home = self._home(this, wire.source)
        if home is not this and isinstance(token, Dead):
            return {}
        tokens = {
            index: frame.ports[wire.source][wire.source_port]
            for index, frame in self._play_map(home, cell).frames.items()
        }
        return {f"{place}.{index}": one for index, one in tokens.items() if not isinstance(one, Dead)}

    # loops

    def _play_loop(self, this: Round, loop: Loop) -> list[Round] | Dead:
        if loop not in this.played:
            this.played[loop] = self._rounds(this, loop)
        return this.played[loop]

    def _rounds(self, this: Round, loop: Loop) -> list[Round] | Dead:
        path = self._path(this, self._head(loop))
        wires = [wire for head in sorted(loop.heads) for wire in self._carried(loop, head)]
        carried = {wire: ABSENT if wire.feedback else self._wire(this, wire) for wire in wires}
        firsts = [token for wire, token in carried.items() if not wire.feedback]
        if FAILED in firsts or (firsts and all(isinstance(token, Dead) for token in firsts)):
            self.states[path] = "not_run" if FAILED in firsts else "skipped"
            return FAILED if FAILED in firsts else SKIPPED
        feedback = [wire for wire in wires if wire.feedback]
        limit = min(wire.limit for wire in feedback if wire.limit is not None)
        rounds: list[Round] = []
        while True:
            rounds.append(Round(f"{path}[{len(rounds)}]", loop, this, len(rounds), carried))
            self._play(rounds[-1])
            carried = {wire: self._wire(rounds[-1], wire) if wire.feedback else ABSENT for wire in wires}
            goes_on = not all(isinstance(carried[wire], Dead) for wire in feedback)
            is_late = goes_on and len(rounds) == limit and any(wire.on_limit == "fail" for wire in feedback)
            if rounds[-1].has_failed or is_late:
                this.has_failed = True
                self.states[path] = "failed"
                return FAILED
            if not goes_on or len(rounds) == limit:
                self.states[path] = "done"
                return rounds

    def _carried(self, loop: Loop, head: int) -> Iterator[Wire]:
        """Yield the edges into a head that count in some of the rounds only."""
        for wire in self.wires[head]:
            back = any(one.feedback and one.port == wire.port for one in self.wires[head])
            if back and (wire.feedback or wire.source not in loop.body):
                yield wire

    # firing

    def _fire(self, this: Round, node: int) -> dict[str, Any]:
        if node not in this.ports:
            this.ports[node] = {}  # it reads nothing that reads it
            state, ports = self._fired(this, node)
            this.ports[node] = ports
            self.states[self._path(this, node)] = state
            this.has_failed = this.has_failed or (state == "failed" and FAILED in ports.values())
        return this.ports[node]

    def _fired(self, this: Round, node: int) -> tuple[str, dict[str, Any]]:
        kind, given = self.flow.types[node], dict[str, list[Any]]()
        for wire in self.wires[node]:
            if wire.is_item and wire.port in given:
                continue  # the item is there already, and which edge has brought it does not count
            token = this.carried[wire] if wire in this.carried else self._wire(this, wire)
            given.setdefault(wire.port, []).append(token)
        tokens = [token for several in given.values() for token in several]
        if FAILED in tokens:
            return "not_run", self._all(node, FAILED)
        live = {port: [one for one in tokens if not isinstance(one, Dead)] for port, tokens in given.items()}
        required = REQUIRED.get(kind, set())
        connected = {
            port for port, several in given.items()
            if port in required or any(token is not ABSENT for token in several)
        }  # fmt: skip
        if any(len(values) > 1 for port, values in live.items() if port != "xs"):
            return self._failed(node)
        if any(not live[port] for port in required) or (connected and not any(live.values())):
            return "skipped", self._all(node, SKIPPED)
        return self._called(this, node, live)

    def _called(self, this: Round, node: int, live: dict[str, list[Any]]) -> tuple[str, dict[str, Any]]:
        kind, made = self.flow.types[node], self.flow.nodes[node]
        given = {port: values if port == "xs" else values[0] for port, values in live.items() if values}
        if kind == "control.if":
            predicate = FUNCTIONS[made["config"]["predicate"].replace(":", ".")]
            taken = "yes" if predicate(given["value"]) else "no"
            return "done", {"yes": SKIPPED, "no": SKIPPED, taken: given["value"]}
        function = FUNCTIONS[kind]
        odds = Odds(**made["config"])
        arguments = [
            given.get(name, parameter.default)
            for name, (parameter, _) in signature_of(function).items()
            if name not in ("odds", "xs")
        ] + given.get("xs", [])
        try:
            result = call_plainly(self._path(this, node), 1, function, odds, *copy.deepcopy(arguments))
        except Exception:  # noqa: BLE001 - a node may raise anything
            return self._failed(node)
        if kind == "t.parts":
            return "done", {name: SKIPPED if v is SKIP else v for name, v in result._asdict().items()}
        return "done", {"out": SKIPPED if result is SKIP else result}

    def _failed(self, node: int) -> tuple[str, dict[str, Any]]:
        policy = self.flow.nodes[node].get("policy", {})
        if "default" in policy:
            return "failed", self._all(node, policy["default"])
        return "failed", self._all(node, SKIPPED if policy.get("on_error") == "skip" else FAILED)

    def _all(self, node: int, token: Any) -> dict[str, Any]:
        return dict.fromkeys(SHAPES[self.flow.types[node]][2], token)
