"""Look for loops in random graphs, play random flat flows, a part of 50,000 and 2,000, and count.

`python -m tests.properties.count_feedback [how many graphs] [how many flows]` prints the figures, and fails
if a kind of loop is rare.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from time import perf_counter
from typing import Final

import anyio

from tests.properties.driving import drive
from tests.properties.effort import in_part
from tests.properties.flat_playing import Flat, flat, hold_flat, play_cut
from tests.properties.plain_loops import Loop, found_loops, plain_loops, random_graph
from tests.properties.playing import play

__all__ = ["count_flows", "count_graphs"]

GRAPHS: Final = 50_000
FLOWS: Final = 2_000
#: One flow in so many is also run again after each of its records.
CUT: Final = 20
#: Each kind of loop is in one of so many graphs and flows, at least.
RARE: Final = 50
MAPS: Final = ("maps over edges", "maps over edges in loops")
KINDS: Final = ("nested", "three deep", "several heads", "several feedback edges", "side by side")


def kinds_of(loops: set[Loop]) -> set[str]:
    """Tell what is among the loops of a graph."""
    depths = {loop: sum(loop.body < other.body for other in loops) for loop in loops}
    found = {"nested"} if max(depths.values(), default=0) else set[str]()
    found |= {"three deep"} if max(depths.values(), default=0) > 1 else set()
    found |= {"several heads"} if any(len(loop.heads) > 1 for loop in loops) else set()
    found |= {"several feedback edges"} if any(len(loop.edges) > 1 for loop in loops) else set()
    return found | ({"side by side"} if list(depths.values()).count(0) > 1 else set())


def count_graphs(graphs: int) -> Counter[str]:
    """Compare the loops of so many graphs."""
    counts = Counter[str]()
    for seed in range(graphs):
        choose = random.Random(seed)
        graph = random_graph(choose)
        found = found_loops(graph)
        assert found == plain_loops(graph, choose), f"seed {seed}: {graph}"
        counts.update(kinds_of(found))
    return counts


async def count_flows(flows: int) -> Counter[str]:
    """Play so many flows in three orders and in a real run, some of them again after each record."""
    counts = Counter[str]()
    for seed in range(flows):
        choose = random.Random(seed)
        one = flat(choose)
        try:
            await _play(one, choose, is_cut=seed % CUT == 0)
        except BaseException:
            print(f"seed {seed}, inputs {json.dumps(one.program.inputs)}\n{json.dumps(one.program.document)}")  # noqa: T201 - it has to be told
            raise
        counts.update(kinds_of(set(one.drawn.loops)))
        cells = one.drawn.cells()
        counts["maps over edges"] += any(cell is not None for cell in cells)
        inside = {node for loop in one.drawn.loops for node in loop.body}
        counts["maps over edges in loops"] += any(cells[node] is not None for node in inside)
        counts["rounds"] += sum(path.endswith("]") for path in one.states)
    return counts


async def _play(one: Flat, choose: random.Random, *, is_cut: bool) -> None:
    for _ in range(3):
        hold_flat(one, drive(one.flow, one.program, choose))
    hold_flat(one, await play(one.flow, one.program))
    for played in await play_cut(one) if is_cut else ():
        hold_flat(one, played)


def main() -> int:
    """Print the figures; 1 if something is rare."""
    graphs = int(sys.argv[1]) if len(sys.argv) > 1 else in_part(GRAPHS)
    flows = int(sys.argv[2]) if len(sys.argv) > 2 else in_part(FLOWS)
    begun = perf_counter()
    in_graphs = count_graphs(graphs)
    print(f"{graphs} graphs in {perf_counter() - begun:.0f} s")  # noqa: T201 - it prints its figures
    in_flows = anyio.run(count_flows, flows)
    print(f"{flows} flows, {perf_counter() - begun:.0f} s in all, {in_flows['rounds']} rounds")  # noqa: T201 - as above
    for kind in MAPS:
        print(f"{in_flows[kind]:15}  {kind}")  # noqa: T201 - as above
    for kind in KINDS:
        print(f"{in_graphs[kind]:7} {in_flows[kind]:7}  {kind}")  # noqa: T201 - as above
    rare = [kind for kind in KINDS if in_graphs[kind] * RARE < graphs or in_flows[kind] * RARE < flows]
    rare += [kind for kind in MAPS if in_flows[kind] * RARE < flows]
    if rare:
        print(f"rare: {', '.join(rare)}")  # noqa: T201 - as above
    return int(bool(rare))


if __name__ == "__main__":
    sys.exit(main())
