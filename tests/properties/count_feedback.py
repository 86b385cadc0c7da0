"""Look for loops in random graphs, play random flat flows, a part of 50,000 and 2,000, and count.

`python -m tests.properties.count_feedback [how many graphs] [how many flows]` prints the figures, and fails
if a kind of loop is rare.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from tests.properties.cases import Flat, flat, play_cut
from tests.properties.driving import drive
from tests.properties.figures import asked, counted, shown, verdict
from tests.properties.plain_loops import Loop, found_loops, plain_loops, random_graph
from tests.properties.playing import play

GRAPHS: Final = 50_000
FLOWS: Final = 2_000
#: One flow in so many is also run again after each of its records.
CUT: Final = 20
#: Each kind of loop is in one of so many graphs and flows, at least.
RARE: Final = 50
KINDS: Final = ("nested", "three deep", "several heads", "several feedback edges", "side by side")
IN_FLOWS: Final = (*KINDS, "maps over edges", "maps over edges in loops")


def kinds_of(loops: set[Loop]) -> set[str]:
    """Tell what is among the loops of a graph."""
    depths = {loop: sum(loop.body < other.body for other in loops) for loop in loops}
    deepest = max(depths.values(), default=0)
    found = {
        "nested": deepest > 0,
        "three deep": deepest > 1,
        "several heads": any(len(loop.heads) > 1 for loop in loops),
        "several feedback edges": any(len(loop.edges) > 1 for loop in loops),
        "side by side": list(depths.values()).count(0) > 1,
    }
    return {kind for kind, is_there in found.items() if is_there}


async def count_graphs(seeds: Iterable[int]) -> Counter[str]:
    """Compare the loops of the graphs of these seeds."""
    counts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        graph = random_graph(choose)
        found = found_loops(graph)
        assert found == plain_loops(graph, choose), f"seed {seed}: {graph}"
        counts.update(kinds_of(found))
    return counts


async def count_flows(seeds: Iterable[int]) -> Counter[str]:
    """Play the flows of these seeds in three orders and in a real run, some again after each record."""
    counts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        one = flat(choose)
        with shown(seed, one.program):
            await _play(one, choose, is_cut=seed % CUT == 0)
        counts.update(kinds_of(set(one.drawn.loops)))
        cells = one.drawn.cells()
        counts["maps over edges"] += any(cell is not None for cell in cells)
        inside = {node for loop in one.drawn.loops for node in loop.body}
        counts["maps over edges in loops"] += any(cells[node] is not None for node in inside)
        counts["rounds"] += sum(path.endswith("]") for path in one.states)
    return counts


async def _play(one: Flat, choose: random.Random, *, is_cut: bool) -> None:
    for _ in range(3):
        one.hold(drive(one.flow, one.program, choose))
    one.hold(await play(one.flow, one.program))
    for played in await play_cut(one, choose) if is_cut else ():
        one.hold(played)


def main() -> int:
    """Print the figures; 1 if something is rare."""
    graphs, flows = asked(GRAPHS), asked(FLOWS, 2)
    in_graphs = counted("graphs", graphs, count_graphs)
    in_flows = counted("flows", flows, count_flows)
    rare = [f"{kind} in graphs" for kind in KINDS if in_graphs[kind] * RARE < graphs]
    return verdict([*rare, *(f"{kind} in flows" for kind in IN_FLOWS if in_flows[kind] * RARE < flows)])


if __name__ == "__main__":
    sys.exit(main())
