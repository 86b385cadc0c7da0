"""What steps of cagent have given so far, as a value that goes from step to step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["State", "finished", "gathered", "gone_back", "output_at", "recorded"]


@dataclass(frozen=True, slots=True)
class State:
    """What steps have given so far.

    prompt: that of the run
    steps: the outputs by id, as `{output, agent}`, of a parallel block as `{steps, order}`, with `open` as
    long as it is not over
    last: what the last step gave
    passes: those of loops, by the step that each goes back to
    """

    prompt: str
    steps: Mapping[str, Any] = field(default_factory=dict)
    last: Any = None
    passes: Mapping[str, int] = field(default_factory=dict)


def output_at(state: State, path: Sequence[str]) -> str | None:
    """Return the output of the agent step at a path, None if it has given none."""
    entry = _entries_at(state, path[:-1]).get(path[-1], {})
    output: str | None = entry.get("output")
    return output


def recorded(state: State, path: Sequence[str], agent: str, output: str) -> State:
    """Return a state in which a step has given an output; one that it has given before is replaced."""
    entry = {"output": output, "agent": agent}
    return replace(state, steps=_put(state.steps, path, entry), last=output)


def gathered(before: State, path: Sequence[str], order: Sequence[str], after: Sequence[State]) -> State:
    """Return a state with what the children of a parallel block have given, in their order.

    `before` is what all of them began with, `after` what each of them ended with.
    """
    old = _entries_at(before, path)
    found = dict(old)
    for state in after:
        new = _entries_at(state, path)
        found |= {id: entry for id, entry in new.items() if id not in old or entry != old[id]}
    ids = [id for id in order if id in found]
    entry = {"steps": {id: found[id] for id in ids}, "order": ids}
    return replace(before, steps=_put(before.steps, path, entry), last=entry)


def gone_back(state: State, step: str, inner: Sequence[str]) -> State:
    """Return a state with one more pass of the loop that goes back to a step; inner loops begin afresh."""
    outer = {id: count for id, count in state.passes.items() if id not in inner}
    return replace(state, passes={**outer, step: outer.get(step, 1) + 1})


def finished(state: State) -> dict[str, Any]:
    """Return the outputs of the steps without those of parallel blocks that are not over."""
    return {id: entry for id, entry in state.steps.items() if "open" not in entry}


def _entries_at(state: State, path: Sequence[str]) -> Mapping[str, Any]:
    """Return the entries of the parallel block at a path, those of the workflow for none."""
    found = state.steps
    for id in path:
        found = found.get(id, {}).get("steps", {})
    return found


def _put(steps: Mapping[str, Any], path: Sequence[str], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Put an entry at a path, into blocks that are made where they are not there yet."""
    id, *rest = path
    if not rest:
        return {**steps, id: entry}
    block = steps.get(id, {"steps": {}, "order": []})
    inner = _put(block["steps"], rest, entry)
    return {**steps, id: {"steps": inner, "order": [*inner], "open": True}}
