"""Where walks lead, real files, and workflows, random ones too, run as the documents that they become."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from dataflow import Flow, FlowInvalid, FormatError
from dataflow.formats.native.writer import dump, dump_yaml
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


OFF: Final = {"enabled": False}
DEFAULT: Final = node("s", "s", "Switch", cases=[{"name": "x", "condition": never}])
IN_LOOP: Final = "l a LoopBody, a i, i l_end IfFalse, l z LoopDone"
#: Nodes of a walk, its edges, and what it types and presses.
RUNS: Final[dict[str, tuple[list[Any], str, str]]] = {
    "branches that come together": (
        [IF, *map(typing, "ab"), press("z")],
        "i a IfTrue, i b IfFalse, a z, b z",
        "a z",
    ),
    "a walk that leaves a loop": ([*LOOP, IF, typing("a"), press("z")], f"{IN_LOOP}, i z IfTrue", "a z"),
    "a walk that ends in a loop": (
        [*LOOP, IF, typing("a"), *map(press, "yz")],
        f"{IN_LOOP}, i y IfTrue",
        "a y",
    ),
    "a loop that begins the walk, without a LoopDone": (
        [*LOOP, typing("a")],
        "l a LoopBody, a l_end, l_end l",
        "a a",
    ),
    "a loop with an empty body": ([*LOOP, press("z")], "l l_end LoopBody, l z LoopDone", "z"),
    "a disabled node between two": ([typing("a"), typing("b", enabled=False), press("z")], "a b, b z", "a z"),
    "a disabled Switch without a default": ([SWITCH | OFF, typing("a")], "s a SwitchCase x", "a"),
    "a disabled EndLoop": (
        [LOOP[0], LOOP[1] | OFF, typing("a")],
        "l a LoopBody, a l_end, l_end l",
        "a a",
    ),
    "a SwitchDefault": ([DEFAULT, *map(typing, "ab")], "s a SwitchCase x, s b SwitchDefault", "b"),
}


def test_the_walk_goes_where_its_edges_lead(tmp_path: Path) -> None:
    told = {case: workflow(nodes, *edges.split(", ")) for case, (nodes, edges, _) in RUNS.items()}
    walks = {case: run(tmp_path, data) for case, data in told.items()}
    assert [case for case, done in walks.items() if done.error] == []
    assert {case: done.typed for case, done in walks.items()} == {
        case: typed for case, (*_, typed) in RUNS.items()
    }


names = some.text(min_size=1, max_size=4)
sides = some.one_of(
    some.builds(literal, some.one_of(some.booleans(), some.text(max_size=3), some.integers(-9, 9))),
    some.builds(variable, names),
)
conditions = some.builds(
    condition, sides, some.sampled_from(["Equals", "Contains", "IsEmpty", "LessThan"]), sides
)


@some.composite
def workflows(draw: some.DrawFn) -> dict[str, Any]:
    """Draw a chain of nodes, branches that come together again, and loops in one another."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []

    def new(kind: str, **config: Any) -> str:
        fields = {"retries": draw(some.integers(0, 2)), "enabled": draw(some.integers(0, 5)) > 0}
        nodes.append(node(f"n{len(nodes)}", f"N {len(nodes)}", kind, _=fields, **config))
        return str(nodes[-1]["id"])

    def part(depth: int) -> tuple[str, list[tuple[str, str]]]:
        shapes = ["text", "key"] if depth > 2 else ["text", "key", "if", "loop", "two"]
        match draw(some.sampled_from(shapes)):
            case "text":
                id = new("TypeText", text=draw(some.text(max_size=3)))
                return id, [(id, "")]
            case "key":
                id = new("PressKey", key="x", modifiers=draw(some.lists(some.just("shift"), max_size=1)))
                return id, [(id, "")]
            case "two":
                first, ends = part(depth + 1)
                second, further = part(depth + 1)
                edges.extend(edge(f"{id} {second}", output) for id, output in ends)
                return first, further
            case "if":
                id = new("If", condition=draw(conditions))
                yes, ends = part(depth + 1)
                no, others = part(depth + 1)
                edges.extend([edge(f"{id} {yes}", "IfTrue"), edge(f"{id} {no}", "IfFalse")])
                return id, ends + others
            case _:
                id = new("Loop", exit_condition=draw(conditions), max_iterations=draw(some.integers(1, 3)))
                body, ends = part(depth + 1)
                last = new("EndLoop", loop_id=id)
                edges.append(edge(f"{id} {body}", "LoopBody"))
                edges.extend(edge(f"{one} {last}", output) for one, output in ends)
                return id, [(id, "LoopDone")]

    part(0)
    return workflow(nodes, name=draw(names)) | {"edges": edges}


#: Nothing to walk through, and a loop that a disabled node keeps from its end.
DISABLED: Final = {"DF4411", "DF4412"}


@settings(max_examples=25)
@given(data=workflows())
def test_any_workflow_is_the_same_flow_again_once_it_is_converted(
    data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("random")
    try:
        flow = Flow.load(saved(folder, data))
    except FlowInvalid as invalid:
        assume(not {problem.code for problem in invalid.diagnostics} <= DISABLED)
        raise
    (folder / "flow.yaml").write_text(dump_yaml(flow.wiring), encoding="utf-8")
    assert dump(Flow.load(folder / "flow.yaml").wiring) == dump(flow.wiring)
