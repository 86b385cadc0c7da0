"""The examples of the document of cagent, what they convert to, and real files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid
from dataflow_agent import ModelRequest, scripted
from tests.nodes.formats.cagent.workflows import outputs_in

ROOT: Final = Path(__file__).parents[4]
GOLDEN: Final = ROOT / "tests" / "golden" / "formats" / "cagent"
#: Files of others, where they lie beside the project.
REAL: Final = ROOT.parent / "shared" / "files" / "cagent"

APPROVED: Final = {"is_approved": True}
REFUSED: Final = {"is_approved": False}
#: What the agents of each example answer, by how their instructions begin, and what the steps give.
RUNS: Final[dict[str, tuple[dict[str, list[Any]], Mapping[str, str]]]] = {
    "sequential": (
        {"Write": ["G"], "Translate": ["T"], "Make": ["P"]},
        {"generator": "G", "translator": "T", "publisher": "P"},
    ),
    "loop": (
        {"Write": ["G"], "Translate": ["T1", "T2"], "Check": [REFUSED, APPROVED], "Make": ["P"]},
        {"gen": "G", "trans": "T2", "qa": '{"is_approved": true}', "publisher": "P"},
    ),
    "parallel": (
        {"Write": ["G", "G"], "Translate": ["T"]},
        {"par_gen/gen_1": "G", "par_gen/gen_2": "G", "translator": "T"},
    ),
    "nested": (
        {"Write": ["G"], "Find": ["R"], "Sum": ["S"], "Make": ["P"]},
        {
            "outer/generator": "G",
            "outer/inner/researcher": "R",
            "outer/inner/summarizer": "S",
            "publisher": "P",
        },
    ),
}


async def test_an_example_runs_as_the_document_says() -> None:
    """The loop translates and checks, translates again as it is not approved, then publishes."""
    for name, (answers, expected) in RUNS.items():
        left = {begin: iter(given) for begin, given in answers.items()}

        def answer(request: ModelRequest, left: dict[str, Iterator[Any]] = left) -> Any:
            return next(left[request.messages[0].content.split()[0]])

        with scripted(answer):
            result = await Flow.load(GOLDEN / f"{name}.yaml").run(prompt="P")
        assert outputs_in(result["steps"]) == expected
        assert result["output"] == [*expected.values()][-1]


@pytest.mark.skipif(not REAL.is_dir(), reason="the files of others are no part of the project")
def test_real_files_load_but_for_those_of_the_older_form() -> None:
    for path in sorted(REAL.glob("pr1801-workflow_*.yaml")):
        flow = Flow.load(path)
        assert flow.check() == []
        assert [remark.original.partition(",")[0] for remark in flow.report] == [
            "steps without an id can share one"
        ]
    for path in sorted(REAL.glob("pr472-*.yaml")):
        with pytest.raises(FlowInvalid, match="DF4302"):
            Flow.load(path)
