"""Which constructs a random flow contains, and which of them came into play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tests.properties.playing import Expected
from tests.properties.random_flows import ENABLED, Program
from tests.properties.reference import Dead, Firing, Frame, is_error

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
    """List the constructs of a flow."""
    outcome = expected.outcome
    found = {f"{_article(join)} of which some are dead" for join in expected.joins}
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


def _article(join: str) -> str:
    return join if " " in join else f"a {join}"


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
