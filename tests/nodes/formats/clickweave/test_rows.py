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
ELSEWHERE: Final = {"CW20": "test_checks.py", "CW22": "test_words.py"}


def loops(done: Done, id: str = "l") -> list[tuple[str, int]]:
    """Tell how each time a loop was left, and after how many rounds."""
    return [
        (str(event.data["reason"]), event.data["iterations"])
        for event in done.events
        if event.kind is EventKind.LOOP_EXITED and event.path.split("/")[-1] == id
    ]


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


def cw01(folder: Path) -> None:
    done = run(folder, workflow([typing("a", text="A"), press("b", key="B")]))
    assert done.calls == [("type_text", {"text": "A"}), ("press_key", {"key": "B"})]
    assert [event.data["status"] for event in done.events if event.kind is EventKind.RUN_FINISHED] == [
        "completed"
    ]


def cw02(folder: Path) -> None:
    done = run(folder, looping(always, 9, typing("n")))
    assert (done.typed, loops(done)) == ("n", [("condition", 1)])


def cw03(folder: Path) -> None:
    done = run(folder, looping(never, 3, typing("n")))
    assert (done.typed, loops(done)) == ("n n n", [("max_iterations", 3)])


def cw04(folder: Path) -> None:
    after_body = condition(variable("n.success"), "Equals", literal(True))
    done = run(folder, looping(after_body, 1, typing("n")))
    assert (done.typed, loops(done)) == ("n", [("condition", 1)])


def cw05(folder: Path) -> None:
    nodes = [*loop("outer", never, 2), *loop("l", never, 2), typing("n")]
    edges = [
        edge("outer l", "LoopBody"), edge("l n", "LoopBody"), edge("n l_end"),
        edge("l outer_end", "LoopDone"),
    ]  # fmt: skip
    done = run(folder, workflow(nodes, *edges))
    assert (done.typed, loops(done)) == ("n n n n", [("max_iterations", 2), ("max_iterations", 2)])


def cw06(folder: Path) -> None:
    tested = condition(variable("a.success"), "Equals", literal(True))
    nodes = [typing("a"), node("i", "i", "If", condition=tested), typing("yes"), typing("no")]
    done = run(folder, workflow(nodes, edge("a i"), edge("i yes", "IfTrue"), edge("i no", "IfFalse")))
    assert done.typed == "a yes"
    taken = [
        event.data["metadata"]["taken"]
        for event in done.events
        if event.path == "i" and "metadata" in event.data
    ]
    assert taken == ["IfTrue"]


def cw07(folder: Path) -> None:
    done = run(
        folder,
        branching(
            ("equals", condition(variable("nope"), "Equals", literal(""))),
            ("differs", condition(variable("nope"), "NotEquals", literal("a"))),
            ("empty", condition(variable("nope"), "IsEmpty")),
        ),
    )
    assert done.typed == "begin differs empty end"


def cw08(folder: Path) -> None:
    done = run(
        folder,
        branching(
            ("number", condition(literal(42), "Equals", literal("42"))),
            ("boolean", condition(literal(True), "Equals", literal("true"))),
            ("capital", condition(literal(True), "Equals", literal("True"))),
            ("order", condition(literal("5"), "GreaterThan", literal(4))),
        ),
    )
    assert done.typed == "begin number boolean order end"


def cw09(folder: Path) -> None:
    done = run(
        folder,
        branching(
            ("number", condition(literal("5 items"), "Contains", literal(5))),
            ("text", condition(literal("5 items"), "Contains", literal("5"))),
        ),
    )
    assert done.typed == "begin text end"


def switching(*edges: dict[str, Any], **cases: dict[str, Any]) -> dict[str, Any]:
    listed = [{"name": name, "condition": tested} for name, tested in cases.items()]
    nodes = [typing("begin"), node("s", "s", "Switch", cases=listed), *map(typing, cases), typing("other")]
    leading = [edge(f"s {name}", "SwitchCase", name) for name in cases]
    return workflow(nodes, edge("begin s"), *leading, *edges)


def cw10(folder: Path) -> None:
    assert run(folder, switching(a=always, b=always)).typed == "begin a"


def cw11(folder: Path) -> None:
    done = run(folder, switching(a=never))
    assert (done.typed, done.error) == ("begin", None)


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


def cw17(folder: Path) -> None:
    off = {"enabled": False}
    nodes = [
        node("i", "i", "If", condition=always, _=off), typing("yes"), *loop("l", never, 3, **off),
        typing("n"), typing("done"),
    ]  # fmt: skip
    edges = [
        edge("i yes", "IfTrue"), edge("i l", "IfFalse"), edge("l n", "LoopBody"), edge("n l_end"),
        edge("l done", "LoopDone"),
    ]  # fmt: skip
    assert run(folder, workflow(nodes, *edges)).typed == "done"


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
        Flow.load(saved(folder, workflow(nodes, edge("i yes", "IfTrue"))))


ROWS: Final[dict[str, Callable[[Path], None]]] = {
    name.upper(): row for name, row in list(globals().items()) if name.startswith("cw") and callable(row)
}


def test_a_workflow_does_what_its_row_says(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for id, row in ROWS.items():
        with subtests.test(id):
            row(tmp_path)


def test_each_row_stands_here_or_is_said_to_stand_elsewhere() -> None:
    assert sorted([*ROWS, *ELSEWHERE]) == [f"CW{number:02}" for number in range(1, 23)]
    assert not [name for name in ELSEWHERE.values() if not Path(__file__).with_name(name).is_file()]
