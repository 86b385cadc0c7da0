"""The node types of cagent: what goes on between the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import ConfigDict, Field

from dataflow import Config, DataflowError, NodeOutput, Port, Ports, node
from dataflow_formats.cagent.conditions import filled, holds
from dataflow_formats.cagent.state import State, finished, gathered, gone_back, output_at, recorded

__all__ = [
    "Finished", "LoopsExceeded", "back", "condition", "finish", "gather", "instruction", "outputs", "record",
    "start",
]  # fmt: skip


#: The port of what goes on to one step; as fields of its own it would be kept twice.
OUT: Final = "out"


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


@node(ports=Ports({"prompt": str}, {OUT: State}))
async def start(inputs: Mapping[str, Any]) -> NodeOutput:
    """Begin a workflow, of which no step has run."""
    return NodeOutput({OUT: State(inputs["prompt"])})


@node(ports=Ports({"state": State, "text": str}, {OUT: State}))
async def record(inputs: Mapping[str, Any], config: Place) -> NodeOutput:
    """Add the output of a step to those of the steps before it."""
    return NodeOutput({OUT: recorded(inputs["state"], config.path, config.agent, inputs["text"])})


@node(ports=Ports({"before": State, "after": Port(State, many=True, default=())}, {"state": State}))
async def gather(inputs: Mapping[str, Any], config: Block) -> NodeOutput:
    """Put together what steps have given that ran side by side."""
    state = gathered(inputs["before"], config.path, config.order, inputs["after"])
    return NodeOutput({"state": state})


def _told(config: Outputs) -> Ports:
    told = dict.fromkeys(config.steps, Port(str, conditional=True))
    return Ports({"state": State}, {**told, "prompt": str})


@node(ports=_told)
async def outputs(inputs: Mapping[str, Any], config: Outputs) -> NodeOutput:
    """Tell the prompt of the run and outputs by name; a step that has given none has no value."""
    state: State = inputs["state"]
    found = {name: output_at(state, path) for name, path in config.steps.items()}
    told = {name: output for name, output in found.items() if output is not None}
    return NodeOutput({**told, "prompt": state.prompt})


@node(ports=Ports({"state": State}, {"true": Port(State, exit="true"), "false": Port(State, exit="false")}))
async def condition(inputs: Mapping[str, Any], config: Condition) -> NodeOutput:
    """Go on with `true` or with `false`, as a condition says.

    Raises ExpressionError for one that is neither, or that reads a step that has given nothing.
    """
    state: State = inputs["state"]
    return NodeOutput({"true" if holds(config.condition, state.steps) else "false": state})


@node
async def instruction(config: Text, state: State) -> str:
    """Fill the references in instructions; a step that has given nothing is an empty text."""
    return filled(config.text, state.steps)


@node(ports=Ports({"state": State}, {OUT: State}))
async def back(inputs: Mapping[str, Any], config: Loop) -> NodeOutput:
    """Go back to a step; raises LoopsExceeded once its loop has had as many passes as it may."""
    state = gone_back(inputs["state"], config.step, config.inner)
    if state.passes[config.step] > config.limit:
        raise LoopsExceeded(config.step, config.limit)
    return NodeOutput({OUT: state})


@node
async def finish(state: State) -> Finished:
    """End a workflow with the outputs of its steps."""
    return Finished(finished(state), state.last)
