"""Problems of files of Agentron Studio (DF42)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

AGENT_UNNAMED: Final = Kind(
    "DF4201",
    "does not name an agent",
    meaning="An agent is identified by its id or name, in the node that runs it and in its definition.",
    example='{"id": "a", "type": "agent", "parameters": {}}',
    cure="Write the id or the name of the agent.",
)
SCHEDULE_MISSING: Final = Kind(
    "DF4202",
    "an interval needs {schedule}",
    meaning="What runs at intervals has a schedule; a branch does not use that of the workflow.",
    example='{"id": "w", "executionMode": "interval", "nodes": []}',
    cure='Add a schedule, such as `"schedule": "60"`.',
)
MODELS_MISSING: Final = Kind(
    "DF4203",
    "agents without a model: {agents}",
    hint="write them as `agents` into the file or into the file of the option agents=FILE, each as "
    "{{id, name, model, instructions, tools}}, or give one model to all with the option model=provider/name",
    meaning="A workflow only has the ids or names of its agents; their models are not part of its file.",
    example='dataflow run flow.json   # {"id": "a", "type": "agent", "parameters": {"agentName": "Ada"}}',
    cure="Define the agents, or name a model for all: `dataflow run 'flow.json#model=openai/gpt-5'`.",
)
NO_CONDITION_HELD: Final = Kind(
    "DF4204",
    "no condition held, so the first edge was followed, to {target!r}",
    meaning="A warning: the output of a node satisfies none of the conditions of its edges.",
    example="an edge with content_contains 'yes', and the answer 'no'",
    cure="Add an edge without a condition as the last one.",
)
