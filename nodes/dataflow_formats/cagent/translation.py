"""`FORMAT`: recognise cagent files, translate them to native documents, and report differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, describe_value, foreign
from dataflow_formats.cagent.conditions import placeholders
from dataflow_formats.cagent.file import (
    BACK,
    AgentStep,
    Back,
    ConditionStep,
    ParallelStep,
    Step,
    Unresolved,
    Workflow,
    find,
    read_reference,
    steps_in,
)
from dataflow_formats.cagent.order import Order, arrange, ends, order_of, shape_of
from dataflow_formats.cagent.reader import read_workflow
from dataflow_formats.cagent.words import StepContext
from dataflow_formats.cagent.writer import AGENT, conversation, workflow_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.authoring import FormatOptions, JsonDict, Notes

__all__ = ["FORMAT"]


def recognises(data: Any) -> bool:
    """Return whether the content of a file is an agent file of cagent."""
    if not isinstance(data, dict):
        return False
    if "workflow" not in data and "dataflow" not in data and _has_agents(data):
        return True  # translate then notes that the workflow is missing
    return ("workflow" in data and ("agents" in data or isinstance(data["workflow"], list))) or (
        "workflows" in data and "agents" in data
    )


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate the content of a file into a native document; problems and remarks are noted."""
    if not isinstance(data, dict):
        expected = "a mapping with `agents` and `workflow`"
        found = describe_value(data)
        notes.problem((), foreign.FOREIGN_FILE_INVALID(system="cagent", expected=expected, found=found))
        return {}
    if AGENT in options:
        return conversation(data, options[AGENT], notes)
    workflow = read_workflow(data, notes)
    if not workflow.is_whole:
        return {}
    steps = arrange(workflow, notes)
    _check_instructions(workflow, notes)
    if notes.problems:
        return {}
    order = order_of(steps)
    _remark(workflow, steps, order, notes)
    return workflow_document(data, workflow, steps, order, notes)


FORMAT: Final = Format(
    "cagent", recognises, translate, frozenset({AGENT}), words=StepContext, takes_words=True
)


def _has_agents(data: dict[Any, Any]) -> bool:
    agents = data.get("agents")
    return isinstance(agents, dict) and bool(agents) and all(isinstance(one, dict) for one in agents.values())


def _check_instructions(workflow: Workflow, notes: Notes) -> None:
    """Note invalid references in the instructions of agents as problems."""
    shape = shape_of(workflow.steps)
    for name, agent in workflow.agents.items():
        for text in placeholders(agent.instruction):
            try:
                find(read_reference(text), shape)
            except Unresolved as error:
                problem = error.diagnostics[0].within(f"agent {name!r}: {text}")
                notes.problem(("agents", name, "instruction"), problem)


def _remark(workflow: Workflow, steps: tuple[Step, ...], order: Order, notes: Notes) -> None:
    """Note where the flow behaves differently from the original, or as unexpectedly."""
    everywhere = [*_all_steps(steps)]
    shape = shape_of(workflow.steps)
    _remark_on_names(everywhere, notes)
    if ends(steps):
        notes.remark("", "has no end", "it ends only at a limit of loops")
    for path, step in everywhere:
        match step:
            case Back():
                _remark_on_back(step, path, everywhere, notes)
            case ConditionStep():
                _remark_on_condition(step, path, workflow, order, shape, notes)
            case AgentStep() if step.id.startswith(BACK):
                here = f"it does so too, as there is no step {step.id.removeprefix(BACK)!r} to lead back to"
                notes.remark(step.id, f"runs agent {step.agent!r}", here)
            case _:
                pass


def _all_steps(steps: tuple[Step, ...]) -> Iterator[tuple[tuple[str, ...], Step]]:
    """Yield all steps with their paths, also those in parallel blocks."""
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


def _remark_on_back(
    step: Back, path: tuple[str, ...], everywhere: list[tuple[tuple[str, ...], Step]], notes: Notes
) -> None:
    target = next(one for where, one in everywhere if where == (*path[:-1], step.target))
    runs = f"runs agent {step.agent!r} once more" if step.agent else f"`{step.written}` does not lead back"
    # the id of a `Back` may be generated; that of the condition around it is the one of the file
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
    found = _resolved(step.condition, shape)
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


def _resolved(text: str, shape: dict[str, object]) -> tuple[tuple[str, ...], str, tuple[str, ...]] | None:
    try:
        path, entry, keys = find(read_reference(text), shape)
    except Unresolved:
        return None  # noted as a problem before
    return path, str(entry["agent"]), keys
