"""Control flow: `clickweave.if`, `clickweave.switch`, `clickweave.end_loop` and `clickweave.end`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from dataflow import Config, ExecutionContext, Failure, NodeOutput, Port, Ports, node
from dataflow_formats.clickweave.conditions import Condition, holds, side_of
from dataflow_formats.clickweave.file import Exit, case_port
from dataflow_formats.clickweave.nodes.action import WalkFailed, public_variables

__all__ = ["end", "end_loop", "if_", "switch", "unused"]

WALK: Final = "walk"
# The names of ports are stored, as plain strings.
IF_TRUE: Final = Exit.IF_TRUE.value
IF_FALSE: Final = Exit.IF_FALSE.value
SWITCH_DEFAULT: Final = Exit.SWITCH_DEFAULT.value
LOOP_DONE: Final = Exit.LOOP_DONE.value


class If(Config):
    """Config of `clickweave.if`."""

    name: str = Field(default="", description="what the node is called")
    condition: Condition = Field(description="what decides")


@node(
    name="if",
    ports=Ports(
        {WALK: ExecutionContext},
        {
            IF_TRUE: Port(ExecutionContext, exit=IF_TRUE),
            IF_FALSE: Port(ExecutionContext, exit=IF_FALSE),
        },
    ),
)
async def if_(inputs: Mapping[str, Any], config: If) -> NodeOutput:
    """Continue at `IfTrue` or `IfFalse`, by a condition."""
    walk: ExecutionContext = inputs[WALK]
    result = holds(config.condition, walk.variables)
    taken = IF_TRUE if result else IF_FALSE
    return NodeOutput({taken: walk}, metadata=_comparison(config.condition, walk, result) | {"taken": taken})


def _comparison(condition: Condition, walk: ExecutionContext, result: bool) -> dict[str, Any]:
    return {
        "left": side_of(condition.left, walk.variables),
        "right": side_of(condition.right, walk.variables),
        "result": result,
    }


class Case(Config):
    """One case of a switch."""

    name: str
    condition: Condition


class Switch(Config):
    """Config of `clickweave.switch`."""

    name: str = Field(default="", description="what the node is called")
    cases: list[Case] = Field(description="the cases, of which the first that holds is taken")


def _exits(config: Switch) -> Ports:
    names = [*(case_port(case.name) for case in config.cases), SWITCH_DEFAULT]
    return Ports({WALK: ExecutionContext}, {name: Port(ExecutionContext, exit=name) for name in names})


@node(ports=_exits)
async def switch(inputs: Mapping[str, Any], config: Switch) -> NodeOutput:
    """Continue at the first case that holds, else at `SwitchDefault`."""
    walk: ExecutionContext = inputs[WALK]
    holding = (case_port(case.name) for case in config.cases if holds(case.condition, walk.variables))
    taken = next(holding, SWITCH_DEFAULT)
    return NodeOutput({taken: walk}, metadata={"taken": taken})


class EndLoop(Config):
    """Config of `clickweave.end_loop`."""

    name: str = Field(default="", description="what the loop is called")
    exit_condition: Condition = Field(description="what ends the loop")
    max_iterations: int = Field(default=100, ge=1, description="how often its body runs at most")


@node(
    name="end_loop",
    ports=Ports(
        {
            WALK: ExecutionContext,
            "round": Port(int, lazy=True),
        },  # lazy: has no value in an iteration that the walk has left
        {
            WALK: ExecutionContext,
            "round": int,
            "done": bool,
            LOOP_DONE: Port(ExecutionContext, conditional=True),
        },
    ),
)
async def end_loop(inputs: Mapping[str, Any], config: EndLoop) -> NodeOutput:
    """End an iteration of a loop: `done` is whether the condition ends it, `LoopDone` continues after it.

    The condition is tested before the limit; at the limit, too, the walk continues after the loop.
    """
    walk: ExecutionContext = inputs[WALK]
    done = holds(config.exit_condition, walk.variables)
    is_last = done or inputs["round"] >= config.max_iterations
    outputs = {
        WALK: walk,
        "round": inputs["round"] + 1,
        "done": done,
        **({LOOP_DONE: walk} if is_last else {}),
    }
    return NodeOutput(outputs, metadata=_comparison(config.exit_condition, walk, done))


@node(
    name="end",
    ports=Ports(
        {
            WALK: Port(ExecutionContext, default=None),
            "failures": Port(list[Failure], default=None),
            "verdicts": Port(list[dict[str, Any]], default=None),
        },
        {"variables": dict[str, Any]},
    ),
)
async def end(inputs: Mapping[str, Any]) -> NodeOutput:
    """End a walk: return the variables that its nodes have set.

    Raises WalkFailed for a failure of the walk, after `verdicts` have been judged.
    """
    if failures := inputs["failures"]:
        raise WalkFailed(failures[0])
    return NodeOutput({"variables": public_variables(inputs[WALK])})


async def unused() -> None:
    """Represent a node that is disabled or that no walk reaches; it never runs."""
