"""Reading the workflow of a file of cagent: every problem is noted at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.authoring import PartReader, choices, get_mapping
from dataflow_formats.cagent.definitions import read_agents
from dataflow_formats.cagent.parts import DEFAULT_LIMIT, Step, Workflow
from dataflow_formats.cagent.steps import StepReader

if TYPE_CHECKING:
    from dataflow.authoring import JsonDict, Notes

__all__ = ["read_workflow"]

#: Files of this version have workflows of another form.
OLD_VERSION: Final = "2"
LIMIT: Final = "max_loop_iterations"
OPTIONS: Final = ("steps", LIMIT, "overrides")


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read a file; what is returned counts only if no problem is noted."""
    file = PartReader(notes, data)
    reader = StepReader(get_mapping(data, "agents"))
    _note_other_form(file)
    steps, limit = _workflow(file, reader) if "workflow" in data else ((), DEFAULT_LIMIT)
    if not notes.problems and not steps:
        notes.problem(("workflow",), "has no steps")
    return Workflow(steps, limit, read_agents(data, reader.used, notes), reader.is_whole)


def _note_other_form(file: PartReader) -> None:
    """Note which form the workflow has, if it is not the one that is read here."""
    if not {"workflow", "workflows"} & file.part.keys():
        agents = choices([*map(str, get_mapping(file.part, "agents"))])
        besides = "of files without one an agent is named besides, as in FILE#agent=NAME"
        file.problem(f"has no `workflow`; {besides}; {agents}")
    elif "workflow" not in file.part:
        form = "with `workflows`, `entry` and `nodes`, is not read here"
        file.problem(f"the form of a fork of cagent, {form}; expected `workflow`", "workflows")
    elif str(file.part.get("version")) == OLD_VERSION:
        form = f"the older form of workflows, of files of version {OLD_VERSION}, is not read here"
        file.problem(f"{form}: there each step gets only the output before it", "version")


def _workflow(file: PartReader, reader: StepReader) -> tuple[tuple[Step, ...], int]:
    """Return the steps, and the limit of the loops."""
    given = file.part["workflow"]
    if isinstance(given, list):
        return reader.steps(file, "workflow"), DEFAULT_LIMIT
    if isinstance(given, dict) and isinstance(given.get("steps"), list):
        part = file.mapping("workflow")
        part.check_keys(OPTIONS)
        return reader.steps(part, "steps"), _limit(part)
    file.expected("a list of steps, or a mapping with a list under `steps`", given, "workflow")
    return (), DEFAULT_LIMIT


def _limit(workflow: PartReader) -> int:
    """Return the limit of the loops: one in `overrides` wins, and 0 or less is the default."""
    overrides = workflow.mapping("overrides")
    overrides.check_keys((LIMIT,))
    own = workflow.whole(LIMIT) or 0
    limit = overrides.whole(LIMIT) or own
    return limit if limit > 0 else DEFAULT_LIMIT
