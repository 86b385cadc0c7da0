"""Workflows and the native documents that they become; the first is the example of the system's own document.

`python -m tests.formats.agentron.test_golden` writes the documents anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, Result
from dataflow.formats.native_dump import dump_yaml
from dataflow_agent import ModelRequest, scripted
from tests.formats.agentron.walking import MODEL, steps

FOLDER: Final = Path(__file__).parents[2] / "golden" / "formats" / "agentron"
#: The file of each document, and the branch that it is of.
DOCUMENTS: Final = {
    "turns": ("turns.json", ""),
    "review": ("review.json", ""),
    "review.nightly": ("review.json", "nightly"),
    "entries": ("entries.json", ""),
}
EACH: Final = pytest.mark.parametrize("name", DOCUMENTS)


def loaded(name: str) -> Flow:
    file, branch = DOCUMENTS[name]
    return Flow.load(FOLDER / file, **{"model": MODEL, **({"branch": branch} if branch else {})})


def converted(name: str) -> Path:
    return FOLDER / f"{name}.native.yaml"


def numbered(request: ModelRequest) -> str:
    """Answer by the length of what was told, so that runs that are told the same give the same."""
    return f"{request.model} was told {sum(len(str(message.content)) for message in request.messages)}"


def run(flow: Flow) -> Result:
    with scripted(numbered):
        return flow.run_sync(inputs={"mood": "glad"})


@EACH
def test_a_workflow_becomes_its_document(name: str) -> None:
    assert dump_yaml(loaded(name).wiring) == converted(name).read_text(encoding="utf-8")


@EACH
def test_the_document_loads_as_the_same_flow(name: str) -> None:
    assert Flow.load(converted(name)).to_dict() == loaded(name).to_dict()


@pytest.mark.parametrize("name", ["turns", "review.nightly", "entries"])
def test_the_document_runs_as_the_workflow_does(name: str) -> None:
    original, document = run(loaded(name)), run(Flow.load(converted(name)))
    assert steps(document) == steps(original)
    assert dict(document.outputs) == dict(original.outputs)


def test_the_example_of_the_document_takes_turns_for_ten_rounds() -> None:
    found = steps(run(loaded("turns")))
    assert [step["node"] for step in found] == ["a1", "a2"] * 10
    assert [step["agent"] for step in found[:2]] == ["<agent-1-id>", "<agent-2-id>"]


if __name__ == "__main__":
    for each in DOCUMENTS:
        converted(each).write_text(dump_yaml(loaded(each).wiring), encoding="utf-8")
    sys.exit()
