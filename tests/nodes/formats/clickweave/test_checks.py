"""Checks of nodes: a model judges them after the walk (row CW20)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from dataflow_agent import ScriptedAnswer
from tests.nodes.formats.clickweave.workflows import loop, never, press, run, typing, workflow


def check(name: str, on_fail: str = "FailNode") -> dict[str, Any]:
    return {"name": name, "check_type": "TextPresent", "params": {"text": "OK"}, "on_fail": on_fail}


def says(**verdicts: str) -> str:
    told = [{"name": name, "verdict": verdict, "reasoning": "seen"} for name, verdict in verdicts.items()]
    return json.dumps({"checks": told})


def verdicts(folder: Path, nodes: list[dict[str, Any]], *answers: Any) -> list[list[str]]:
    done = run(folder, workflow(nodes), *answers)
    return [[result["verdict"] for result in one["check_results"]] for one in done.outputs["checks"]]


#: What happens on failure, the answer of the model, and the verdict.
JUDGED: Final[list[tuple[str, Any, str]]] = [
    ("FailNode", says(A="pass"), "Pass"),
    ("FailNode", says(A="fail"), "Fail"),
    ("WarnOnly", says(A="fail"), "Warn"),
    ("WarnOnly", says(A="perhaps"), "Fail"),
    ("WarnOnly", says(), "Fail"),
    ("WarnOnly", says(**{" a ": "PASS"}), "Pass"),
    ("WarnOnly", "no idea", "Fail"),
    ("WarnOnly", ScriptedAnswer(error="model_unavailable"), "Fail"),
]


def test_a_check_has_the_verdict_of_the_model(tmp_path: Path) -> None:
    found = [
        verdicts(tmp_path, [typing("a", checks=[check("A", on_fail)])], answer)
        for on_fail, answer, _ in JUDGED
    ]
    assert found == [[[verdict]] for *_, verdict in JUDGED]


def test_an_expected_outcome_is_a_check_that_can_fail(tmp_path: Path) -> None:
    nodes = [typing("a", expected_outcome="it is typed")]
    assert verdicts(tmp_path, nodes, says(**{"Expected outcome": "fail"})) == [["Fail"]]


def test_the_model_is_shown_the_answers_and_the_screen(tmp_path: Path) -> None:
    data = workflow([typing("a", checks=[check("A")])])
    picture = {"text": "", "images": 1}
    done = run(tmp_path, data, says(A="pass"), type_text=["typed it"], take_screenshot=[picture])
    assert done.calls[-1] == ("take_screenshot", {"format": "png"})
    contents = [message.content for message in done.requests[0].messages]
    assert "typed it" in contents[-1]
    assert any(not isinstance(part, str) for content in contents for part in content)


def test_a_screenshot_that_fails_is_left_out(tmp_path: Path) -> None:
    data = workflow([typing("a", checks=[check("A")])])
    done = run(tmp_path, data, says(A="pass"), take_screenshot=[{"error": "no screen"}])
    assert (done.error, len(done.requests)) == (None, 1)


BROKEN: Any = {"press_key": [{"error": "it is broken"}]}


def judged_after_failure(folder: Path, data: dict[str, Any], *answers: Any) -> Any:
    done = run(folder, data, *answers, **BROKEN)
    assert done.error is not None
    ((node, message),) = [(one.node, one.message) for one in done.error.failures]
    assert node == "end"
    assert re.match(r"DF4418 (l\[0\]/)?b/call: .*ToolFailed: DF2214 .*: it is broken$", message)
    return done.error.result.outputs["checks"]


def test_checks_in_a_loop_that_fails_are_judged_too(tmp_path: Path) -> None:
    nodes = [*loop("l", never, 2), typing("a", checks=[check("A")]), press("b"), typing("c")]
    data = workflow(nodes, "l a LoopBody", "a b", "b l_end", "l_end l", "l c LoopDone")
    (verdict,) = judged_after_failure(tmp_path, data, says(A="pass"))
    assert verdict["node_name"] == "a"


def test_a_node_is_judged_by_its_last_pass(tmp_path: Path) -> None:
    nodes = [*loop("l", never, 2), typing("a", checks=[check("A")])]
    data = workflow(nodes, "l a LoopBody", "a l_end")
    done = run(tmp_path, data, says(A="pass"), type_text=["first", "second"])
    assert "second" in str(done.requests[0].messages[-1].content)
