# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is reported about workflows of Clickweave, and about runs of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from tests.messages.telling import Row, Stimulus, files, later
from tests.nodes.formats.clickweave.workflows import (
    always,
    condition,
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


def loaded(data: Any, **options: str) -> Stimulus:
    return files(lambda folder: Flow.load(saved(folder, data), format="clickweave", **options))


def reported(data: Any) -> Stimulus:
    return files(lambda folder: [str(remark) for remark in Flow.load(saved(folder, data)).report])


@later
def ran(type: str, *says: str, answers: dict[str, Any], **config: Any) -> object:
    with tempfile.TemporaryDirectory() as folder:
        done = run(Path(folder), workflow([node("a", "It", type, **config)]), *says, **answers)
        assert done.error is not None
        raise done.error


def failed_with_checks() -> object:
    with tempfile.TemporaryDirectory() as folder:
        data = workflow([typing("a", expected_outcome="it is typed")])
        done = run(Path(folder), data, type_text=[{"error": "no"}])
        assert done.error is not None
        raise done.error


FOCUS: Final[dict[str, Any]] = {"method": "AppName", "value": "calc"}
APPS: Final = {"list_apps": [[{"name": "Calc", "pid": 7}]]}
OLD: Final = {"id": "1", "name": "old", "nodes": [{"id": "2", "kind": "Start", "params": {}}], "edges": []}
TWO: Final = workflow([typing("a"), press("b")])
IF: Final = node("i", "Seen?", "If", condition=always)
SWITCH: Final = node("s", "Which", "Switch", cases=[{"name": "x", "condition": always}])
LOOP: Final = loop("l", never, 2)

# fmt: off
ROWS: Final = [
    Row("a list", loaded([])),
    Row("no nodes", loaded(workflow([]))),
    Row("no type", loaded(workflow([{"id": "a", "name": "Odd", "node_type": None}]))),
    Row("loops that overlap", loaded(workflow([*loop("l", never, 2), *loop("m", never, 2), IF], "l m LoopBody", "m i LoopBody", "i l_end IfTrue", "i m_end IfFalse", "l m_end LoopDone"))),
    Row("no entry point", loaded(workflow([typing("a"), press("b")], "a b", "b a"))),
    Row("an If with one branch", loaded(workflow([IF, typing("a")], "i a IfTrue"))),
    Row("an If with an edge without output", loaded(workflow([IF, typing("a")], "i a IfTrue", "i a IfFalse", "i a"))),
    Row("a Switch with a case that leads nowhere", loaded(workflow([SWITCH]))),
    Row("two edges that lead on", loaded(workflow([typing("a"), press("b"), press("c")], "a b", "a c"))),
    Row("a loop without an end", loaded(workflow([LOOP[0], typing("a")], "l a LoopBody"))),
    Row("an end of no loop", loaded(workflow([typing("a"), node("e", "e", "EndLoop", loop_id="a")], "a e"))),
    Row("an end that leads elsewhere", loaded(workflow( [*LOOP, typing("a"), press("b")], "l a LoopBody", "a l_end", "l_end b", "l b LoopDone", ))),
    Row("a loop that may never run", loaded(workflow([*loop("l", never, 0), typing("a")], "l a LoopBody", "a l_end"))),
    Row("a body that never ends", loaded(workflow([*LOOP, typing("a"), press("b")], "l a LoopBody", "l b LoopDone", "b l_end"))),
    Row("a way into a loop past it", loaded(workflow( [IF, *LOOP, typing("a")], "i l IfTrue", "i a IfFalse", "l a LoopBody", "a l_end", ))),
    Row("two names of one prefix", loaded(workflow([typing("a", "Go!"), typing("b", "go?")]))),
    Row("a tool without a name", loaded(workflow([node("a", "Odd", "McpToolCall", tool_name="", arguments=None)]))),
    Row("all of it disabled", loaded(workflow([typing("a", enabled=False)]))),
    Row("an entry point besides the first", reported(workflow([typing("a"), typing("b")], "a a") | {"edges": []})),
    Row("a name that variables do not have", reported(workflow([typing("a", "Go on")]))),
    Row("many retries", reported(workflow([typing("a", retries=11)]))),
    Row("a variable that nobody sets", reported(workflow([node("i", "i", "If", condition=condition(variable("b.x"), "Equals", literal(1))), typing("a")], "i a IfTrue", "i a IfFalse"))),
    Row("a loop", reported(workflow([*LOOP, typing("a")], "l a LoopBody", "a l_end"))),
    Row("an AI step without a model", reported(workflow([node("a", "a", "AiStep", prompt="Look.")]))),
    Row("a timeout", reported(workflow([typing("a", timeout_ms=5)]))),
    Row("no type at all", loaded(workflow([{"id": "a", "name": "Odd"}]))),
    Row("an edge without ends", loaded(workflow([typing("a")], {"output": None}))),
    Row("the older form", loaded(OLD)),
    Row("two cases of one name", loaded(workflow([node("s", "Which", "Switch", cases=[{"name": "x", "condition": always}] * 2), typing("a")], "s a SwitchCase x"))),
    Row("a server that is no command", loaded(TWO, server="'")),
    Row("an empty server", loaded(TWO, server="")),
    Row("models that are none", loaded(TWO, model="house", vision_model="a b")),
    Row("no app runs", ran("FocusWindow", answers={"list_apps": [[]]}, **FOCUS)),
    Row("an app that does not run", ran("FocusWindow", "null", answers=APPS, **FOCUS)),
    Row("an answer that is no JSON", ran("FocusWindow", "Calculator", answers=APPS, **FOCUS)),
    Row("an app that is not listed", ran("FocusWindow", '{"name": "Mail"}', answers=APPS, **FOCUS)),
    Row("an app without a process", ran("FocusWindow", '{"name": "Calc"}', answers=APPS, **FOCUS)),
    Row("a walk with checks that fails", failed_with_checks),
    Row("nothing to click on", ran("Click", answers={"find_text": ["[]"]}, target="OK")),
]
# fmt: on
