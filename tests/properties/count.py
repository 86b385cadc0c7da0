"""Count what random flows contain: `python -m tests.properties.count`."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final

import anyio

from dataflow.core.events import EventKind
from tests.properties.cases import Flat, flat, play_cut
from tests.properties.driving import drive
from tests.properties.effort import in_part
from tests.properties.live_sessions import UndecidedError, live_through
from tests.properties.live_sessions import script_of as session_of
from tests.properties.plain_loops import Loop, found_loops, plain_loops, random_graph
from tests.properties.playing import Expected, expect, flow_of, hold, play
from tests.properties.random_flows import ASKING, ENABLED, Program, sample
from tests.properties.reference import Dead, Firing, Frame, is_error
from tests.properties.sittings import Life, script_of

_ALWAYS: Final = {
    "$error is read", "None at the end", "a constant on a port", "a default of a policy",
    "a failure that fails the run", "a failure that is handled", "a failure that on_error skips",
    "a failure that only Failure ports read", "a failure that retries mend",
    "a fallback of which some are dead", "a falsy value at the end", "a flow node",
    "a flow node attempted again", "a flow node that collects failures", "a flow node that fails",
    "a gather of which some are dead", "a list of all rounds", "a loop at its limit", "a loop in a loop",
    "a loop in a map", "a loop of several rounds", "a loop over nothing but skips", "a loop that fails",
    "a loop without a test", "a many-port of which some are dead", "a map in a loop", "a map in a map",
    "a map of at most so many at once", "a map over nothing", "a map over several items",
    "a map over two lists", "a map that collects failures", "a map that skips failed items",
    "a merge of which some are dead", "a node behind a failure", "a node that is disabled",
    "a node that is skipped", "a node that only next values need, left out",
    "a result with a field left out", "a switch", "a value at the end", "a while loop", "after",
    "at most so many at once", "errors continue", "several edges on one port of which some are dead",
    "ten nodes or more", "the ports of a node of which some are dead", "thirty firings or more",
    "two rounds of an inner loop after another",
}  # fmt: skip
_OF: Final = {
    "each": {
        "a map that each opens",
        "two calls of each over one list",
        "two calls of each that share a map",
    },
    "every": {"a map over edges", "a map over edges of which some are dead"},
    "race": {"a race of which some are dead"},
    "lazy": {"a lazy port", "a node that nobody demanded"},
    "map": {"a map that fails", "a map with keys"},
}
#: What a sample is to contain.
CONSTRUCTS: Final = _ALWAYS.union(*(found for name, found in _OF.items() if ENABLED.get(name)))


def contained(program: Program, expected: Expected) -> set[str]:
    outcome = expected.outcome
    found = {f"{'' if ' ' in join else 'a '}{join} of which some are dead" for join in expected.joins}
    found |= set(_of_document(program.document, ""))
    for path, (firing, frame) in outcome.firings.items():
        found |= set(_of_firing(path, firing, frame))
    values = [token for token in outcome.outputs.values() if not isinstance(token, Dead)]
    found |= {"a value at the end"} if values else set()
    found |= {"None at the end"} if None in values else set()
    found |= {"a falsy value at the end"} if any(not value for value in values) else set()
    found |= {"a failure that fails the run"} if outcome.root.failures() else set()
    found |= {"thirty firings or more"} if len(outcome.firings) >= 30 else set()
    failed = {path for path, attempt in expected.fired if attempt > 1}
    if any(outcome.firings[path][0].state == "done" for path in failed):
        found.add("a failure that retries mend")
    return found


def _of_document(block: Mapping[str, Any], around: str) -> Iterator[str]:
    if block.get("using", {}).get("errors") == "continue":
        yield "errors continue"
    if block.get("using", {}).get("max_concurrency"):
        yield "at most so many at once"
    if len(block["nodes"]) >= 10:
        yield "ten nodes or more"
    yield from _of_items(block["nodes"].values())
    for node in block["nodes"].values():
        policy = node.get("policy", {})
        yield from ["a constant on a port"] if node.get("values") else []
        yield from ["after"] if node.get("after") else []
        each = any(isinstance(given, dict) and "each" in given for given in node.get("inputs", {}).values())
        yield from ["a map that each opens"] if each else []
        every = any(isinstance(given, dict) and "every" in given for given in node.get("inputs", {}).values())
        yield from ["a map over edges"] if every else []
        yield from ["a lazy port"] if "lazy" in node.get("type", "") else []
        yield from ["a switch"] if node.get("type") == "control.switch" else []
        yield from ["a node that is disabled"] if policy.get("enabled") is False else []
        for kind in ("loop", "map", "flow"):
            if kind in node:
                yield from _of_document(node[kind], kind)
                yield f"a {kind} in a {around}"
        yield from _of_block(node, policy)


def _of_items(nodes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """List how often calls of `each` go over one list: as one map, or as maps of their own (S7.1)."""
    given = [one for node in nodes for one in node.get("inputs", {}).values() if isinstance(one, dict)]
    calls = Counter((repr(one["each"]), one.get("share")) for one in given if "each" in one)
    for (_, share), count in calls.items():
        if count > 1:
            yield "two calls of each over one list" if share is None else "two calls of each that share a map"


def _of_block(node: Mapping[str, Any], policy: Mapping[str, Any]) -> Iterator[str]:
    if "loop" in node:
        loop = node["loop"]
        yield (
            "a while loop"
            if "while" in loop
            else "an until loop"
            if "until" in loop
            else "a loop without a test"
        )
        yield from ["a list of all rounds"] if "all" in loop["outputs"] else []
    if "map" in node:
        part = node["map"]
        yield from ["a map over two lists"] if len(part["over"]) > 1 else []
        yield from ["a map with keys"] if "key" in part else []
        yield from ["a map of at most so many at once"] if "max_concurrency" in part else []
    if "flow" in node:
        yield "a flow node"
        yield from ["a flow node that collects failures"] if policy.get("errors") else []


def _of_firing(path: str, firing: Firing, frame: Frame) -> Iterator[str]:
    id = next(id for id in frame.block.nodes if frame.path_of(id) == path)
    node: Any = frame.block.nodes[id]
    inner = frame.opened.get(id, [])
    if firing.state == "skipped":
        yield "a loop over nothing but skips" if hasattr(node, "loop") else "a node that is skipped"
    if firing.state == "not_run":
        yield "a node behind a failure" if is_error(firing.rest) else _never(frame)
    if firing.state == "failed" and not hasattr(node, "type"):
        kind = next(kind for kind in ("loop", "map", "flow") if hasattr(node, kind))
        yield f"a {kind if kind != 'flow' else 'flow node'} that fails"
    if firing.state == "failed" and not firing.failures:
        yield "a failure that is handled"
        yield from _handling(firing, node)
    if hasattr(node, "loop"):
        yield from ["a loop of several rounds"] if len(inner) > 1 else []
        yield from ["a loop at its limit"] if len(inner) == node.loop.limit and firing.state == "done" else []
        yield from (
            ["two rounds of an inner loop after another"]
            if frame.path.endswith("[1]") and len(inner) > 1
            else []
        )
    if hasattr(node, "map") and firing.state == "done":
        yield "a map over several items" if len(inner) > 1 else "a map over nothing" if not inner else "a map"
        if any(item.failures() for item in inner):
            yield (
                "a map that collects failures"
                if node.map.on_error == "collect"
                else "a map that skips failed items"
            )
    if hasattr(node, "flow") and len(inner) > 1:
        yield "a flow node attempted again"
    if getattr(node, "type", "") == "t.parts" and firing.state == "done" and "out" not in firing.ports:
        yield "a result with a field left out"


def _never(frame: Frame) -> str:
    until = getattr(frame.block, "until", None)
    return "a node that only next values need, left out" if until else "a node that nobody demanded"


def _handling(firing: Firing, node: Any) -> Iterator[str]:
    policy = getattr(node, "policy", None)
    if is_error(firing.rest):
        yield "a failure that only Failure ports read"
    elif policy is not None and "default" in policy.model_fields_set:
        yield "a default of a policy"
    elif policy is not None and policy.on_error == "skip":
        yield "a failure that on_error skips"
    else:
        yield "$error is read"


#: How many of each are played on a night; a part of them in CI.
WHOLE: Final = {"flows": 2_000, "runs": 2_000, "graphs": 50_000, "flat flows": 2_000, "sessions": 600}


@contextmanager
def shown(seed: int, program: Program) -> Iterator[None]:
    try:
        yield
    except BaseException:
        print(f"seed {seed}, {program}")  # noqa: T201 - figures are printed
        raise


def counted(
    what: str, count: Callable[[Iterable[int]], Awaitable[Counter[str]]], place: int = 2
) -> Counter[str]:
    """Count in what is played of the seeds: as many as an argument of the command says, or a part of all."""
    number = int(sys.argv[place]) if len(sys.argv) > place else in_part(WHOLE[what])
    begun = perf_counter()
    found = anyio.run(count, range(number))
    for name in sorted(found):
        print(f"{found[name]:7}  {name}")  # noqa: T201 - as above
    print(f"{number} {what} in {perf_counter() - begun:.0f} s")  # noqa: T201 - as above
    found["played"] = number
    return found


def rare(found: Counter[str], names: Iterable[str], least: float) -> list[str]:
    return sorted(name for name in names if found[name] < least)


#: Of so many flows each construct is in as many as this, of fewer in their part; and so many percent
#: come to a value.
LEAST: Final = 20
WITH_A_VALUE: Final = 85
#: So many percent are decided by the rules alone, as of sessions.
HELD: Final = 98


async def count_flows(seeds: Iterable[int]) -> Counter[str]:
    counts = Counter[str]()
    for seed in seeds:
        program = sample(seed)
        with shown(seed, program):
            flow, expected = flow_of(program.document), expect(program)
            if expected.is_decided:
                for order in range(3):
                    hold(expected, drive(flow, program, random.Random(order)))
                hold(expected, await play(flow, program))
                counts.update(["held", *contained(program, expected)])
    return counts


def flows() -> list[str]:
    found = counted("flows", count_flows)
    held = found["held"]
    few = rare(found, CONSTRUCTS, LEAST * min(1, held / WHOLE["flows"]))
    few += ["a value at the end"] * (100 * found["a value at the end"] < WITH_A_VALUE * held)
    return few + ["held"] * (100 * held < HELD * found["played"])


#: After a record of each kind the process has died so often at least; fewer runs miss a kind now and then.
LEAST_CUTS: Final = 5
#: The kinds of records that random flows write.
KINDS: Final = frozenset(kind.value for kind in EventKind) - {
    "piece", "pieces_void", "timer_set", "memo_hit", "memo_missed", "memo_skipped",
}  # fmt: skip


async def count_cuts(seeds: Iterable[int]) -> Counter[str]:
    """Live through the runs of these seeds, and count the records after which their process died."""
    cuts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=25, weights=ASKING)
        life = Life(program, choose)
        if life.expected.is_decided:
            with shown(seed, program):
                await life.through(script_of(choose.randrange, 7))
            cuts += life.cuts
    return cuts


def runs() -> list[str]:
    cuts = counted("runs", count_cuts)
    return rare(cuts, KINDS, LEAST_CUTS) if cuts["played"] >= WHOLE["runs"] else []


#: One flat flow in so many is also run again after each of its records.
CUT: Final = 20
#: Each kind of loop is in one of so many graphs and flows, at least.
RARE: Final = 50
LOOPS: Final = ("nested", "three deep", "several heads", "several feedback edges", "side by side")
IN_FLOWS: Final = (*LOOPS, "maps over edges", "maps over edges in loops")


def kinds_of(loops: set[Loop]) -> set[str]:
    """Tell what is among the loops of a graph."""
    depths = {loop: sum(loop.body < other.body for other in loops) for loop in loops}
    deepest = max(depths.values(), default=0)
    is_there = (
        deepest > 0, deepest > 1, any(len(loop.heads) > 1 for loop in loops),
        any(len(loop.edges) > 1 for loop in loops), list(depths.values()).count(0) > 1,
    )  # fmt: skip
    return {kind for kind, is_kind in zip(LOOPS, is_there, strict=True) if is_kind}


async def count_graphs(seeds: Iterable[int]) -> Counter[str]:
    counts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        graph = random_graph(choose)
        found = found_loops(graph)
        assert found == plain_loops(graph, choose), f"seed {seed}: {graph}"
        counts.update(kinds_of(found))
    return counts


async def count_flat(seeds: Iterable[int]) -> Counter[str]:
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


def feedback() -> list[str]:
    in_graphs, in_flows = counted("graphs", count_graphs), counted("flat flows", count_flat, 3)
    few = [f"{kind} in graphs" for kind in rare(in_graphs, LOOPS, in_graphs["played"] / RARE)]
    return few + [f"{kind} in flows" for kind in rare(in_flows, IN_FLOWS, in_flows["played"] / RARE)]


#: Each of these has befallen the sessions as often as a construct is in flows.
BEFALLS: Final = (
    "a failure", "a firing inside that stood", "a firing of the root that stood", "a flow node",
    "a get was given up", "a loop", "a map", "a node got another function", "a race that may stop nodes",
    "a value was watched", "an update overtook", "answered", "got a failed", "got a skip", "got a value",
    "got an earlier revision", "paused",
)  # fmt: skip


async def count_befallen(seeds: Iterable[int]) -> Counter[str]:
    """Live through the sessions of these seeds, and count what has befallen them."""
    found = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=15, weights=ASKING)
        with shown(seed, program):
            try:
                found += await live_through(program, session_of(choose.randrange, 8), choose)
                found["held"] += 1
            except* UndecidedError:
                found["left to time"] += 1
    return found


def sessions() -> list[str]:
    found = counted("sessions", count_befallen)
    few = rare(found, BEFALLS, LEAST * min(1, found["played"] / WHOLE["sessions"]))
    return few + ["held"] * (100 * found["held"] < HELD * found["played"])


def main() -> int:
    counts = {count.__name__: count for count in (flows, runs, feedback, sessions)}
    few = counts[sys.argv[1] if len(sys.argv) > 1 else "flows"]()
    if few:
        print(f"too rare: {', '.join(few)}")  # noqa: T201 - as above
    return int(bool(few))


if __name__ == "__main__":
    sys.exit(main())
