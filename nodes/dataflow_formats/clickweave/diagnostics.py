"""Problems of files of Clickweave and their runs (DF44)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

FORM_OLD: Final = Kind(
    "DF4401",
    "the workflow has an older form, whose nodes have a `kind` and `params`",
    expected="nodes with a `node_type`",
    hint="save the workflow again with the present version of Clickweave",
    meaning="Earlier versions of Clickweave wrote nodes in another form.",
    example='{"nodes": [{"id": "1", "kind": "Start", "params": {}}], "edges": []}',
    cure="Open the workflow in the present version and save it.",
)
TOOL_UNNAMED: Final = Kind(
    "DF4402",
    "calls a tool without a name",
    meaning="A node that calls a tool of the server does not say which one.",
    example='{"type": "McpToolCall", "tool_name": ""}',
    cure="Write the name of the tool.",
)
CASE_TWICE: Final = Kind(
    "DF4403",
    "has {count} cases {case!r}",
    meaning="Each case of a Switch has an output of its name, so the names have to differ.",
    example="a Switch with the cases `paid` and `paid`",
    cure="Rename the cases.",
)
EDGE_COUNT: Final = Kind(
    "DF4404",
    "has the wrong number of edges",
    meaning="An output that decides where the walk goes needs one edge; others have one at most.",
    example="an If with no edge from IfFalse",
    cure="Add the missing edge, or remove what is too much.",
)
OUTPUT_UNKNOWN: Final = Kind(
    "DF4405",
    "has an edge with {output}",
    meaning="An edge begins at an output that its node does not have.",
    example="an edge from IfTrue of a Click",
    cure="Correct the output of the edge.",
)
LOOP_UNKNOWN: Final = Kind(
    "DF4406",
    "ends {target!r}, which is not a Loop",
    meaning="The `loop_id` of an EndLoop is not the id of a Loop.",
    example='{"type": "EndLoop", "loop_id": "missing"}',
    cure="Write the id of the Loop.",
)
END_LOOP_EDGE: Final = Kind(
    "DF4407",
    "leads to {target!r}",
    expected="its Loop, or no edge",
    meaning="An EndLoop always continues at its Loop.",
    example="an edge from an EndLoop to a Click",
    cure="Lead the edge from the LoopDone of the Loop instead.",
)
END_LOOP_COUNT: Final = Kind(
    "DF4408",
    "needs one EndLoop",
    meaning="The body of a Loop ends at exactly one EndLoop.",
    example="a Loop without an EndLoop",
    cure="Add the EndLoop, or remove the others.",
)
CYCLE_WITHOUT_LOOP: Final = Kind(
    "DF4409",
    "leads back to {target!r}, which no Loop repeats",
    meaning="Edges lead in a circle that has no Loop, so that nothing limits it.",
    example="a > b and b > a",
    cure="Put a Loop and an EndLoop around what is repeated.",
)
VARIABLES_CLASH: Final = Kind(
    "DF4410",
    "its variables would be called {prefix}. like those of {other!r}",
    hint="rename one of the two",
    meaning="The names of variables are those of nodes, in lower case and with `_` for other characters.",
    example="nodes with the names `Click it` and `click_it`",
    cure="Give the nodes names that differ in letters or digits.",
)
ALL_DISABLED: Final = Kind(
    "DF4411",
    "the walk ends where it begins, since all nodes are disabled",
    meaning="A walk passes disabled nodes by, and nothing else is left.",
    example='[{"id": "a", "enabled": false}]',
    cure="Enable a node.",
)
BODY_ENDLESS: Final = Kind(
    "DF4412",
    "the body never leads to its EndLoop, so nothing is repeated",
    meaning="The walk cannot come from the body of a Loop back to it.",
    example="a Loop whose LoopBody leads to a node with no further edge",
    cure="Lead the body to the EndLoop.",
)
BODY_BYPASSED: Final = Kind(
    "DF4413",
    "{source} leads into the body of {loop!r}",
    meaning="A walk enters the body of a Loop at the LoopBody of the Loop only.",
    example="an edge from a node before the Loop to a node in its body",
    cure="Lead the edge to the Loop, or to what follows it.",
)
BODIES_OVERLAP: Final = Kind(
    "DF4414",
    "the body overlaps that of {other!r}",
    expected="one inside the other",
    meaning="Two Loops share nodes, but neither is a part of the other.",
    example="two Loops whose bodies lead to one node, and on to either EndLoop",
    cure="Nest the Loops, or copy what they share.",
)
APP_NOT_FOUND: Final = Kind(
    "DF4415",
    "is not among the running apps",
    meaning="The model did not find the app that a node names among those that run.",
    example="FocusWindow with the app `calc`, which does not run",
    cure="Start the app before, or correct its name.",
)
ANSWER_INVALID: Final = Kind(
    "DF4416",
    "the answer of the model cannot be used",
    meaning="The model that was asked which app is meant answered in another form.",
    example="`Calculator`, where a JSON object was expected",
    cure="Run it again, or choose a model that follows instructions better.",
)
ELEMENT_NOT_FOUND: Final = Kind(
    "DF4417",
    "nothing to click on was found; find_text answered: {answer}",
    meaning="The text that a node clicks on is not on the screen.",
    example="Click with the target `OK`, where no such text is shown",
    cure="Correct the text, or wait until it is shown.",
)
WALK_FAILED: Final = Kind(
    "DF4418",
    "the walk failed: {error}",
    meaning="A node of a walk with checks failed; the checks were judged nevertheless.",
    example="a click that fails, and a node with an expected outcome",
    cure="Cure the failure that the text names.",
)
