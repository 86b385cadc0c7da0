"""Checks of nodes: a model judges them after the walk (row CW20)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataflow_agent import ScriptedAnswer
from tests.formats.clickweave.workflows import run, typing, workflow

pytestmark = pytest.mark.timeout(60)


def check(name: str, on_fail: str = "FailNode") -> dict[str, Any]:
    return {"name": name, "check_type": "TextPresent", "params": {"text": "OK"}, "on_fail": on_fail}


def says(**verdicts: str) -> str:
    told = [{"name": name, "verdict": verdict, "reasoning": "seen"} for name, verdict in verdicts.items()]
    return json.dumps({"checks": told})


def verdicts(folder: Path, nodes: list[dict[str, Any]], *answers: Any) -> list[list[str]]:
    done = run(folder, workflow(nodes), *answers)
    return [[result["verdict"] for result in one["check_results"]] for one in done.outputs["checks"]]


@pytest.mark.parametrize(
    ("on_fail", "answer", "verdict"),
    [
        ("FailNode", says(A="pass"), "Pass"),
        ("FailNode", says(A="fail"), "Fail"),
        ("WarnOnly", says(A="fail"), "Warn"),
        ("WarnOnly", says(A="perhaps"), "Fail"),
        ("WarnOnly", says(), "Fail"),
        ("WarnOnly", says(**{" a ": "PASS"}), "Pass"),
        ("WarnOnly", "no idea", "Fail"),
        ("WarnOnly", ScriptedAnswer(error="model_unavailable"), "Fail"),
    ],
)
def test_a_check_has_the_verdict_of_the_model(
    on_fail: str, answer: Any, verdict: str, tmp_path: Path
) -> None:
    assert verdicts(tmp_path, [typing("a", checks=[check("A", on_fail)])], answer) == [[verdict]]


def test_nodes_behind_the_first_failure_are_not_judged(tmp_path: Path) -> None:
    nodes = [typing(id, checks=[check("A")]) for id in "abc"]
    assert verdicts(tmp_path, nodes, says(A="pass"), says(A="fail")) == [["Pass"], ["Fail"]]


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


def test_a_workflow_without_checks_asks_nobody(tmp_path: Path) -> None:
    done = run(tmp_path, workflow([typing("a")]))
    assert (done.requests, "checks" in done.outputs) == ([], False)
