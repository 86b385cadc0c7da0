#!/usr/bin/env bash
# The commands of own-format.md, made from that page by `python -m tests.docs.scripts`. It compares what they print
# with what the page shows.
set -euo pipefail

printed=$(mktemp)
trap 'rm -f "$printed"' EXIT

# Durations differ from run to run.
timeless() {
    sed -E 's/[0-9]+([.][0-9]+)? s$/N s/' "$@"
}

page_shows() {
    diff -u --label "what the page shows" --label "what was printed" <(timeless) <(timeless "$printed")
}

cat >tea.yaml <<'END OF FILE'
recipe: tea
steps:
  - {id: guest, write: "Ada"}
  - {id: offer, write: "Tea, {{ guest }}?", uses: [guest]}
  - {id: reply, write: "{{ offer }} Yes, please.", uses: [offer]}
END OF FILE

mkdir -p recipes
cat >recipes/recipes_format.py <<'END OF FILE'
"""Recipes: texts that are written with the texts before them."""

from typing import Any

from dataflow.authoring import (
    Format,
    FormatOptions,
    JsonDict,
    Notes,
    PartReader,
    describe_value,
    foreign,
    unique_ids,
    write_edge,
    write_source,
)


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a recipe."""
    return isinstance(data, dict) and "recipe" in data


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a recipe into a native document; its output is the text of the last step."""
    if not isinstance(data, dict):
        found = describe_value(data)
        notes.problem((), foreign.FOREIGN_FILE_INVALID(system="recipes", expected="a mapping", found=found))
        return {}
    file = PartReader(notes, data)
    file.check_keys(("recipe", "steps"))
    steps = file.entries("steps", "step", needed=True)
    ids = unique_ids(steps)
    nodes: JsonDict = {}
    edges: list[JsonDict] = []
    for step in steps:
        step.check_keys(("id", "write", "uses"))
        if step.missing("id") or step.missing("write"):
            continue
        id = step.string("id")
        nodes[id] = {"type": "control.template", "config": {"template": step.string("write")}}
        notes.origin(id, step.path)
        for number, used in enumerate(step.items("uses")):
            if used in ids:
                notes.edge_origin(len(edges), (*step.path, "uses", number))
                edges.append(write_edge(used, "out", id, used))
            else:
                unknown = foreign.FOREIGN_CHOICE_UNKNOWN(
                    key="step", value=used, available=ids, near=str(used)
                )
                step.problem(unknown, "uses", number)
    return {
        "dataflow": 1,
        "name": file.string("recipe"),
        "nodes": nodes,
        "edges": edges,
        "outputs": {"text": write_source(id) for id in [*nodes][-1:]},
    }


FORMAT = Format("recipe", recognises, translate)
END OF FILE

mkdir -p recipes
cat >recipes/pyproject.toml <<'END OF FILE'
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "recipes-format"
version = "1.0"
dependencies = ["dataflow-engine"]

[project.entry-points."dataflow.formats"]
recipe = "recipes_format:FORMAT"

[tool.hatch.build.targets.wheel]
only-include = ["recipes_format.py"]
END OF FILE

{
pip install --quiet ./recipes
dataflow run tea.yaml
} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
done       guest  0.00 s
done       offer  0.00 s
done       reply  0.00 s
text: Tea, Ada? Yes, please.
completed in 0.00 s
END OF OUTPUT

mkdir -p recipes
cat >recipes/test_recipes.py <<'END OF FILE'
from pathlib import Path

import pytest

from dataflow import Flow, FlowInvalid

RECIPE = """\
recipe: tea
steps:
  - {id: offer, write: "Tea?"}
  - {id: reply, write: "{{ offer }} Yes.", uses: [WORD]}
"""


def test_a_step_is_written_with_the_one_it_uses(tmp_path: Path) -> None:
    file = tmp_path / "tea.yaml"
    file.write_text(RECIPE.replace("WORD", "offer"))
    assert Flow.load(file).run_sync()["text"] == "Tea? Yes."


def test_a_step_that_is_missing_is_reported_with_its_location(tmp_path: Path) -> None:
    file = tmp_path / "tea.yaml"
    file.write_text(RECIPE.replace("WORD", "ofer"))
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(file)
    (problem,) = raised.value.diagnostics
    assert (problem.code, problem.available) == ("DF4005", ("offer", "reply"))
    assert problem.place == "steps[1].uses[0]: step 'reply'"
    assert (problem.location.line, problem.location.column) == (4, 51)
END OF FILE

pip install --quiet pytest
python -m pytest -q ./recipes
