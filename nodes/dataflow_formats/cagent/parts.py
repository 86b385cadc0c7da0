"""The parts of a workflow of cagent: steps, retries, and the agents that steps run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.authoring import DocumentPath

__all__ = [
    "BACK",
    "DEFAULT_LIMIT", "META",
    "AgentDefinition", "AgentStep", "Back", "ConditionStep", "ParallelStep", "Retry", "Step",
    "Workflow", "steps_in",
]  # fmt: skip

#: How the id of an agent step begins that leads back to the step of the id behind it.
BACK: Final = "back_to_"
#: Where the meta of a document have what is no part of the flow.
META: Final = "cagent"
#: How many passes a loop may have unless the file says so.
DEFAULT_LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed step is tried again: `attempts` are extra ones."""

    attempts: int
    backoff: Literal["none", "fixed", "exponential"] = "none"
    first: float = 1.0
    on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A step that runs an agent."""

    id: str
    path: DocumentPath
    agent: str
    retry: Retry | None = None
    is_named: bool = True  # whether the file gives the id


@dataclass(frozen=True, slots=True)
class ConditionStep:
    """A step that chooses one of two lists of steps."""

    id: str
    path: DocumentPath
    condition: str
    yes: tuple[Step, ...] = ()
    no: tuple[Step, ...] = ()
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class ParallelStep:
    """A step whose children run side by side."""

    id: str
    path: DocumentPath
    steps: tuple[Step, ...] = ()
    retry: Retry | None = None
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Back:
    """An entry of a branch that leads back to an earlier step: by its id, or its index in the workflow."""

    id: str
    path: DocumentPath
    target: str | int
    written: str = ""  # how the file has it, where it is no agent step
    agent: str = ""  # that the file names, where it is written as an agent step


Step: TypeAlias = AgentStep | ConditionStep | ParallelStep | Back


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """An agent of the file: what it is told, and the config that its model is called with."""

    instruction: str = ""
    model: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    keys: frozenset[str] | None = None  # of its structured output, if that is declared


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow that has been read."""

    steps: tuple[Step, ...]
    limit: int
    agents: Mapping[str, AgentDefinition]
    is_whole: bool = True  # whether all steps could be read


def steps_in(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Go through the steps of a list and of the branches in it, but not into parallel blocks."""
    todo = [*reversed(steps)]
    while todo:
        step = todo.pop()
        yield step
        if isinstance(step, ConditionStep):
            todo += [*reversed(step.no), *reversed(step.yes)]
