# ruff: noqa: E501, ISC004 - a row is a line, and messages are compared whole
"""Loading workflows of Clickweave: what is refused, with all its places, and what the report says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid, FormatError
from tests.nodes.formats.clickweave.workflows import (
    always,
    condition,
    edge,
    literal,
    loop,
    never,
    node,
    press,
    run,
    saved,
    typing,
    variable,
    workflow,
)

FILES: Final = Path(__file__).parents[5] / "shared" / "files" / "clickweave"


def problems(folder: Path, data: Any, **options: str) -> list[str]:
    with pytest.raises(FlowInvalid) as caught:
        Flow.load(saved(folder, data), format="clickweave", **options)
    return [problem.partition(" ")[2] for problem in caught.value.problems]


def without(data: dict[str, Any], *path: Any) -> dict[str, Any]:
    """Take something out of a file."""
    made: dict[str, Any] = json.loads(json.dumps(data))
    inner: Any = made
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return made


TWO: Final = workflow([typing("a"), press("b")])
IF: Final = node("i", "Seen?", "If", condition=always)
SWITCH: Final = node("s", "Which", "Switch", cases=[{"name": "x", "condition": always}])
LOOP: Final = loop("l", never, 2)

REFUSED: Final[dict[str, tuple[Any, list[str]]]] = {
    "a list": ([], ["expected a workflow of Clickweave, found an empty list"]),
    "no nodes": (
        workflow([]),
        ["nodes: the workflow is empty; expected one node or more"],
    ),
    "a missing key": (without(TWO, "nodes", 0, "retries"), ["nodes[0].retries: node 'a': is missing"]),
    "no name": (without(TWO, "name"), ["has no `name`"]),
    "an unknown type": (
        workflow([node("a", "Odd", "Clik")]),
        ["nodes[0].node_type.type: node 'Odd': there is no type 'Clik'; choices: Click, AiStep, "
            "AppDebugKitOp, EndLoop, FindImage, FindText, FocusWindow, If, ListWindows, Loop, McpToolCall, PressKey "
            "and 4 more"],
    ),
    "no type": (
        workflow([{"id": "a", "name": "Odd", "node_type": None}]),
        ["nodes[0].node_type: node 'Odd': expected a mapping with a `type`, found null"],
    ),
    "two of one id": (
        workflow([typing("a", "x"), typing("a", "y")]) | {"edges": []},
        ["nodes[1].id: node 'y': has the id 'a' of nodes[0]; each id stands once"],
    ),
    "a dangling edge": (
        workflow([typing("a")], edge("a b")),
        ["edges[0].to: leads to 'b', which is no node; choices: a"],
    ),
    "no nodes and edges": (
        {"id": "w", "name": "x", "nodes": {}, "edges": 1},
        ["nodes: expected a list, found an empty mapping", "edges: expected a list, found 1"],
    ),
    "nodes and edges that are none": (
        {"id": "w", "name": "x", "nodes": [1], "edges": [2]},
        ["nodes[0]: expected a mapping, found 1", "edges[0]: expected a mapping, found 2"],
    ),
    "loops that overlap": (
        workflow([*loop("l", never, 2), *loop("m", never, 2), IF], edge("l m", "LoopBody"), edge("m i", "LoopBody"), edge("i l_end", "IfTrue"), edge("i m_end", "IfFalse"), edge("l m_end", "LoopDone")),
        [
            "nodes[0]: LoopDone of 'l' leads into the body; expected what comes after the loop",
            "nodes[2]: the bodies of 'm' and 'l' overlap; expected one inside the other",
        ],
    ),
    "no entry point": (
        workflow([typing("a"), press("b")], edge("a b"), edge("b a")),
        [
            "nodes: there is no entry point: an edge leads to each of the nodes",
            "edges[1]: 'b' leads back to 'a', which no Loop repeats",
        ],
    ),
    "a number that is none": (
        workflow([node("i", "Seen?", "If", condition=condition(literal(float("inf")), "Equals", literal(1)))]),
        ["nodes[0].node_type.condition.left.value.value: node 'Seen?': expected a finite number, found Infinity"],
    ),
    "an If with one branch": (
        workflow([IF, typing("a")], edge("i a", "IfTrue")),
        ["nodes[0]: 'Seen?' needs one edge IfFalse, found 0"],
    ),
    "an If with an edge without output": (
        workflow([IF, typing("a")], edge("i a", "IfTrue"), edge("i a", "IfFalse"), edge("i a")),
        ["edges[2]: 'Seen?' has an edge without an output; choices: IfTrue, IfFalse"],
    ),
    "a Switch with a case that leads nowhere": (
        workflow([SWITCH]),
        ["nodes[0]: 'Which' needs one edge SwitchCase(x), found 0"],
    ),
    "two edges that lead on": (
        workflow([typing("a"), press("b"), press("c")], edge("a b"), edge("a c")),
        ["nodes[0]: 'a' may have one edge, found 2"],
    ),
    "a loop without an end": (
        workflow([LOOP[0], typing("a")], edge("l a", "LoopBody")),
        ["nodes[0]: 'l' needs one EndLoop, found 0"],
    ),
    "an end of no loop": (
        workflow([typing("a"), node("e", "e", "EndLoop", loop_id="a")], edge("a e")),
        ["nodes[1].node_type.loop_id: 'e' ends 'a', which is no Loop"],
    ),
    "an end that leads elsewhere": (
        workflow(
            [*LOOP, typing("a"), press("b")], edge("l a", "LoopBody"), edge("a l_end"), edge("l_end b"),
            edge("l b", "LoopDone"),
        ),
        ["edges[2].to: 'l end' leads to 'b'; expected its Loop, if anywhere"],
    ),
    "a loop that may never run": (
        workflow([*loop("l", never, 0), typing("a")], edge("l a", "LoopBody"), edge("a l_end")),
        ["nodes[0].node_type.max_iterations: node 'l': expected a number of 1 or more, found 0"],
    ),
    "a body that never ends": (
        workflow([*LOOP, typing("a"), press("b")], edge("l a", "LoopBody"), edge("l b", "LoopDone"), edge("b l_end")),
        ["nodes[0]: the body of 'l' never comes to its EndLoop, so nothing is repeated"],
    ),
    "a way into a loop past it": (
        workflow(
            [IF, *LOOP, typing("a")], edge("i l", "IfTrue"), edge("i a", "IfFalse"), edge("l a", "LoopBody"),
            edge("a l_end"),
        ),
        ["nodes[0]: IfFalse of 'Seen?' leads into the body of 'l', past it; expected the Loop itself"],
    ),
    "two names of one prefix": (
        workflow([typing("a", "Go!"), typing("b", "go?")]),
        ["nodes[1].name: the variables of 'go?' would be called go_. like those of 'Go!'; rename one of the two"],
    ),
    "a tool without a name": (
        workflow([node("a", "Odd", "McpToolCall", tool_name="", arguments=None)]),
        ["nodes[0].node_type: node 'Odd' calls a tool without a name"],
    ),
    "all of it disabled": (
        workflow([typing("a", enabled=False)]),
        ["nodes[0]: the walk ends where it begins: all is disabled"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_workflow_is_refused_with_its_place(case: str, tmp_path: Path) -> None:
    data, expected = REFUSED[case]
    assert problems(tmp_path, data) == expected


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    data = workflow(
        [node("a", "Odd", "Clik"), IF, typing("b", retries=-1)], edge("i a", "IfTrue"), edge("i z")
    )
    assert len(problems(tmp_path, data)) == 5


def test_the_older_form_is_named(tmp_path: Path) -> None:
    data = {"id": "1", "name": "old", "nodes": [{"id": "2", "kind": "Start", "params": {}}], "edges": []}
    with pytest.raises(FlowInvalid, match="is a workflow of an older form, whose nodes have a `kind`"):
        Flow.load(saved(tmp_path, data))


def test_an_option_of_the_server_that_is_no_command_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, TWO, server="'") == ["the option server cannot be read: No closing quotation"]
    assert problems(tmp_path, TWO, server="") == [
        "the option server is empty; expected a command, with its arguments"
    ]


@pytest.mark.skipif(not FILES.is_dir(), reason="the files of the system are no part of the project")
def test_real_files_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(FlowInvalid, match="older form"):
        Flow.load(FILES / "example-workflow-v0.json")
    for file in sorted(FILES.glob("*.toml")):
        with pytest.raises(FormatError):
            Flow.load(file)


def remarks(folder: Path, data: Any) -> list[str]:
    return [str(remark) for remark in Flow.load(saved(folder, data)).report]


REPORTED: Final[dict[str, tuple[Any, str]]] = {
    "an entry point besides the first": (
        workflow([typing("a"), typing("b")], edge("a a"))
        | {"edges": []},
        "node 'b': originally a second entry point, which may be refused; here the walk never comes to it",
    ),
    "a name that variables do not have": (
        workflow([typing("a", "Go on")]),
        "node 'Go on': originally has variables called Go on.success and so on; here go_on.success",
    ),
    "many retries": (
        workflow([typing("a", retries=11)]),
        "node 'a': originally offers up to 10 retries; here it has its 11",
    ),
    "a variable that nobody sets": (
        workflow([node("i", "i", "If", condition=condition(variable("b.x"), "Equals", literal(1))), typing("a")],
                 edge("i a", "IfTrue"), edge("i a", "IfFalse")),
        "node 'i': originally reads 'b.x', which no node sets, as null; "
        "here it is null too, so every comparison but NotEquals is false",
    ),
    "a loop": (
        workflow([*LOOP, typing("a")], edge("l a", "LoopBody"), edge("a l_end")),
        "node 'l': originally tests its limit before its exit condition; here it tests the exit condition first",
    ),
    "an AI step without a model": (
        workflow([node("a", "a", "AiStep", prompt="Look.")]),
        "node 'a': originally asks the model of the program; "
        "here none is given, so it fails: FILE#model=provider/name gives one",
    ),
    "a timeout": (
        workflow([typing("a", timeout_ms=5)]),
        "node 'a': originally has a timeout, which counts for AI steps alone; here it is kept, and not used",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REPORTED)
def test_the_report_tells_what_is_different_or_unsound(case: str, tmp_path: Path) -> None:
    data, expected = REPORTED[case]
    assert expected in remarks(tmp_path, data)


def test_a_sound_workflow_has_no_remarks(tmp_path: Path) -> None:
    assert remarks(tmp_path, TWO) == []


RUNS: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "the first of two entry points": (lambda: TWO | {"edges": []}, "a"),
    "branches that come together": (
        lambda: workflow([IF, typing("a"), typing("b"), press("z")], edge("i a", "IfTrue"), edge("i b", "IfFalse"),
                         edge("a z"), edge("b z")),
        "a z",
    ),
    "a walk that leaves a loop": (
        lambda: workflow([*LOOP, IF, typing("a"), press("z")], edge("l a", "LoopBody"), edge("a i"),
                         edge("i z", "IfTrue"), edge("i l_end", "IfFalse"), edge("l z", "LoopDone")),
        "a z",
    ),
    "a walk that ends in a loop": (
        lambda: workflow([*LOOP, IF, typing("a"), press("y"), press("z")], edge("l a", "LoopBody"), edge("a i"),
                         edge("i y", "IfTrue"), edge("i l_end", "IfFalse"), edge("l z", "LoopDone")),
        "a y",
    ),
    "a loop that begins the walk, without a LoopDone": (
        lambda: workflow([*LOOP, typing("a")], edge("l a", "LoopBody"), edge("a l_end"), edge("l_end l")),
        "a a",
    ),
    "a loop with an empty body": (
        lambda: workflow([*LOOP, press("z")], edge("l l_end", "LoopBody"), edge("l z", "LoopDone")),
        "z",
    ),
    "a disabled node between two": (
        lambda: workflow([typing("a"), typing("b", enabled=False), press("z")]), "a z",
    ),
    "a disabled Switch without a default": (
        lambda: workflow([SWITCH | {"enabled": False}, typing("a")], edge("s a", "SwitchCase", "x")), "a",
    ),
    "a disabled EndLoop": (
        lambda: workflow([LOOP[0], LOOP[1] | {"enabled": False}, typing("a")], edge("l a", "LoopBody"),
                         edge("a l_end"), edge("l_end l")),
        "a a",
    ),
    "a SwitchDefault": (
        lambda: workflow([node("s", "s", "Switch", cases=[{"name": "x", "condition": never}]), typing("a"),
                          typing("b")], edge("s a", "SwitchCase", "x"), edge("s b", "SwitchDefault")),
        "b",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RUNS)
def test_the_walk_goes_where_its_edges_lead(case: str, tmp_path: Path) -> None:
    make, typed = RUNS[case]
    done = run(tmp_path, make())
    assert (done.typed, done.error) == (typed, None)
