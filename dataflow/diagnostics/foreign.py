"""Problems of files of other systems: what formats report with `dataflow.authoring` (DF40).

A format without a table of its own reports plain texts, which become problems of the kind `FOREIGN_PROBLEM`.
"""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

FOREIGN_PROBLEM: Final = Kind(
    "DF4001",
    "{text}",
    meaning="A format found a problem in a file of another system, for which it has no code.",
    example='notes.problem(("steps", 0), "has no name")',
    cure="Look at the text and the location; authors of formats can define kinds with codes.",
)
FOREIGN_VALUE_INVALID: Final = Kind(
    "DF4002",
    "",
    meaning="A value in a file of another system has another type than its format requires.",
    example="nodes: none   # where a list is expected",
    cure="Write a value of the type that is expected.",
)
FOREIGN_KEY_MISSING: Final = Kind(
    "DF4003",
    "has no `{key}`",
    meaning="A part of a file of another system does not have a key that the format needs.",
    example="nodes: [{id: a}]   # without a type",
    cure="Add the key.",
)
FOREIGN_KEY_UNKNOWN: Final = Kind(
    "DF4004",
    "{key!r} is not a known key",
    meaning="A part of a file of another system has a key that the format does not know.",
    example="nodes: [{id: a, typ: llm}]",
    cure="Correct or remove the key.",
)
FOREIGN_CHOICE_UNKNOWN: Final = Kind(
    "DF4005",
    "there is no {key} {value!r}",
    meaning="A value in a file of another system is not one of those that the format knows.",
    example="nodes: [{id: a, type: llmm}]",
    cure="Write one of the available values.",
)
FOREIGN_NODE_UNKNOWN: Final = Kind(
    "DF4006",
    "leads {direction} {node!r}, which is not a node",
    meaning="An edge of a file of another system names a node that the file does not have.",
    example="edges: [{source: a, target: missing}]",
    cure="Correct the name, or remove the edge.",
)
FOREIGN_ID_TWICE: Final = Kind(
    "DF4007",
    "has the id {id!r} of {first}",
    hint="use each id once",
    meaning="Two parts of a file of another system have the same id.",
    example="nodes: [{id: a}, {id: a}]",
    cure="Rename one of the two.",
)
FOREIGN_FILE_INVALID: Final = Kind(
    "DF4008",
    "the content is not a file of {system}",
    meaning="A file was loaded with the format of a system whose files have another structure.",
    example="[]   # loaded with format='cagent'",
    cure="Name the format of the system that wrote the file, or none, so that it is recognised.",
)
FOREIGN_FLOW_EMPTY: Final = Kind(
    "DF4009",
    "has nothing to run",
    expected="at least one node or step",
    meaning="The list of nodes or steps in a file of another system is empty.",
    example="nodes: []",
    cure="Add a node or step.",
)
FOREIGN_START_MISSING: Final = Kind(
    "DF4010",
    "no node can start",
    meaning="A flow of another system starts at a node of a certain type, or at one that no edge leads to.",
    example="edges: [{source: a, target: b}, {source: b, target: a}]",
    cure="Add such a node, or remove an edge.",
)
FOREIGN_OPTION_INVALID: Final = Kind(
    "DF4011",
    "the option cannot be used",
    meaning="An option that was given for a file of another system has an invalid value.",
    example="dataflow run 'flow.json#server='",
    cure="Correct the option, as the page of the format describes it.",
)
FOREIGN_MODEL_UNKNOWN: Final = Kind(
    "DF4012",
    "the model cannot be identified",
    expected="provider/name",
    meaning="A file of another system names a model without its provider, and the name does not imply one.",
    example="model: house",
    cure="Write the provider before the name, such as `openai/gpt-5`.",
)
