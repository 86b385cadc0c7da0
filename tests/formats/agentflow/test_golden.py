"""Workflows and the native documents that they become.

`python -m tests.formats.agentflow.test_golden` writes the documents anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, Store
from dataflow.formats.native_dump import dump_yaml
from dataflow_agent import scripted
from tests.formats.agentflow.flowing import repeated

FOLDER: Final = Path(__file__).parents[2] / "golden" / "formats" / "agentflow"
#: The file of each document, and how arrivals are joined.
DOCUMENTS: Final = {
    "publish": ("publish.json", "each"),
    "meeting": ("meeting.json", "each"),
    "meeting.once": ("meeting.json", "once"),
    "older": ("older.json", "each"),
}
EACH: Final = pytest.mark.parametrize("name", DOCUMENTS)


def loaded(name: str) -> Flow:
    file, joins = DOCUMENTS[name]
    return Flow.load(FOLDER / file, joins=joins)


def converted(name: str) -> Path:
    return FOLDER / f"{name}.native.yaml"


async def run(flow: Flow) -> list[tuple[str, dict[str, Any]]]:
    """Run a flow, reject once and then approve what is asked; tell what each sitting came to."""
    stored = flow.using(store=Store.memory())
    with scripted(repeated):
        results = [await stored.run()]
        for answer in ("reject", "approve"):
            if results[-1].status != "paused":
                break
            (ask,) = results[-1].asks
            results.append(await stored.resume(results[-1].run_id, {ask.id: answer}))
    return [(result.status, dict(result.outputs)) for result in results]


@EACH
def test_a_workflow_becomes_its_document(name: str) -> None:
    assert dump_yaml(loaded(name).wiring) == converted(name).read_text(encoding="utf-8")


@EACH
def test_the_document_loads_as_the_same_flow(name: str) -> None:
    assert Flow.load(converted(name)).to_dict() == loaded(name).to_dict()


@pytest.mark.anyio
@EACH
async def test_the_document_runs_as_the_workflow_does(name: str) -> None:
    assert await run(Flow.load(converted(name))) == await run(loaded(name))


@pytest.mark.anyio
async def test_the_example_goes_round_until_it_is_approved() -> None:
    *_, (status, outputs) = await run(loaded("publish"))
    improved = "R[Improve: R[Improve: draft]]"
    assert (status, outputs) == ("completed", {"s": "draft", "w": improved, "z": f"R[Publish {improved}]"})


if __name__ == "__main__":
    for each in DOCUMENTS:
        converted(each).write_text(dump_yaml(loaded(each).wiring), encoding="utf-8")
    sys.exit()
