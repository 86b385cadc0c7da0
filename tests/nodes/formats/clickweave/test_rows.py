"""What workflows of Clickweave do, a row for each behaviour, by its id; CW04 is as the document has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import EventKind, Flow, FlowInvalid
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
ELSEWHERE: Final = {"CW20": "test_actions.py", "CW22": "test_words.py"}


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
