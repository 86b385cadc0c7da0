"""Crossing: what is behind an edge, and which declared blocks it enters on its way to a reader (S2, S7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import LoopAction, MapAction, Scope, Terminal, Vertex

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Crossing"]


class Crossing:
    """Follows the edges of one graph; what has been found out is kept."""

    def __init__(self) -> None:
        self._around: dict[Scope, frozenset[Scope]] = {}
        self._begins: dict[Terminal, Terminal] = {}  # where what leaves lifted loops begins

    def around(self, home: Scope) -> frozenset[Scope]:
        """Return a block and those around it."""
        found = self._around.get(home)
        if found is None:
            found = self._around[home] = frozenset(_homes(home))
        return found

    def behind(self, terminal: Terminal) -> list[Vertex]:
        """List the vertices that must be looked at before a reader of this terminal.

        For an output of a loop or map these are its owner and what the output comes from, at any depth. Of
        lifted loops only what is inmost: it comes behind all that it is in.
        """
        found: list[Vertex] = []
        todo, seen = [terminal], set[Terminal]()
        while todo:
            owner, port = current = self._begin(todo.pop())
            if current in seen:
                continue
            seen.add(current)
            match owner:
                case Vertex():
                    found.append(owner)
                    if isinstance(owner.action, LoopAction) and port in owner.action.results:
                        todo.append(owner.action.results[port])
                    elif isinstance(owner.action, MapAction) and port in owner.action.collects:
                        todo.append(owner.action.collects[port])
                case Scope(owner=Vertex() as opener):
                    found.append(opener)
                case _:
                    pass
        return found

    def _begin(self, terminal: Terminal) -> Terminal:
        """Follow what leaves lifted loops inwards, to where it begins."""
        passed: list[Terminal] = []
        while terminal not in self._begins:
            owner = terminal.owner
            if not (isinstance(owner, Vertex) and owner.is_lifted and isinstance(owner.action, LoopAction)):
                break
            if terminal.port not in owner.action.results:
                break
            passed.append(terminal)
            terminal = owner.action.results[terminal.port]
        begin = self._begins.get(terminal, terminal)
        self._begins.update(dict.fromkeys(passed, begin))
        return begin

    def entered(self, reader: Vertex, source: Vertex) -> Vertex | None:
        """Return the owner of the outmost body that an edge from the source enters on its way inwards.

        Those further in come behind it.
        """
        around, home = self.around(source.home), reader.home
        found = None
        while home not in around and home.owner is not None:
            found, home = home.owner, home.owner.home
        return None if found is source else found


def _homes(home: Scope) -> Iterator[Scope]:
    """Go outwards through the declared blocks, beginning with this one."""
    yield home
    while home.owner is not None:
        home = home.owner.home
        yield home
