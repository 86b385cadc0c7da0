"""The node types of cagent flows, and the state that they pass from step to step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from pydantic import ConfigDict, Field

from dataflow import Config, DataflowError, NodeOutput, Port, Ports, node
from dataflow_formats.cagent.conditions import filled, holds
from dataflow_formats.cagent.diagnostics import LOOPS_EXCEEDED

__all__ = [
    "Loop",
    "LoopsExceeded",
    "State",
    "back",
    "condition",
    "finish",
    "finished",
    "gather",
    "gathered",
    "instruction",
    "output_at",
    "outputs",
    "record",
    "recorded",
    "start",
]

#: The only output port of most nodes; ports for the fields would store them twice.
OUT: Final = "out"


@dataclass(frozen=True, slots=True)
class State:
    """The outputs of the steps so far.

    prompt: the prompt of the run
    steps: the outputs by id, as `{output, agent}`, of a parallel block as `{steps, order}`, with `open` while
        the block is running
    last: the output of the last step
    passes: the number of passes of each loop, by the step that it goes back to
    """

    prompt: str
    steps: Mapping[str, Any] = field(default_factory=dict)
    last: Any = None
    passes: Mapping[str, int] = field(default_factory=dict)


def recorded(state: State, path: Sequence[str], agent: str, output: str) -> State:
    """Return a state with the output of a step; an earlier output of the step is replaced."""
    entry = {"output": output, "agent": agent}
    return replace(state, steps=_put(state.steps, path, entry), last=output)


def gathered(before: State, path: Sequence[str], order: Sequence[str], after: Sequence[State]) -> State:
    """Return a state with the outputs of the children of a parallel block, in their order.

    `before` is the state in which all of them began, `after` are the states in which they ended.
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
    """Return a state with one more pass of the loop that goes back to a step; inner loops restart."""
    outer = {id: count for id, count in state.passes.items() if id not in inner}
    return replace(state, passes={**outer, step: outer.get(step, 1) + 1})


def finished(state: State) -> dict[str, Any]:
    """Return the outputs of the steps without those of parallel blocks that are running."""
    return {id: entry for id, entry in state.steps.items() if "open" not in entry}


def output_at(state: State, path: Sequence[str]) -> str | None:
    """Return the output of the agent step at a path, None if it has not run."""
    entry = _entries_at(state, path[:-1]).get(path[-1], {})
    output: str | None = entry.get("output")
    return output


def _entries_at(state: State, path: Sequence[str]) -> Mapping[str, Any]:
    """Return the entries of the parallel block at a path, those of the workflow for an empty path."""
    found = state.steps
    for id in path:
        found = found.get(id, {}).get("steps", {})
    return found


def _put(steps: Mapping[str, Any], path: Sequence[str], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with an entry at a path; missing blocks are added."""
    id, *rest = path
    if not rest:
        return {**steps, id: entry}
    block = steps.get(id, {"steps": {}, "order": []})
    inner = _put(block["steps"], rest, entry)
    return {**steps, id: {"steps": inner, "order": [*inner], "open": True}}


class LoopsExceeded(DataflowError):
    """Raised when a loop exceeds its limit of passes."""

    def __init__(self, step: str, limit: int) -> None:
        self.step = step
        self.limit = limit
        super().__init__(LOOPS_EXCEEDED("workflow", step=step, limit=limit))


class _Strict(Config):
    model_config = ConfigDict(strict=True)


class Place(_Strict):
    """Config of `cagent.record`: the step and the agent of an output."""

    path: list[str] = Field(min_length=1, description="the parallel blocks around the step, and its id")
    agent: str = Field(description="the agent that the step runs")


class Block(_Strict):
    """Config of `cagent.gather`: the parallel block that has ended."""

    path: list[str] = Field(min_length=1, description="the blocks around it, and its own id")
    order: list[str] = Field(description="the ids of the steps in it")


class Outputs(_Strict):
    """Config of `cagent.outputs`: the steps whose outputs are read."""

    steps: dict[str, list[str]] = Field(
        default={}, description="the path of a step by the port that has its output"
    )


class Condition(_Strict):
    """Config of `cagent.condition`."""

    condition: str = Field(description="a reference to an output, such as {{ $steps.qa.output.is_approved }}")


class Text(_Strict):
    """Config of `cagent.instruction`."""

    text: str = Field(description="the instructions, with references to outputs")


class Loop(_Strict):
    """Config of `cagent.back`: the loop that begins another pass."""

    step: str = Field(description="the step that it goes back to")
    limit: int = Field(ge=1, description="how many passes it may have")
    inner: list[str] = Field(default=[], description="steps whose own loops begin afresh")


class Finished(NamedTuple):
    """The result of a workflow: all outputs, and the output of the last step."""

    steps: dict[str, Any]
    output: Any


@node(ports=Ports({"prompt": str}, {OUT: State}))
async def start(inputs: Mapping[str, Any]) -> NodeOutput:
    """Begin a workflow with a state without outputs."""
    return NodeOutput({OUT: State(inputs["prompt"])})


@node(ports=Ports({"state": State, "text": str}, {OUT: State}))
async def record(inputs: Mapping[str, Any], config: Place) -> NodeOutput:
    """Add the output of a step to those of the steps before it."""
    return NodeOutput({OUT: recorded(inputs["state"], config.path, config.agent, inputs["text"])})


@node(ports=Ports({"before": State, "after": Port(State, many=True, default=())}, {"state": State}))
async def gather(inputs: Mapping[str, Any], config: Block) -> NodeOutput:
    """Merge the outputs of steps that ran concurrently."""
    state = gathered(inputs["before"], config.path, config.order, inputs["after"])
    return NodeOutput({"state": state})


def _output_ports(config: Outputs) -> Ports:
    texts = dict.fromkeys(config.steps, Port(str, conditional=True))
    return Ports({"state": State}, {**texts, "prompt": str})


@node(ports=_output_ports)
async def outputs(inputs: Mapping[str, Any], config: Outputs) -> NodeOutput:
    """Return the prompt of the run and outputs by name; a step without an output has no value."""
    state: State = inputs["state"]
    found = {name: output_at(state, path) for name, path in config.steps.items()}
    given = {name: output for name, output in found.items() if output is not None}
    return NodeOutput({**given, "prompt": state.prompt})


@node(ports=Ports({"state": State}, {"true": Port(State, exit="true"), "false": Port(State, exit="false")}))
async def condition(inputs: Mapping[str, Any], config: Condition) -> NodeOutput:
    """Continue at `true` or at `false`, by a condition.

    Raises ExpressionError for a condition that is neither, or that reads a step without an output.
    """
    state: State = inputs["state"]
    return NodeOutput({"true" if holds(config.condition, state.steps) else "false": state})


@node
async def instruction(config: Text, state: State) -> str:
    """Fill the references in instructions; a missing output is an empty string."""
    return filled(config.text, state.steps)


@node(ports=Ports({"state": State}, {OUT: State}))
async def back(inputs: Mapping[str, Any], config: Loop) -> NodeOutput:
    """Go back to a step; raise LoopsExceeded after the last pass that its loop may have."""
    state = gone_back(inputs["state"], config.step, config.inner)
    if state.passes[config.step] > config.limit:
        raise LoopsExceeded(config.step, config.limit)
    return NodeOutput({OUT: state})


@node
async def finish(state: State) -> Finished:
    """End a workflow with the outputs of its steps."""
    return Finished(finished(state), state.last)
