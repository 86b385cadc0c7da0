"""The node type `agent.prior_outputs`: a prompt behind what the steps before it gave."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict, Field

from dataflow import Config, Port, Ports, node
from dataflow_agent.input_names import checked_names

__all__ = ["Prior", "PriorStep", "prior_outputs"]

HEAD: Final = "--- Prior Step Outputs ---"
FOOT: Final = "--- End Prior Step Outputs ---"


class PriorStep(Config):
    """A step whose output is told: the input it comes in on, and what its heading says."""

    model_config = ConfigDict(strict=True)

    name: str = Field(description="the name of the input")
    agent: str = Field(default="", description="the agent that the heading names, if any")
    path: str = Field(default="", description="what the heading calls the step; the name unless set")

    @property
    def heading(self) -> str:
        """The line above the output."""
        called = self.path or self.name
        return f"[{called} (agent: {self.agent})]:" if self.agent else f"[{called}]:"


def _check_steps(steps: list[PriorStep]) -> list[PriorStep]:
    checked_names([step.name for step in steps], "config", "prompt")
    return steps


class Prior(Config):
    """Config of `agent.prior_outputs`."""

    model_config = ConfigDict(strict=True)

    steps: Annotated[list[PriorStep], AfterValidator(_check_steps)] = Field(
        min_length=1, description="the steps, in the order in which they are told"
    )


def _steps(config: Prior) -> Ports:
    return Ports(inputs=dict.fromkeys([step.name for step in config.steps], Port(str, default="")))


@node(ports=_steps)
async def prior_outputs(config: Prior, prompt: str = "", **outputs: str) -> str:
    """Put a prompt behind a block with the outputs of earlier steps, each once, in the order of the config.

    A step that was skipped or gave an empty text has no entry; without entries there is no block, and the
    prompt stays as it is.
    """
    told = [f"{step.heading}\n{outputs[step.name]}" for step in config.steps if outputs[step.name]]
    block = [HEAD, *told, FOOT] if told else []
    return "\n\n".join([*block, *([prompt] if prompt else [])])
