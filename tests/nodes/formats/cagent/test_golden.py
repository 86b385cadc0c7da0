"""The examples of the document of cagent, what they convert to, and real files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid
from dataflow_agent import scripted
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
CONVERTED: Final = ["sequential", "loop", "parallel", "nested"]


@pytest.mark.parametrize("ending", ["yaml", "native.yaml"])
@pytest.mark.parametrize("name", CONVERTED)
async def test_an_example_runs_as_the_document_says(name: str, ending: str) -> None:
    """The loop translates and checks, translates again as it is not approved, then publishes."""
    answers, expected = RUNS[name]
    left = {begin: iter(given) for begin, given in answers.items()}
    with scripted(lambda request: next(left[request.messages[0].content.split()[0]])):
        result = await Flow.load(GOLDEN / f"{name}.{ending}").run(prompt="P")
    assert outputs_in(result["steps"]) == expected
    assert result["output"] == [*expected.values()][-1]


@pytest.mark.parametrize("name", ["pr1801-workflow_parallel", "pr1801-workflow_sequential"])
def test_a_real_file_loads(name: str) -> None:
    flow = Flow.load(real(name))
    assert flow.check() == []
    assert [remark.original.partition(",")[0] for remark in flow.report] == [
        "steps without an id can share one"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "pr472-joke_workflow",
        "pr472-parallel_sorting_workflow",
        "pr472-parallel_translation_workflow",
        "pr472-product_description_workflow",
        "pr472-story_workflow",
    ],
)
def test_a_real_file_of_the_older_form_is_refused(name: str) -> None:
    with pytest.raises(FlowInvalid, match="the older form of workflows"):
        Flow.load(real(name))


def real(name: str) -> Path:
    path = REAL / f"{name}.yaml"
    if not path.is_file():
        pytest.skip("the files of others are no part of the project")
    return path
