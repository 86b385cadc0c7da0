"""Where what nodes read comes from: on its way it leaves the loops that its reader is not in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import write_source
from dataflow_formats.clickweave.exits import Exit, port_of
from dataflow_formats.clickweave.layouts import ON

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.authoring import JsonDict
    from dataflow_formats.clickweave.layouts import Layout

__all__ = ["WALK", "Sources", "carry", "port"]

#: The port of a walk, on its way in and on its way out.
WALK: Final = "walk"


@dataclass(frozen=True, slots=True)
class Sources:
    """Writes the sources of inputs, and the outputs of loops that these take.

    start: the node with which the document begins
    outputs: those of each loop
    left: the outputs that loops have besides their `LoopDone`, by what they are of
    """

    layout: Layout
    start: str
    outputs: Mapping[str | None, JsonDict]
    left: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def of(self, id: str) -> Any:
        """Write where the walk comes from to a node: each time from one of them."""
        begins = [port(self.start, "out")] if id == self.layout.entry else []
        return self._walk(self.layout.leading_to(id), self.layout.homes[id], begins)

    def ending(self) -> Any:
        """Write where the walk comes from to its end."""
        return self._walk(self.layout.ending, None)

    def lifted(self, node: str, port_name: str, home: str | None = None) -> str:
        """Write a port of a node, as what leaves the loops around it that are not also around the reader."""
        inside = self.layout.homes[node]
        while inside != home:
            assert inside is not None, "a walk leads into a loop by its Loop alone"
            node, port_name = inside, self._left(inside, node, port_name)
            inside = self.layout.homes[inside]
        return port(node, port_name)

    def _walk(self, leading: Iterable[tuple[str, str]], home: str | None, begins: Iterable[str] = ()) -> Any:
        sources = [*begins, *(self._source(id, output, home) for id, output in leading)]
        return sources[0] if len(sources) == 1 else {"merge": sources}

    def _source(self, id: str, output: str, home: str | None) -> str:
        if output == Exit.LOOP_BODY:
            return port("$carry", carry(WALK, self.layout.depth(id)))
        return self.lifted(id, WALK if output == ON else port_of(output), home)

    def _left(self, loop: str, node: str, port_name: str) -> str:
        """Give what leaves a loop besides `LoopDone` a name."""
        key = (loop, node, port_name)
        if key not in self.left:
            self.left[key] = f"exit {len(self.left) + 1}"
            self.outputs[loop][self.left[key]] = port(node, port_name)
        return self.left[key]


def carry(name: str, depth: int) -> str:
    """Name a carried port: one in a loop inside another may not be called like one of the outer loop."""
    return name if depth == 1 else f"{name} {depth}"


def port(node: str, name: str) -> str:
    """Write a port of a node as a source."""
    return write_source(node, name)
