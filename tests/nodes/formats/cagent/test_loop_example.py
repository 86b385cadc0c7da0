"""The loop of the document that describes workflows of cagent, run by the command as its text says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from dataflow.cli import main
from dataflow.core.wiring import node_of_path
from tests.nodes.formats.cagent.test_golden import GOLDEN

#: What the agents answer, one after the other: the first translation is not approved.
ANSWERS: Final = """\
- {text: A draft.}
- {text: Ein Entwurv.}
- {text: '{"is_approved": false}'}
- {text: Ein Entwurf.}
- {text: '{"is_approved": true}'}
- {text: Published.}
"""
#: How the paths end of what a step does that is seen from outside.
ENDS: Final = ("/agent", "/qa_check", "/back_to_trans")
TURNS: Final = ["gen", "trans", "qa", "qa_check", "back_to_trans", "trans", "qa", "qa_check", "publisher"]


def test_a_translation_that_is_not_approved_is_made_again_before_it_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answers.yaml").write_text(ANSWERS, encoding="utf-8")
    monkeypatch.setenv("DATAFLOW_SCRIPTED", str(tmp_path / "answers.yaml"))
    assert main(["run", "--no-store", "--events", str(GOLDEN / "loop.yaml"), "About the sea"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    started = [event["path"] for event in events if event.get("kind") == "node_started"]
    steps = [path.removesuffix("/agent") for path in started if path.endswith(ENDS)]
    assert [node_of_path(path) for path in steps] == TURNS
    assert events[-1]["outputs"]["output"] == "Published."
    assert events[-1]["outputs"]["steps"]["trans"] == {"output": "Ein Entwurf.", "agent": "translator"}
