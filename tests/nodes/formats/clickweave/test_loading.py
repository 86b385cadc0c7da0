"""Loading workflows of Clickweave: real files, and where walks lead."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid, FormatError
from tests.nodes.formats.clickweave.workflows import (
    always,
    loop,
    never,
    node,
    press,
    run,
    saved,
    typing,
    workflow,
)

FILES: Final = Path(__file__).parents[5] / "shared" / "files" / "clickweave"


TWO: Final = workflow([typing("a"), press("b")])
IF: Final = node("i", "Seen?", "If", condition=always)
SWITCH: Final = node("s", "Which", "Switch", cases=[{"name": "x", "condition": always}])
LOOP: Final = loop("l", never, 2)


@pytest.mark.skipif(not FILES.is_dir(), reason="the files of the system are no part of the project")
def test_real_files_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(FlowInvalid, match="DF4401"):
        Flow.load(FILES / "example-workflow-v0.json")
    for file in sorted(FILES.glob("*.toml")):
        with pytest.raises(FormatError):
            Flow.load(file)


def test_a_sound_workflow_has_no_remarks(tmp_path: Path) -> None:
    assert list(Flow.load(saved(tmp_path, TWO)).report) == []


RUNS: Final[dict[str, tuple[Any, str]]] = {
    "the first of two entry points": (TWO | {"edges": []}, "a"),
    "branches that come together": (
        workflow([IF, typing("a"), typing("b"), press("z")], "i a IfTrue", "i b IfFalse",
                         "a z", "b z"),
        "a z",
    ),
    "a walk that leaves a loop": (
        workflow([*LOOP, IF, typing("a"), press("z")], "l a LoopBody", "a i",
                         "i z IfTrue", "i l_end IfFalse", "l z LoopDone"),
        "a z",
    ),
    "a walk that ends in a loop": (
        workflow([*LOOP, IF, typing("a"), press("y"), press("z")], "l a LoopBody", "a i",
                         "i y IfTrue", "i l_end IfFalse", "l z LoopDone"),
        "a y",
    ),
    "a loop that begins the walk, without a LoopDone": (
        workflow([*LOOP, typing("a")], "l a LoopBody", "a l_end", "l_end l"),
        "a a",
    ),
    "a loop with an empty body": (
        workflow([*LOOP, press("z")], "l l_end LoopBody", "l z LoopDone"),
        "z",
    ),
    "a disabled node between two": (
        workflow([typing("a"), typing("b", enabled=False), press("z")]), "a z",
    ),
    "a disabled Switch without a default": (
        workflow([SWITCH | {"enabled": False}, typing("a")], "s a SwitchCase x"), "a",
    ),
    "a disabled EndLoop": (
        workflow([LOOP[0], LOOP[1] | {"enabled": False}, typing("a")], "l a LoopBody",
                         "a l_end", "l_end l"),
        "a a",
    ),
    "a SwitchDefault": (
        workflow([node("s", "s", "Switch", cases=[{"name": "x", "condition": never}]), typing("a"),
                          typing("b")], "s a SwitchCase x", "s b SwitchDefault"),
        "b",
    ),
}  # fmt: skip


def test_the_walk_goes_where_its_edges_lead(tmp_path: Path) -> None:
    walks = {case: run(tmp_path, data) for case, (data, _) in RUNS.items()}
    assert [case for case, done in walks.items() if done.error] == []
    assert {case: done.typed for case, done in walks.items()} == {
        case: typed for case, (_, typed) in RUNS.items()
    }
