"""Remarks on workflows of cagent: what means something else here, and what is unsound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow_formats.cagent.arranging import ends, shape_of
from dataflow_formats.cagent.conditions import placeholders
from dataflow_formats.cagent.parts import BACK, AgentStep, Back, ConditionStep, ParallelStep, Step, steps_in
from dataflow_formats.cagent.references import Unresolved, find, read_reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.authoring import Notes
    from dataflow_formats.cagent.parts import Workflow
    from dataflow_formats.cagent.priors import Order

__all__ = ["check_instructions", "remark_on"]


def remark_on(workflow: Workflow, steps: tuple[Step, ...], order: Order, notes: Notes) -> None:
    """Note what is worth a remark in a workflow without problems."""
    everywhere = [*_all_steps(steps)]
    shape = shape_of(workflow.steps)
    _remark_on_names(everywhere, notes)
    if ends(steps):
        notes.remark("", "has no end", "it ends only at a limit of loops")
    for path, step in everywhere:
        match step:
            case Back():
                _remark_on_way(step, path, everywhere, notes)
            case ConditionStep():
                _remark_on_condition(step, path, workflow, order, shape, notes)
            case AgentStep() if step.id.startswith(BACK):
                here = f"it does so too, as there is no step {step.id.removeprefix(BACK)!r} to lead back to"
                notes.remark(step.id, f"runs agent {step.agent!r}", here)
            case _:
                pass


def _all_steps(steps: tuple[Step, ...]) -> Iterator[tuple[tuple[str, ...], Step]]:
    """Go through all steps, each with its path, those of parallel blocks too."""
    todo: list[tuple[tuple[str, ...], tuple[Step, ...]]] = [((), steps)]
    while todo:
        around, block = todo.pop()
        for step in steps_in(block):
            yield (*around, step.id), step
            if isinstance(step, ParallelStep):
                todo.append(((*around, step.id), step.steps))


def _remark_on_names(everywhere: list[tuple[tuple[str, ...], Step]], notes: Notes) -> None:
    unnamed = [
        "/".join(path) for path, step in everywhere if isinstance(step, AgentStep) and not step.is_named
    ]
    if len(unnamed) > 1:
        original = "steps without an id can share one, and a later output takes an earlier one's place"
        notes.remark("", original, f"each has an id of its own: {', '.join(unnamed)}")


def _remark_on_way(
    step: Back, path: tuple[str, ...], everywhere: list[tuple[tuple[str, ...], Step]], notes: Notes
) -> None:
    target = next(one for where, one in everywhere if where == (*path[:-1], step.target))
    runs = f"runs agent {step.agent!r} once more" if step.agent else f"`{step.written}` does not lead back"
    # the node of a way back has an id that the file need not have, and the condition around it has
    around = next((one.id for _, one in everywhere if one.path == step.path[:-2]), step.id)
    here = f"it leads back to step {step.target!r}"
    if step.agent and isinstance(target, AgentStep) and target.agent != step.agent:
        here += f", which runs agent {target.agent!r}"
    node = step.id if step.agent else around
    notes.remark(node, f"{runs}, and the steps behind the condition follow", here)


def _remark_on_condition(
    step: ConditionStep,
    path: tuple[str, ...],
    workflow: Workflow,
    order: Order,
    shape: dict[str, object],
    notes: Notes,
) -> None:
    found = _followed(step.condition, shape)
    if found is None:
        return
    read, agent, keys = found
    if not any(ran.path == read for ran in order.before(path)):
        what = f"reads {'/'.join(read)!r}, which has given nothing when it is evaluated"
        notes.remark(step.id, what, "the run fails there")
    declared = workflow.agents[agent].keys if agent in workflow.agents else None
    if keys and (declared is None or (declared and keys[0] not in declared)):
        what = f"reads {keys[0]!r}, which no structured_output of agent {agent!r} declares"
        here = "an output that is no JSON object counts as a whole, and a missing part is false"
        notes.remark(step.id, what, here)


def _followed(text: str, shape: dict[str, object]) -> tuple[tuple[str, ...], str, tuple[str, ...]] | None:
    try:
        path, entry, keys = find(read_reference(text), shape)
    except Unresolved:
        return None  # it is a problem, which has been noted
    return path, str(entry["agent"]), keys


def check_instructions(workflow: Workflow, notes: Notes) -> None:
    """Note references in the instructions of agents that lead nowhere."""
    shape = shape_of(workflow.steps)
    for name, agent in workflow.agents.items():
        for text in placeholders(agent.instruction):
            try:
                find(read_reference(text), shape)
            except Unresolved as error:
                notes.problem(("agents", name, "instruction"), f"agent {name!r}: {text}: {error}")
