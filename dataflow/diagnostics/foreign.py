"""Problems that readers of foreign files report with the tools of `dataflow.authoring` (DF40).

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
