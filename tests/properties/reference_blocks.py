"""What loops, maps and flow nodes come to (S6, S7), as part of the reference."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dataflow.formats.native.document import (
    BlockPart,
    FlowDocument,
    FlowNode,
    LoopPart,
    LoopTest,
    LoopTestPart,
    MapPart,
)
from dataflow.formats.native.parts import AllSource, EverySource, Source
from tests.properties.document_reading import behind, demanded, is_lifted, parted
from tests.properties.reference_tokens import (
    BrokenFlowError,
    Dead,
    Firing,
    Frame,
    is_error,
    is_skip,
    joined,
    listed,
)

if TYPE_CHECKING:
    from tests.properties.reference import Reference


def ended(reference: Reference, frame: Frame) -> dict[str, Any]:
    """Fire what a frame demands, and return its outputs."""
    for node in reference.demanded(frame.block):
        reference.fire(frame, node)
    sources = {n: s.all if isinstance(s, AllSource) else s for n, s in frame.block.outputs.items()}
    return {name: reference.token(frame, source) for name, source in sources.items()}


def opened(frame: Frame, id: str, block: BlockPart, name: object, kind: str, given: dict[str, Any]) -> Frame:
    """Open a frame inside another, and keep it there."""
    inner = Frame(block, f"{frame.path_of(id)}[{name}]", {kind: given}, frame.errors, frame)
    inner.head = id if is_lifted(frame.block.nodes[id]) else ""
    frame.opened.setdefault(id, []).append(inner)
    return inner


# flow nodes


def flow_frame(flow: FlowDocument, path: str, inputs: Mapping[str, Any], errors: str) -> Frame:
    """Open the frame of a flow; its own setting for errors counts in it (S9.4)."""
    defaults = {n: p.default for n, p in flow.inputs.items() if "default" in p.model_fields_set}
    own = flow.using.errors if "errors" in flow.using.model_fields_set else errors
    return Frame(flow, path, {"$in": {**copy.deepcopy(defaults), **inputs}}, own)


def fire_flow(
    reference: Reference, frame: Frame, id: str, node: FlowNode, flow: FlowDocument, given: dict[str, Any]
) -> Firing:
    """Run a flow as a node, each attempt in a frame of its own (S7.3)."""
    path, frames = frame.path_of(id), frame.opened.setdefault(id, [])
    collects = node.policy.errors == "collect"
    for attempt in range(1, node.policy.retry.retries + 2):
        name = path if attempt == 1 else f"{path}~{attempt}"
        inner = flow_frame(flow, name, {**copy.deepcopy(node.values), **given}, frame.errors)
        inner.errors = "continue" if collects else inner.errors
        frames.append(inner)
        outputs = ended(reference, inner)
        told = [flow.outputs[name] for name, token in outputs.items() if is_error(token)]
        standing = behind(flow, reference.reads(flow), told) if collects else set()
        if inner.failing() <= standing:
            return reference.done(path, {n: t.failure if is_error(t) else t for n, t in outputs.items()})
    return reference.failed(frame, id, inner.failures())


# maps


def fire_map(reference: Reference, frame: Frame, id: str, part: MapPart, lists: dict[str, Any]) -> Firing:
    """Run a body for each item (S7.1, S7.2)."""
    edges = lists["item"] if isinstance(part.over.get("item"), EverySource) else []
    if len({len(one) for one in lists.values()}) != 1:
        raise BrokenFlowError("NodeFailed")
    items = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    names: list[Any] = [*range(len(items))]
    if part.key is not None:
        names = [reference.function(part.key)(next(iter(item.values()))) for item in items]
    if len({*names}) < len(names):
        raise BrokenFlowError("NodeFailed")
    named = [pair for pair in zip(names, items, strict=True) if pair[0] not in dead_in(edges)]
    frames = [opened(frame, id, part, name, "$item", item) for name, item in named]
    outputs = [ended(reference, item) for item in frames]
    for item, given in zip(frames, outputs, strict=True):
        if item.failures() and part.on_error != "fail":
            instead = item.failures()[0] if part.on_error == "collect" else joined([], item.path)
            given.update(dict.fromkeys(given, instead))
    columns = {name: [given[name] for given in outputs] for name in part.outputs}
    ports = {name: [] if all(map(is_skip, column)) else listed(column) for name, column in columns.items()}
    failures = [failure for item in frames for failure in item.failures()]
    if not failures and any(map(is_error, edges)):
        return Firing("not_run", rest=joined(edges))
    if not failures or part.on_error != "fail":
        return reference.done(frame.path_of(id), ports)
    firing = reference.failed(frame, id, failures)
    if firing.failures and frame.errors == "fail_fast":
        firing.ports = ports  # the run ends with the frame, and a list need not wait for all of the items
    return firing


def dead_in(edges: Sequence[Any]) -> set[int]:
    """Tell at which places no value has come."""
    return {place for place, token in enumerate(edges) if isinstance(token, Dead)}


# loops


def fire_loop(reference: Reference, frame: Frame, id: str, loop: LoopPart) -> Firing:
    """Go round until the test, the limit or a failure ends it (S6.1, S6.2, S6.4)."""
    carried = {name: reference.token(frame, carry.first) for name, carry in loop.carry.items()}
    if carried and all(map(is_skip, carried.values())):
        return Firing("skipped", rest=joined(carried.values()))
    left: list[dict[str, Any]] = []
    verdict = _stops(reference, frame, loop.while_, carried, False)
    while verdict is False and len(left) != loop.limit:
        this = opened(frame, id, loop, len(left), "$carry", carried)
        left.append(ended(reference, this))
        try:
            verdict = _stops(reference, this, loop.until, {}, True)
        except BrokenFlowError as broken:
            return reference.failed(frame, id, [*this.failures(), reference.failure(frame, id, broken)])
        if verdict is False and (loop.until is None or len(left) != loop.limit):
            carried = _following(reference, this, loop)
        if this.failures():
            return reference.failed(frame, id, this.failures())
        if loop.until is None:
            verdict = _stops(reference, frame, loop.while_, carried, False)
    if is_error(verdict):
        firing = reference.failed(frame, id, [verdict.failure])
        firing.rest = replace(firing.rest, origins=verdict.origins)  # any of them may be told as the cause
        return firing
    if verdict is False and loop.on_limit == "fail":
        raise BrokenFlowError("LoopLimit")
    path = frame.path_of(id)
    columns = {name: [given[name] for given in left] for name in loop.outputs}
    leaving = {name: _leaving(path, source, carried, columns[name]) for name, source in loop.outputs.items()}
    return reference.done(path, leaving)


def _following(reference: Reference, frame: Frame, loop: LoopPart) -> dict[str, Any]:
    """Return what the next round begins with; all that only it needs runs now."""
    for node in demanded(loop, reference.reads(loop), next_too=True):
        reference.fire(frame, node)
    return {name: reference.token(frame, carry.next) for name, carry in loop.carry.items()}


def _stops(
    reference: Reference, frame: Frame, test: LoopTest | None, carried: dict[str, Any], stop: bool
) -> Any:
    """Tell whether a test ends the loop: true, false, or the token that it is in place of a value."""
    if test is None:
        return False
    source = test.source if isinstance(test, LoopTestPart) else test
    answer = reference.token(Frame(BlockPart(), "", {"$carry": carried}, "", frame), source)
    if isinstance(answer, Dead):
        return answer
    if isinstance(test, LoopTestPart):
        try:
            answer = reference.function(test.test)(answer)
        except Exception as error:
            raise BrokenFlowError(type(error).__name__) from error
    if not isinstance(answer, bool):
        raise BrokenFlowError("NodeFailed")
    return answer is stop


def _leaving(path: str, source: Source, carried: dict[str, Any], tokens: Sequence[Any]) -> Any:
    """Return what leaves a loop: a final, or the last live value, or an error of the last round."""
    if isinstance(source, str) and source.startswith("$carry.") and parted(source)[1] in carried:
        return carried[parted(source)[1]]
    if isinstance(source, AllSource):
        return [] if all(map(is_skip, tokens)) else listed(tokens)
    live = [token for token in tokens if not isinstance(token, Dead)]
    if live:
        return live[-1]
    return tokens[-1] if tokens and is_error(tokens[-1]) else joined(tokens, path)
