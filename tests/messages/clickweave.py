# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is reported about workflows of Clickweave, and about runs of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from tests.messages.telling import Row, Stimulus, files, later
from tests.nodes.formats.clickweave import workflows as cw


def loaded(data: Any, **options: str) -> Stimulus:
    return files(lambda folder: Flow.load(cw.saved(folder, data), format="clickweave", **options))


def reported(data: Any) -> Stimulus:
    return files(lambda folder: [str(remark) for remark in Flow.load(cw.saved(folder, data)).report])


@later
def ran(type: str, *says: str, answers: dict[str, Any], **config: Any) -> object:
    with tempfile.TemporaryDirectory() as folder:
        done = cw.run(Path(folder), cw.workflow([cw.node("a", "It", type, **config)]), *says, **answers)
        assert done.error is not None
        raise done.error


def failed_with_checks() -> object:
    with tempfile.TemporaryDirectory() as folder:
        data = cw.workflow([cw.typing("a", expected_outcome="it is typed")])
        done = cw.run(Path(folder), data, type_text=[{"error": "no"}])
        assert done.error is not None
        raise done.error


FOCUS: Final[dict[str, Any]] = {"method": "AppName", "value": "calc"}
APPS: Final = {"list_apps": [[{"name": "Calc", "pid": 7}]]}
OLD: Final = {"id": "1", "name": "old", "nodes": [{"id": "2", "kind": "Start", "params": {}}], "edges": []}
TWO: Final = cw.workflow([cw.typing("a"), cw.press("b")])
IF: Final = cw.node("i", "Seen?", "If", condition=cw.always)
SWITCH: Final = cw.node("s", "Which", "Switch", cases=[{"name": "x", "condition": cw.always}])
LOOP: Final = cw.loop("l", cw.never, 2)

# fmt: off
ROWS: Final = [
    Row("a list", loaded([])),
    Row("no nodes", loaded(cw.workflow([]))),
    Row("no type", loaded(cw.workflow([{"id": "a", "name": "Odd", "node_type": None}]))),
    Row("loops that overlap", loaded(cw.workflow([*cw.loop("l", cw.never, 2), *cw.loop("m", cw.never, 2), IF], "l m LoopBody", "m i LoopBody", "i l_end IfTrue", "i m_end IfFalse", "l m_end LoopDone"))),
    Row("no entry point", loaded(cw.workflow([cw.typing("a"), cw.press("b")], "a b", "b a"))),
    Row("an If with one branch", loaded(cw.workflow([IF, cw.typing("a")], "i a IfTrue"))),
    Row("an If with an edge without output", loaded(cw.workflow([IF, cw.typing("a")], "i a IfTrue", "i a IfFalse", "i a"))),
    Row("a Switch with a case that leads nowhere", loaded(cw.workflow([SWITCH]))),
    Row("two edges that lead on", loaded(cw.workflow([cw.typing("a"), cw.press("b"), cw.press("c")], "a b", "a c"))),
    Row("a loop without an end", loaded(cw.workflow([LOOP[0], cw.typing("a")], "l a LoopBody"))),
    Row("an end of no loop", loaded(cw.workflow([cw.typing("a"), cw.node("e", "e", "EndLoop", loop_id="a")], "a e"))),
    Row("an end that leads elsewhere", loaded(cw.workflow( [*LOOP, cw.typing("a"), cw.press("b")], "l a LoopBody", "a l_end", "l_end b", "l b LoopDone", ))),
    Row("a loop that may never run", loaded(cw.workflow([*cw.loop("l", cw.never, 0), cw.typing("a")], "l a LoopBody", "a l_end"))),
    Row("a body that never ends", loaded(cw.workflow([*LOOP, cw.typing("a"), cw.press("b")], "l a LoopBody", "l b LoopDone", "b l_end"))),
    Row("a way into a loop past it", loaded(cw.workflow( [IF, *LOOP, cw.typing("a")], "i l IfTrue", "i a IfFalse", "l a LoopBody", "a l_end", ))),
    Row("two names of one prefix", loaded(cw.workflow([cw.typing("a", "Go!"), cw.typing("b", "go?")]))),
    Row("a tool without a name", loaded(cw.workflow([cw.node("a", "Odd", "McpToolCall", tool_name="", arguments=None)]))),
    Row("all of it disabled", loaded(cw.workflow([cw.typing("a", enabled=False)]))),
    Row("an entry point besides the first", reported(cw.workflow([cw.typing("a"), cw.typing("b")], "a a") | {"edges": []})),
    Row("a name that variables do not have", reported(cw.workflow([cw.typing("a", "Go on")]))),
    Row("many retries", reported(cw.workflow([cw.typing("a", retries=11)]))),
    Row("a variable that nobody sets", reported(cw.workflow([cw.node("i", "i", "If", condition=cw.condition(cw.variable("b.x"), "Equals", cw.literal(1))), cw.typing("a")], "i a IfTrue", "i a IfFalse"))),
    Row("a loop", reported(cw.workflow([*LOOP, cw.typing("a")], "l a LoopBody", "a l_end"))),
    Row("an AI step without a model", reported(cw.workflow([cw.node("a", "a", "AiStep", prompt="Look.")]))),
    Row("a timeout", reported(cw.workflow([cw.typing("a", timeout_ms=5)]))),
    Row("no type at all", loaded(cw.workflow([{"id": "a", "name": "Odd"}]))),
    Row("an edge without ends", loaded(cw.workflow([cw.typing("a")], {"output": None}))),
    Row("the older form", loaded(OLD)),
    Row("two cases of one name", loaded(cw.workflow([cw.node("s", "Which", "Switch", cases=[{"name": "x", "condition": cw.always}] * 2), cw.typing("a")], "s a SwitchCase x"))),
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
