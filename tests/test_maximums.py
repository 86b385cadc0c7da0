"""Maximum sizes are the defaults of the page, and the environment of a process changes them."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dataflow.authoring import maximum
from dataflow.diagnostics.catalogue import by_code
from dataflow.errors import ArgumentInvalid
from dataflow.maximums import PREFIX
from dataflow.packs.registry import installed_diagnostics
from tests.docs.pages import DOCS
from tests.support.codes import codes
from tests.support.source import PACKAGES, modules_of

PAGE = (DOCS / "reference" / "maximums.md").read_text(encoding="utf-8")
ROW = re.compile(rf"^\| `{PREFIX}(\w+)` \| ([\d,]+) \| .* \| `(\w+)` \|$", re.MULTILINE)


def test_the_page_lists_every_maximum_with_its_default() -> None:
    written = {
        node.args[0].value: ast.literal_eval(node.args[1])
        for package in PACKAGES
        for module in modules_of(package)
        for node in ast.walk(module.tree())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "maximum"
        if isinstance(node.args[0], ast.Constant)
    }
    rows = {name: (int(default.replace(",", "")), code) for name, default, code in ROW.findall(PAGE)}
    assert {name: default for name, (default, _) in rows.items()} == written
    kinds = by_code(*installed_diagnostics().values())
    told = {name: f"{kinds[code].hint} {kinds[code].cure}" for name, (_, code) in rows.items()}
    assert {name for name, text in told.items() if f"{PREFIX}{name}" not in text} == {
        "PATTERN_CHARACTERS",  # in the reason that the message gives
        "MATCHED_CHARACTERS",  # any value that does not fit
    }


@pytest.mark.parametrize("written", ["0", "-1", "", "1k", "1.5", "9" * 19, "٣"])
def test_a_maximum_is_a_positive_integer(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}THINGS", written)
    with pytest.raises(ArgumentInvalid) as caught:
        maximum("THINGS", 3)
    assert codes(caught.value) == ["DF0501"]
    monkeypatch.setenv(f"{PREFIX}THINGS", " 1_000 ")
    assert maximum("THINGS", 3) == 1_000
    monkeypatch.delenv(f"{PREFIX}THINGS")
    assert maximum("THINGS", 3) == 3


def test_the_environment_allows_deeper_flows_and_less_of_other_things(tmp_path: Path) -> None:
    node = {"type": "control.value", "config": {"value": 1}}
    document: dict[str, object] = {"dataflow": 1, "nodes": {"v": node}, "outputs": {"o": "v"}}
    for _ in range(120):
        document = {"dataflow": 1, "nodes": {"n": {"flow": document}}, "outputs": {"o": "n.o"}}
    (tmp_path / "deep.json").write_text(json.dumps(document))
    (tmp_path / "small.yaml").write_text(
        "dataflow: 1\ninputs: {x: {type: {type: string, pattern: abc}}}\n"
        "nodes: {t: {type: control.template, config: {template: '{{ x }}'}, inputs: {x: $in.x}}}\n"
        "outputs: {o: t}\n"
    )

    def found(file: str, **maximums: int) -> list[str]:
        environment = os.environ | {f"{PREFIX}{name}": str(value) for name, value in maximums.items()}
        command = [sys.executable, "-m", "dataflow", "check", file, "--json"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        return [problem["code"] for problem in json.loads(done.stdout)["problems"]]

    assert found("deep.json", DOCUMENT_LEVELS=1_000) == ["DF0207"]
    assert found("deep.json", DOCUMENT_LEVELS=1_000, NESTED_FLOWS=121) == []
    assert found("small.yaml") == []
    assert found("small.yaml", PATTERN_CHARACTERS=2) == ["DF0482"]
    assert found("small.yaml", EXPRESSION_CHARACTERS=2) == ["DF0703"]
    assert found("small.yaml", DOCUMENT_BYTES=9) == ["DF0103"]
