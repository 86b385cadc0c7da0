"""Problems of files of HiFide and their runs (DF45)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

PORT_UNKNOWN: Final = Kind(
    "DF4501",
    "has no {direction} {port!r}",
    meaning="An edge begins or ends at a port that its node does not have.",
    example='{"source": "u", "sourceHandle": "date", "target": "c", "targetHandle": "data"}',
    cure="Write one of the available ports.",
)
INPUT_UNCONNECTED: Final = Kind(
    "DF4502",
    "no edge leads to its {ports}",
    meaning="A chat needs a message, and a router the data that it sorts.",
    example="a chat without incoming edges",
    cure="Connect one of the ports.",
)
CACHE_EMPTY: Final = Kind(
    "DF4503",
    "has nothing on data, which {reader!r} reads",
    meaning="A cache without an incoming edge to its data cannot pass data on.",
    example="an edge from the data of a cache that only has a context",
    cure="Connect the data of the cache, or remove the edge from it.",
)
CIRCULAR: Final = Kind(
    "DF4504",
    "Circular dependency detected at node {id}: {cycle}",
    hint="a loop has to pass a userInput, which waits",
    meaning="Nodes wait for each other in a circle, so that none of them can run.",
    example="edges a > b and b > a between two manualInput nodes",
    cure="Remove an edge of the circle, or put a userInput into it.",
)
ROUTES_CLASH: Final = Kind(
    "DF4505",
    "two routes would be called {name!r}",
    meaning="The names of routes become names of ports, in which other characters than letters are replaced.",
    example='"routes": {"a b": "", "a-b": ""}',
    cure="Rename one of the routes.",
)
PATH_OUTSIDE: Final = Kind(
    "DF4506",
    "{path!r} leads out of the workspace",
    expected="a relative path without `..`",
    meaning="A readFile node only reads files of the folder that the flow runs in.",
    example='{"nodeType": "readFile", "config": {"path": "../x"}}',
    cure="Move the file into the workspace.",
)
MESSAGE_BLANK: Final = Kind(
    "DF4507",
    "the message is blank, since there is nothing in {wanted}",
    hint="{advice}",
    meaning="A model was to be asked, but all that could be its message is blank.",
    example="a chat whose conversation has no output yet",
    cure="Connect `message` or `data` of the chat to a node with a text.",
)
