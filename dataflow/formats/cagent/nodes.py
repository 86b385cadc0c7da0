"""The node types of cagent: what goes on between the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field

from dataflow.config import Config
from dataflow.declare import node
from dataflow.errors import DataflowError
from dataflow.formats.cagent.conditions import filled, holds
from dataflow.formats.cagent.state import State, begun, finished, gathered, output_at, recorded
from dataflow.node_output import NodeOutput
from dataflow.ports import Port, Ports

__all__ = [
    "Finished", "LoopsExceeded", "back", "condition", "finish", "gather", "instruction", "outputs", "record",
    "start",
]  # fmt: skip


class LoopsExceeded(DataflowError):
    """Raised when a workflow goes back to a step once more than it may."""

    def __init__(self, step: str, limit: int) -> None:
        self.step = step
        self.limit = limit
        super().__init__(f"workflow: max loop iterations exceeded (step: {step}, limit: {limit})")


class _Strict(Config):
    model_config = ConfigDict(strict=True)


class Place(_Strict):
    """Config of `cagent.record`: whose output it is."""

    path: list[str] = Field(min_length=1, description="the parallel blocks around the step, and its id")
    agent: str = Field(description="the agent that the step runs")


class Block(_Strict):
    """Config of `cagent.gather`: the parallel block that is over."""

    path: list[str] = Field(min_length=1, description="the blocks around it, and its own id")
    order: list[str] = Field(description="the ids of the steps in it")


class Outputs(_Strict):
    """Config of `cagent.outputs`: which outputs are told."""

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
    """Config of `cagent.back`: the loop that goes round once more."""

    step: str = Field(description="the step that it goes back to")
    limit: int = Field(ge=1, description="how many passes it may have")
    inner: list[str] = Field(default=[], description="steps whose own loops begin afresh")


class Finished(NamedTuple):
    """What a workflow gives: all outputs, and what the last step gave."""

    steps: dict[str, Any]
    output: Any


@node
async def start(prompt: str) -> State:
    """Begin a workflow, of which no step has run."""
    return begun(prompt)


@node
async def record(config: Place, state: State, text: str) -> State:
    """Add the output of a step to those of the steps before it."""
    return recorded(state, config.path, config.agent, text)


@node(ports=Ports({"before": State, "after": Port(State, many=True, default=())}, {"state": State}))
async def gather(inputs: Mapping[str, Any], config: Block) -> NodeOutput:
    """Put together what steps have given that ran side by side."""
    state = gathered(inputs["before"], config.path, config.order, inputs["after"])
    return NodeOutput({"state": state})


def _told(config: Outputs) -> Ports:
    told = {name: Port(str, conditional=True) for name in config.steps}
    return Ports({"state": State}, {**told, "prompt": str})


@node(ports=_told)
async def outputs(inputs: Mapping[str, Any], config: Outputs) -> NodeOutput:
    """Tell the prompt of the run and outputs by name; a step that has given none has no value."""
    state: State = inputs["state"]
    found = {name: output_at(state, path) for name, path in config.steps.items()}
    told = {name: output for name, output in found.items() if output is not None}
    return NodeOutput({**told, "prompt": state["prompt"]})


@node(ports=Ports({"state": State}, {"true": Port(State, exit="true"), "false": Port(State, exit="false")}))
async def condition(inputs: Mapping[str, Any], config: Condition) -> NodeOutput:
    """Go on with `true` or with `false`, as a condition says.

    Raises ExpressionError for one that is neither, or that reads a step that has given nothing.
    """
    state: State = inputs["state"]
    return NodeOutput({"true" if holds(config.condition, state["steps"]) else "false": state})


@node
async def instruction(config: Text, state: State) -> str:
    """Fill the references in instructions; a step that has given nothing is an empty text."""
    return filled(config.text, state["steps"])


@node
async def back(config: Loop, state: State) -> State:
    """Go back to a step; raises LoopsExceeded once its loop has had as many passes as it may."""
    passes = {id: count for id, count in state.get("passes", {}).items() if id not in config.inner}
    passes[config.step] = passes.get(config.step, 1) + 1
    if passes[config.step] > config.limit:
        raise LoopsExceeded(config.step, config.limit)
    return {**state, "passes": passes}


@node
async def finish(state: State) -> Finished:
    """End a workflow with the outputs of its steps."""
    return Finished(finished(state), state.get("last"))
