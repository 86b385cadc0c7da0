"""What workflows of Clickweave do, a row for each behaviour; where walks lead; tables of conditions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from dataflow import EventKind, Flow, FlowInvalid, FormatError
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow_formats.clickweave.conditions import Condition, holds, number_in, written
from tests.nodes.formats.clickweave.workflows import (
    Done,
    always,
    condition,
    edge,
    literal,
    loop,
    looping,
    never,
    node,
    press,
    run,
    saved,
    typing,
    variable,
    workflow,
)

#: Rows that stand in other files, and where.
ELSEWHERE: Final = {"CW20": "test_actions.py", "CW22": "test_actions.py"}


def loops(done: Done) -> list[tuple[str, int]]:
    """Tell how each time the loop `l` was left, and after how many rounds."""
    left = [event for event in done.events if event.kind is EventKind.LOOP_EXITED]
    return [(one.data["reason"], one.data["iterations"]) for one in left if one.path.split("/")[-1] == "l"]


def branching(*cases: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Type the names of the cases whose conditions hold, one If for each."""
    nodes: list[dict[str, Any]] = [typing("begin")]
    edges: list[dict[str, Any]] = []
    last: list[tuple[str, str]] = [("begin", "")]
    for name, tested in cases:
        nodes += [node(f"if-{name}", name, "If", condition=tested), typing(name)]
        edges += [{**edge("a b", output), "from": id, "to": f"if-{name}"} for id, output in last]
        edges.append({**edge("a b", "IfTrue"), "from": f"if-{name}", "to": name})
        last = [(name, ""), (f"if-{name}", "IfFalse")]
    nodes.append(press("end"))
    edges += [{**edge("a b", output), "from": id, "to": "end"} for id, output in last]
    return workflow(nodes, *edges)


def typed_after(*cases: tuple[str, Any, str, Any]) -> dict[str, Any]:
    """Type the names of the comparisons that hold, each a name, a left side, an operator and a right side."""
    return branching(*((name, condition(left, how, literal(right))) for name, left, how, right in cases))


def switching(**cases: dict[str, Any]) -> dict[str, Any]:
    listed = [{"name": name, "condition": tested} for name, tested in cases.items()]
    nodes = [typing("begin"), node("s", "s", "Switch", cases=listed), *map(typing, cases), typing("other")]
    return workflow(nodes, "begin s", *(f"s {name} SwitchCase {name}" for name in cases))


OFF: Final = {"enabled": False}
NESTED: Final = workflow(
    [*loop("outer", never, 2), *loop("l", never, 2), typing("n")],
    *("outer l LoopBody", "l n LoopBody", "n l_end", "l outer_end LoopDone"),
)
DISABLED: Final = workflow(
    [
        node("i", "i", "If", condition=always, _=OFF),
        *map(typing, ("yes", "n", "done")),
        *loop("l", never, 3, **OFF),
    ],
    *("i yes IfTrue", "i l IfFalse", "l n LoopBody", "n l_end", "l done LoopDone"),
)
UNSET: Final = [
    ("equals", variable("nope"), "Equals", ""),
    ("differs", variable("nope"), "NotEquals", "a"),
    ("empty", variable("nope"), "IsEmpty", ""),
]
UNLIKE: Final = [
    ("number", literal(42), "Equals", "42"),
    ("boolean", literal(True), "Equals", "true"),
    ("capital", literal(True), "Equals", "True"),
    ("order", literal("5"), "GreaterThan", 4),
]
ITEMS: Final = literal("5 items")
FIVES: Final = [("number", ITEMS, "Contains", 5), ("text", ITEMS, "Contains", "5")]
DONE: Final = condition(variable("n.success"), "Equals", literal(True))
LIMIT: Final = ("max_iterations", 2)
#: Workflows, what they type and press, and how each time the loop `l` was left.
WALKS: Final[dict[str, tuple[dict[str, Any], str, list[tuple[str, int]]]]] = {
    "CW01": (workflow([typing("a", text="A"), press("b", key="B")]), "A B", []),
    "CW02": (looping(always, 9, typing("n")), "n", [("condition", 1)]),
    "CW03": (looping(never, 3, typing("n")), "n n n", [("max_iterations", 3)]),
    "CW04": (looping(DONE, 1, typing("n")), "n", [("condition", 1)]),
    "CW05": (NESTED, "n n n n", [LIMIT, LIMIT]),
    "CW07": (typed_after(*UNSET), "begin differs empty end", []),
    "CW08": (typed_after(*UNLIKE), "begin number boolean order end", []),
    "CW09": (typed_after(*FIVES), "begin text end", []),
    "CW10": (switching(a=always, b=always), "begin a", []),
    "CW11": (switching(a=never), "begin", []),
    "CW17": (DISABLED, "done", []),
}


def walks(folder: Path) -> None:
    done = {id: run(folder, data) for id, (data, *_) in WALKS.items()}
    assert [id for id, one in done.items() if one.error] == []
    assert {id: (one.typed, loops(one)) for id, one in done.items()} == {
        id: (typed, left) for id, (_, typed, left) in WALKS.items()
    }


def cw06(folder: Path) -> None:
    tested = condition(variable("a.success"), "Equals", literal(True))
    nodes = [typing("a"), node("i", "i", "If", condition=tested), typing("yes"), typing("no")]
    done = run(folder, workflow(nodes, "a i", "i yes IfTrue", "i no IfFalse"))
    told = [event.data.get("metadata", {}).get("taken") for event in done.events if event.path == "i"]
    assert (done.typed, [one for one in told if one]) == ("a yes", ["IfTrue"])


def found(folder: Path, answer: Any) -> dict[str, Any]:
    finding = node(
        "f", "Find Text", "FindText", search_text="L", match_mode="Contains", scope=None, select_result=None
    )
    done = run(folder, workflow([finding]), find_text=[answer])
    return {name.removeprefix("find_text."): value for name, value in done.variables.items()}


def cw12(folder: Path) -> None:
    matches = [{"text": "Login", "x": 1}, {"text": "L2", "x": 2}]
    expected = {
        "success": True, "found": True, "count": 2, "text": "Login", "x": 1, "matches": matches,
        "result": matches,
    }  # fmt: skip
    assert found(folder, matches) == expected


def cw13(folder: Path) -> None:
    assert found(folder, []) == {"success": True, "found": False, "count": 0, "matches": [], "result": []}


def cw14(folder: Path) -> None:
    done = run(folder, workflow([typing("a", "Click (Login Button)")]))
    assert done.variables["click__login_button_.success"] is True


FAILS: Final = {"error": "no"}


def attempts(done: Done, id: str) -> list[int]:
    failed = [event for event in done.events if event.kind is EventKind.ATTEMPT_FAILED and event.path == id]
    return [event.data["attempt"] for event in failed]


def cw15(folder: Path) -> None:
    done = run(folder, workflow([typing("a", retries=2)]), type_text=[FAILS, FAILS, "ok"])
    assert (done.tools, attempts(done, "a"), done.error) == (["type_text"] * 3, [1, 2], None)


def cw16(folder: Path) -> None:
    done = run(folder, workflow([typing("a", retries=1), press("b")]), type_text=[FAILS])
    assert done.tools == ["type_text"] * 2
    assert [failure.node for failure in done.error.failures] == ["call"] if done.error else False


def focusing(id: str, app: str, **fields: Any) -> dict[str, Any]:
    return node(id, id, "FocusWindow", method="AppName", value=app, bring_to_front=True, _=fields)


def clicking(id: str, target: str, **fields: Any) -> dict[str, Any]:
    return node(id, id, "Click", target=target, x=None, y=None, button="Left", click_count=1, _=fields)


APPS: Final = [[{"name": "Calc", "pid": 7}]]
CALC: Final = '{"name": "Calc", "pid": 7}'


def cw18(folder: Path) -> None:
    nodes = [focusing("focus", "Calc"), clicking("click", "OK")]
    done = run(folder, workflow(nodes), CALC, list_apps=APPS, find_text=[[{"text": "OK", "x": 10, "y": 20}]])
    assert done.calls[-2:] == [
        ("find_text", {"text": "OK", "app_name": "Calc"}),
        ("click", {"x": 10, "y": 20, "button": "left", "click_count": 1}),
    ]


def cw19(folder: Path) -> None:
    once = workflow([focusing("a", "calc", retries=1)])
    assert len(run(folder, once, CALC, CALC, list_apps=APPS, focus_window=[FAILS, "ok"]).requests) == 2
    twice = workflow([focusing("a", "calc"), focusing("b", "calc")])
    assert len(run(folder, twice, CALC, list_apps=APPS).requests) == 1


def cw21(folder: Path) -> None:
    nodes = [node("i", "Seen?", "If", condition=always), typing("yes")]
    with pytest.raises(FlowInvalid, match=r"DF4404 nodes\[0\]: node 'Seen\?':"):
        Flow.load(saved(folder, workflow(nodes, "i yes IfTrue")))


ROWS: Final[dict[str, Callable[[Path], None]]] = {
    name.upper(): row for name, row in list(globals().items()) if name.startswith("cw") and callable(row)
}


def test_a_workflow_does_what_its_row_says(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for id, row in {"walks": walks, **ROWS}.items():
        with subtests.test(id):
            row(tmp_path)


def test_each_row_stands_here_or_is_said_to_stand_elsewhere() -> None:
    assert sorted([*ROWS, *WALKS, *ELSEWHERE]) == [f"CW{number:02}" for number in range(1, 23)]
    assert not [name for name in ELSEWHERE.values() if not Path(__file__).with_name(name).is_file()]


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
OF_DISABLED: Final = {"DF4411", "DF4412"}


@settings(max_examples=25)
@given(data=workflows())
def test_any_workflow_is_the_same_flow_again_once_it_is_converted(
    data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("random")
    try:
        flow = Flow.load(saved(folder, data))
    except FlowInvalid as invalid:
        assume(not {problem.code for problem in invalid.diagnostics} <= OF_DISABLED)
        raise
    (folder / "flow.yaml").write_text(dump_yaml(flow.wiring), encoding="utf-8")
    assert dump(Flow.load(folder / "flow.yaml").wiring) == dump(flow.wiring)


MISSING: Final = object()


def held(left: Any, operator: str, right: Any = "") -> bool:
    """Tell whether a variable that is `left` stands so to a literal."""
    variables = {} if left is MISSING else {"x": left}
    return holds(Condition.model_validate(condition(variable("x"), operator, literal(right))), variables)


#: A value, and what it comes to: Equals 5, Equals "5", Equals true, Equals "true", Contains 5, "5" and "".
TABLE: Final[list[tuple[Any, str]]] = [
    (5, "TTFFFTT"), (5.0, "TTFFTTT"), ("5", "TTFFFTT"), (" 5", "FFFFFTT"), ("5 items", "FFFFFTT"),
    (True, "FFTTFFT"), ("true", "FFTTFFT"), ("True", "FFFFFFT"), ([], "FFFFFFT"), ({}, "FFFFFFT"),
    (MISSING, "FFFFFFT"),
]  # fmt: skip


#: A value, and whether it is greater than, less than, at least and at most 4.
ORDER: Final[list[tuple[Any, str]]] = [
    (5, "TFTF"), ("5", "TFTF"), (4, "FFTT"), ("4.0", "FFTT"), (3.5, "FTFT"), ("-inf", "FTFT"),
    ("nan", "FFFF"), (" 5", "FFFF"), ("five", "FFFF"), (True, "FFFF"), (MISSING, "FFFF"), ([5], "FFFF"),
]  # fmt: skip


def test_values_compare_as_in_the_tables() -> None:
    asked = [("Equals", 5), ("Equals", "5"), ("Equals", True), ("Equals", "true")]
    asked += [("Contains", 5), ("Contains", "5"), ("Contains", "")]
    found = ["".join("FT"[held(left, operator, right)] for operator, right in asked) for left, _ in TABLE]
    assert found == [row for _, row in TABLE]
    for left, _ in TABLE:
        assert held(left, "NotEquals", 5) is not held(left, "Equals", 5)
        assert held(left, "NotContains", "5") is not held(left, "Contains", "5")
        assert held(left, "IsNotEmpty") is not held(left, "IsEmpty")
    orders = ("GreaterThan", "LessThan", "GreaterThanOrEqual", "LessThanOrEqual")
    found = ["".join("FT"[held(left, operator, 4)] for operator in orders) for left, _ in ORDER]
    assert found == [row for _, row in ORDER]


#: Numbers, and how they are written.
WRITTEN: Final = [
    (5.0, "5.0"), (0.1, "0.1"), (1e15, "1000000000000000.0"), (1e16, "1e16"), (1.5e-7, "1.5e-7"),
    (0.00001, "0.00001"), (-0.000025, "-0.000025"), (1e300, "1e300"), (float("nan"), "null"),
]  # fmt: skip


def test_nothing_is_empty_numbers_are_of_rust_and_what_is_no_text_is_searched_as_json() -> None:
    assert all(held(value, "IsEmpty") for value in ("", [], {}, None, MISSING))
    assert not any(held(value, "IsEmpty") for value in (0, False, 0.0, " ", "0", [None], {"a": None}))
    assert held(0.1 + 0.2, "Equals", 0.3)
    assert held(10**400, "GreaterThan", 1)
    assert not held(0.3001, "Equals", 0.3)
    numbers = ["1e3", "+5", ".5", "5.", "inf", "-Infinity", "NaN", "1E-2", "007"]
    others = ["", " 5", "5 ", "1_000", "0x1F", ".", "e5", "5e", "1,5", "٥", "+", "--5"]
    assert [text for text in (*numbers, *others) if number_in(text) is not None] == numbers
    assert [written(number) for number, _ in WRITTEN] == [text for _, text in WRITTEN]
    assert held([1, "a", None, True], "Contains", '[1,"a",null,true]')
    assert held({"a": [1.0]}, "Contains", '{"a":[1.0]}')
    assert held("übung", "Contains", "ü")
    assert held(None, "Contains", "null")
    assert held({"ä": 1}, "Contains", '{"ä":1}')
